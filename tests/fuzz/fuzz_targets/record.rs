//! Feeds `record` from libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| duet_fuzz::record::run(bytes));
