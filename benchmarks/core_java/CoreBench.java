import com.amazon.ion.IntegerSize;
import com.amazon.ion.IonReader;
import com.amazon.ion.IonType;
import com.amazon.ion.system.IonReaderBuilder;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Locale;

/** ion-java's streaming reader beside the C core: the same traversal. core.py has the protocol. */
public final class CoreBench {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final IonReaderBuilder BUILDER = IonReaderBuilder.standard();
    private static long kept; // keeps the work honest

    private static long integer(IonReader reader) {
        IntegerSize size = reader.getIntegerSize();
        if (size == IntegerSize.BIG_INTEGER) {
            return reader.bigIntegerValue().bitLength();
        }
        return size == IntegerSize.LONG ? reader.longValue() : reader.intValue();
    }

    /** Something of each scalar, so that none is skipped. */
    private static long scalar(IonReader reader, IonType type) {
        switch (type) {
            case BOOL: return reader.booleanValue() ? 1 : 0;
            case INT: return integer(reader);
            case FLOAT: return Double.doubleToRawLongBits(reader.doubleValue());
            case DECIMAL: return reader.decimalValue().scale();
            case TIMESTAMP: return reader.timestampValue().getYear();
            case STRING: return reader.stringValue().length();
            case SYMBOL: return reader.stringValue().length();
            case CLOB:
            case BLOB: return reader.newBytes().length;
            default: return 1;
        }
    }

    private static long traverse(IonReader reader) {
        long sum = 0;
        for (IonType type = reader.next(); type != null; type = reader.next()) {
            if (reader.isNullValue()) {
                sum++;
            } else if (IonType.isContainer(type)) {
                reader.stepIn();
                sum += traverse(reader);
                reader.stepOut();
            } else {
                sum += scalar(reader, type);
            }
        }
        return sum;
    }

    private static long read(byte[] data) throws IOException {
        try (IonReader reader = BUILDER.build(data)) {
            return traverse(reader);
        }
    }

    public static void main(String[] arguments) throws IOException {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", 2);
            byte[] data = Files.readAllBytes(Paths.get(words[1]));
            StringBuilder times = new StringBuilder();
            for (int i = Integer.parseInt(words[0]); i > 0; i--) {
                long start = THREADS.getCurrentThreadCpuTime();
                kept += read(data);
                double us = (THREADS.getCurrentThreadCpuTime() - start) / 1e3;
                times.append(String.format(Locale.ROOT, "%.1f ", us));
            }
            System.out.println(times.toString().trim());
            System.out.flush();
        }
        if (kept == 42) {
            System.err.println("an answer");
        }
    }
}
