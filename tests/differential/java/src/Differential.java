import com.amazon.ion.Decimal;
import com.amazon.ion.IonReader;
import com.amazon.ion.IonType;
import com.amazon.ion.SymbolToken;
import com.amazon.ion.Timestamp;
import com.amazon.ion.system.IonReaderBuilder;
import java.io.BufferedOutputStream;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** ion-java as one of the readers that are compared: worker.py has the protocol, canonical.py the text. */
public final class Differential {
    private static final char[] HEX = "0123456789abcdef".toCharArray();
    private static final long STACK = 1L << 30;

    private static void hex(StringBuilder out, byte b) {
        out.append(HEX[(b >> 4) & 15]).append(HEX[b & 15]);
    }

    /** The bytes of text in UTF-8; a lone surrogate, which Ion text cannot hold, as its three bytes. */
    private static void escaped(StringBuilder out, String text) {
        for (int i = 0; i < text.length(); ) {
            int point = text.codePointAt(i);
            i += Character.charCount(point);
            if (point >= 0x20 && point < 0x7f && "\"'%\\".indexOf(point) < 0) {
                out.append((char) point);
            } else if (point >= 0xD800 && point < 0xE000) {
                out.append(String.format("%%%02x%%%02x%%%02x", 0xE0 | point >> 12,
                    0x80 | point >> 6 & 63, 0x80 | point & 63));
            } else {
                for (byte b : new String(Character.toChars(point)).getBytes(StandardCharsets.UTF_8)) {
                    out.append('%');
                    hex(out, b);
                }
            }
        }
    }

    private static void symbol(StringBuilder out, SymbolToken token) {
        if (token.getText() == null) {
            out.append("$0");
        } else {
            out.append('\'');
            escaped(out, token.getText());
            out.append('\'');
        }
    }

    private static void integer(StringBuilder out, BigInteger number) {
        out.append(number.toString(16));
    }

    private static void decimal(StringBuilder out, Decimal number) {
        BigInteger coefficient = number.unscaledValue();
        out.append('d');
        if (number.isNegativeZero()) {
            out.append('-');
        }
        integer(out, coefficient);
        out.append('^').append(-(long) number.scale());
    }

    private static void number(StringBuilder out, char before, int value) {
        out.append(before).append((char) ('0' + value / 10)).append((char) ('0' + value % 10));
    }

    private static void timestamp(StringBuilder out, Timestamp moment) {
        Timestamp.Precision precision = moment.getPrecision();
        out.append('t').append(String.format("%04d", moment.getYear()));
        if (precision.includes(Timestamp.Precision.MONTH)) {
            number(out, '-', moment.getMonth());
        }
        if (precision.includes(Timestamp.Precision.DAY)) {
            number(out, '-', moment.getDay());
        }
        if (precision.includes(Timestamp.Precision.MINUTE)) {
            number(out, 'T', moment.getHour());
            number(out, ':', moment.getMinute());
            if (precision.includes(Timestamp.Precision.SECOND)) {
                second(out, moment);
            }
            offset(out, moment.getLocalOffset());
        }
    }

    private static void second(StringBuilder out, Timestamp moment) {
        BigDecimal second = moment.getDecimalSecond();
        String text = second.toPlainString();
        int point = text.indexOf('.');
        out.append(':').append((point < 0 ? text.length() : point) < 2 ? "0" : "").append(text);
    }

    private static void offset(StringBuilder out, Integer minutes) {
        if (minutes == null) {
            out.append("-00:00");
            return;
        }
        number(out, minutes < 0 ? '-' : '+', Math.abs(minutes) / 60);
        number(out, ':', Math.abs(minutes) % 60);
    }

    private static void lob(StringBuilder out, char kind, byte[] bytes) {
        out.append(kind);
        for (byte b : bytes) {
            hex(out, b);
        }
    }

