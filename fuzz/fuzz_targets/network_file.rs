//! Lets libFuzzer look for bytes that break the check `network_file`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("network_file", bytes));
