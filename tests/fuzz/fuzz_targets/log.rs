//! Feeds `log` from libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| duet_fuzz::log::run(bytes));
