//! Config files, and changes of them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| reasonixd::fuzz::config(data));
