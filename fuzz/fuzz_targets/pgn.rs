//! Lets libFuzzer look for bytes that break the check `pgn`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("pgn", bytes));
