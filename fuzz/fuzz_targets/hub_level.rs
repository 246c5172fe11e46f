//! Lets libFuzzer look for bytes that break the check `hub_level`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("hub_level", bytes));
