//! Feeds `generated` from libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| duet_fuzz::generated::run(bytes));
