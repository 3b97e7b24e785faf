//! ion-rs as one of the readers that are compared: see worker.py for the protocol, canonical.py for the text.

use std::fmt::Write as _;
use std::io::{self, BufRead, Write};
use std::panic::{catch_unwind, AssertUnwindSafe};

use ion_rs::decimal::Sign;
use ion_rs::{Decimal, Element, Int, IonType, Symbol, Timestamp, UInt, Value};

const STACK: usize = 1 << 30;

fn escaped(out: &mut String, text: &str) {
    for byte in text.bytes() {
        if (0x20..0x7f).contains(&byte) && !b"\"'%\\".contains(&byte) {
            out.push(byte as char);
        } else {
            write!(out, "%{byte:02x}").unwrap();
        }
    }
}

fn symbol(out: &mut String, symbol: &Symbol) {
    match symbol.text() {
        None => out.push_str("$0"),
        Some(text) => {
            out.push('\'');
            escaped(out, text);
            out.push('\'');
        }
    }
}

fn magnitude(out: &mut String, number: &UInt) {
    let mut digits = String::new();
    for byte in number.to_le_bytes().iter().rev() {
        write!(digits, "{byte:02x}").unwrap();
    }
    let digits = digits.trim_start_matches('0');
    out.push_str(if digits.is_empty() { "0" } else { digits });
}

fn integer(out: &mut String, number: &Int) {
    out.push('i');
    if number.is_negative() {
        out.push('-');
    }
    magnitude(out, &number.unsigned_abs());
}

fn decimal(out: &mut String, number: &Decimal) {
    let coefficient = number.coefficient();
    out.push('d');
    if coefficient.sign() == Sign::Negative {
        out.push('-');
    }
    magnitude(out, &coefficient.magnitude());
    write!(out, "^{}", number.exponent()).unwrap();
}

fn float(out: &mut String, number: f64) {
    if number.is_nan() {
        out.push_str("fnan");
    } else {
        write!(out, "f{:016x}", number.to_bits()).unwrap();
    }
}

fn timestamp(out: &mut String, moment: &Timestamp) {
    let text = moment.to_string();
    out.push('t');
    if let Some(utc) = text.strip_suffix('Z') {
        out.push_str(utc);
        out.push_str("+00:00");
    } else {
        out.push_str(text.strip_suffix('T').unwrap_or(&text));
    }
}

fn lob(out: &mut String, kind: char, bytes: &[u8]) {
    out.push(kind);
    for byte in bytes {
        write!(out, "{byte:02x}").unwrap();
    }
}

fn sequence<'a>(out: &mut String, marks: [char; 2], items: impl Iterator<Item = &'a Element>) {
    out.push(marks[0]);
    for (i, item) in items.enumerate() {
        if i != 0 {
            out.push(',');
        }
        element(out, item);
    }
    out.push(marks[1]);
}

fn null(ion_type: IonType) -> &'static str {
    match ion_type {
        IonType::Null => "null.null",
        IonType::Bool => "null.bool",
        IonType::Int => "null.int",
        IonType::Float => "null.float",
        IonType::Decimal => "null.decimal",
        IonType::Timestamp => "null.timestamp",
        IonType::Symbol => "null.symbol",
        IonType::String => "null.string",
        IonType::Clob => "null.clob",
        IonType::Blob => "null.blob",
        IonType::List => "null.list",
        IonType::SExp => "null.sexp",
        IonType::Struct => "null.struct",
    }
}

fn element(out: &mut String, element_: &Element) {
    for annotation in element_.annotations().iter() {
        symbol(out, annotation);
        out.push_str("::");
    }
    match element_.value() {
        Value::Null(ion_type) => out.push_str(null(*ion_type)),
        Value::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Value::Int(number) => integer(out, number),
        Value::Float(number) => float(out, *number),
        Value::Decimal(number) => decimal(out, number),
        Value::Timestamp(moment) => timestamp(out, moment),
        Value::Symbol(name) => {
            out.push('y');
            symbol(out, name);
        }
        Value::String(text) => {
            out.push_str("s\"");
            escaped(out, text.text());
            out.push('"');
        }
        Value::Clob(bytes) => lob(out, 'c', bytes.as_ref()),
        Value::Blob(bytes) => lob(out, 'b', bytes.as_ref()),
        Value::List(items) => sequence(out, ['[', ']'], items.iter()),
        Value::SExp(items) => sequence(out, ['(', ')'], items.iter()),
        Value::Struct(fields) => {
            let mut written: Vec<String> = Vec::new();
            for (name, value) in fields.fields() {
                let mut field = String::new();
                symbol(&mut field, name);
                field.push(':');
                element(&mut field, value);
                written.push(field);
            }
            written.sort();
            out.push('{');
            out.push_str(&written.join(","));
            out.push('}');
        }
    }
}

fn read(document: &[u8]) -> (u8, String) {
    let result = catch_unwind(AssertUnwindSafe(|| match Element::read_all(document) {
        Err(error) => (b'-', error.to_string()),
        Ok(values) => {
            let mut out = String::new();
            for (i, value) in values.iter().enumerate() {
                if i != 0 {
                    out.push('\n');
                }
                element(&mut out, value);
            }
            (b'+', out)
        }
    }));
    result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        (b'!', format!("panic: {}", text.unwrap_or("")))
    })
}

fn serve() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let batch = std::fs::read(line?)?;
        let mut at = 0;
        while at < batch.len() {
            let len = u32::from_le_bytes(batch[at..at + 4].try_into().unwrap()) as usize;
            let (sign, text) = read(&batch[at + 4..at + 4 + len]);
            at += 4 + len;
            let mut answer = vec![sign];
            answer.extend_from_slice(&(text.len() as u32).to_le_bytes());
            answer.extend_from_slice(text.as_bytes());
            let mut out = io::stdout().lock();
            out.write_all(&answer)?;
            out.flush()?;
        }
    }
    Ok(())
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
    // Deep documents recurse deeply, in the library and here.
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(serve).unwrap();
    worker.join().unwrap().unwrap();
}
