//! ion-rs beside the C core: the same traversal, with the lazy reader. core.py has the protocol.

use std::hint::black_box;
use std::io::{self, BufRead, Write};

use ion_rs::{AnyEncoding, Decoder, IonResult, LazyValue, Reader, ValueRef};

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

const THREAD_CPU_TIME: i32 = 3; // CLOCK_THREAD_CPUTIME_ID of Linux

fn now_us() -> f64 {
    let mut time = Timespec { seconds: 0, nanoseconds: 0 };
    // SAFETY: the struct is what a 64-bit Linux expects.
    unsafe { clock_gettime(THREAD_CPU_TIME, &mut time) };
    time.seconds as f64 * 1e6 + time.nanoseconds as f64 / 1e3
}

/// Something of each scalar, so that none is skipped.
fn traverse<D: Decoder>(value: &LazyValue<'_, D>) -> IonResult<u64> {
    Ok(match value.read()? {
        ValueRef::List(items) => {
            let mut sum = 0u64;
            for item in items.iter() {
                sum = sum.wrapping_add(traverse(&item?)?);
            }
            sum
        }
        ValueRef::SExp(items) => {
            let mut sum = 0u64;
            for item in items.iter() {
                sum = sum.wrapping_add(traverse(&item?)?);
            }
            sum
        }
        ValueRef::Struct(fields) => {
            let mut sum = 0u64;
            for field in fields.iter() {
                sum = sum.wrapping_add(traverse(&field?.value())?);
            }
            sum
        }
        ValueRef::Int(number) => number.as_i64().unwrap_or(0) as u64,
        ValueRef::Float(number) => number.to_bits(),
        ValueRef::Decimal(number) => number.exponent() as u64,
        ValueRef::Timestamp(moment) => moment.year() as u64,
        ValueRef::String(text) => text.text().len() as u64,
        ValueRef::Symbol(symbol) => symbol.text().map_or(0, str::len) as u64,
        ValueRef::Blob(bytes) | ValueRef::Clob(bytes) => bytes.data().len() as u64,
        ValueRef::Bool(is_true) => u64::from(is_true),
        ValueRef::Null(_) => 1,
    })
}

fn read(data: &[u8]) -> IonResult<u64> {
    let mut reader = Reader::new(AnyEncoding, data)?;
    let mut sum = 0u64;
    while let Some(value) = reader.next()? {
        sum = sum.wrapping_add(traverse(&value)?);
    }
    Ok(sum)
}

fn main() -> IonResult<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (rounds, path) = line.split_once(' ').expect("a count and a path");
        let data = std::fs::read(path)?;
        let mut times = Vec::new();
        for _ in 0..rounds.parse().expect("a count") {
            let start = now_us();
            black_box(read(&data)?);
            times.push(format!("{:.1}", now_us() - start));
        }
        println!("{}", times.join(" "));
        io::stdout().flush()?;
    }
    Ok(())
}
