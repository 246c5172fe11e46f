//! Lets libFuzzer look for bytes that break the check `join_reply`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("join_reply", bytes));
