//! Lets libFuzzer look for bytes that break the check `lease`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("lease", bytes));