    private static void scalar(StringBuilder out, IonReader reader, IonType type) {
        switch (type) {
            case BOOL: out.append(reader.booleanValue()); break;
            case INT: out.append('i'); integer(out, reader.bigIntegerValue()); break;
            case FLOAT: {
                double number = reader.doubleValue();
                long bits = Double.doubleToLongBits(number);
                out.append(number != number ? "fnan" : String.format("f%016x", bits));
                break;
            }
            case DECIMAL: decimal(out, reader.decimalValue()); break;
            case TIMESTAMP: timestamp(out, reader.timestampValue()); break;
            case SYMBOL: out.append('y'); symbol(out, reader.symbolValue()); break;
            case STRING: out.append("s\""); escaped(out, reader.stringValue()); out.append('"'); break;
            case CLOB: lob(out, 'c', reader.newBytes()); break;
            case BLOB: lob(out, 'b', reader.newBytes()); break;
            default: throw new IllegalStateException(type.toString());
        }
    }

    private static void value(StringBuilder out, IonReader reader, IonType type) {
        for (SymbolToken annotation : reader.getTypeAnnotationSymbols()) {
            symbol(out, annotation);
            out.append("::");
        }
        if (reader.isNullValue()) {
            out.append("null.").append(type.toString().toLowerCase());
        } else if (type == IonType.STRUCT) {
            struct(out, reader);
        } else if (type == IonType.LIST || type == IonType.SEXP) {
            reader.stepIn();
            out.append(type == IonType.LIST ? '[' : '(');
            values(out, reader, ',');
            out.append(type == IonType.LIST ? ']' : ')');
            reader.stepOut();
        } else {
            scalar(out, reader, type);
        }
    }

    private static void struct(StringBuilder out, IonReader reader) {
        List<String> fields = new ArrayList<>();
        reader.stepIn();
        for (IonType type = reader.next(); type != null; type = reader.next()) {
            StringBuilder field = new StringBuilder();
            symbol(field, reader.getFieldNameSymbol());
            field.append(':');
            value(field, reader, type);
            fields.add(field.toString());
        }
        reader.stepOut();
        Collections.sort(fields);
        out.append('{').append(String.join(",", fields)).append('}');
    }

    private static void values(StringBuilder out, IonReader reader, char between) {
        boolean isFirst = true;
        for (IonType type = reader.next(); type != null; type = reader.next()) {
            if (!isFirst) {
                out.append(between);
            }
            isFirst = false;
            value(out, reader, type);
        }
    }

    private static byte[] answer(byte[] document) {
        char sign = '+';
        StringBuilder out = new StringBuilder();
        try (IonReader reader = IonReaderBuilder.standard().build(document)) {
            values(out, reader, '\n');
        } catch (Exception error) {
            sign = '-';
            out = new StringBuilder(error.getClass().getSimpleName() + ": " + error.getMessage());
        } catch (Error error) {
            sign = '!';
            out = new StringBuilder(error.getClass().getSimpleName() + ": " + error.getMessage());
        }
        byte[] text = out.toString().getBytes(StandardCharsets.UTF_8);
        ByteBuffer message = ByteBuffer.allocate(5 + text.length).order(ByteOrder.LITTLE_ENDIAN);
        return message.put((byte) sign).putInt(text.length).put(text).array();
    }

    private static void serve() throws IOException {
        BufferedReader names = new BufferedReader(new InputStreamReader(System.in));
        OutputStream out = new BufferedOutputStream(System.out, 1 << 16);
        for (String name = names.readLine(); name != null; name = names.readLine()) {
            ByteBuffer batch = ByteBuffer.wrap(Files.readAllBytes(Paths.get(name)));
            batch.order(ByteOrder.LITTLE_ENDIAN);
            while (batch.hasRemaining()) {
                byte[] document = new byte[batch.getInt()];
                batch.get(document);
                out.write(answer(document));
                out.flush();
            }
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread worker = new Thread(null, () -> {
            try {
                serve();
            } catch (IOException error) {
                throw new RuntimeException(error);
            }
        }, "worker", STACK);
        worker.start();
        worker.join();
    }
}
