//! Feeds `packed` from libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| duet_fuzz::packed::run(bytes));
