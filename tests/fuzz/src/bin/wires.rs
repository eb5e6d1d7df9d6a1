//! Answers of all kinds of providers.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| providers::fuzz::wires(data));
