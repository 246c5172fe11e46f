//! Lets libFuzzer look for bytes that break the check `policy_target`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("policy_target", bytes));
