//! Markdown on its way to the screen.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| client_tui::fuzz::markdown(data));
