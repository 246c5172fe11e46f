//! Lets libFuzzer look for bytes that break the check `backup_url`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("backup_url", bytes));
