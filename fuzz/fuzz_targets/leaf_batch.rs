//! Lets libFuzzer look for bytes that break the check `leaf_batch`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("leaf_batch", bytes));
