//! Server-sent events.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| providers::fuzz::sse(data));
