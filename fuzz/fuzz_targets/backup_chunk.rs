//! Lets libFuzzer look for bytes that break the check `backup_chunk`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("backup_chunk", bytes));
