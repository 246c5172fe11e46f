//! Lets libFuzzer look for bytes that break the check `uhp_command`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("uhp_command", bytes));
