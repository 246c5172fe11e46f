//! Lets libFuzzer look for bytes that break the check `ply`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("ply", bytes));
