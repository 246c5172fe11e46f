//! Lets libFuzzer look for bytes that break the check `book`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("book", bytes));
