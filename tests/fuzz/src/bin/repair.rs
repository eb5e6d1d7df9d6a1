//! What models get wrong in their calls.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| turn::fuzz::repair(data));
