//! Lets libFuzzer look for bytes that break the check `data_set`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("data_set", bytes));
