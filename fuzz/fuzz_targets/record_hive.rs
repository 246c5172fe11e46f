//! Lets libFuzzer look for bytes that break the check `record_hive`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("record_hive", bytes));
