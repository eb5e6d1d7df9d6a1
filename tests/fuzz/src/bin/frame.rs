//! Frames of the socket.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| reasonixd::fuzz::frame(data));
