//! Lets libFuzzer look for bytes that break the check `endgame_table`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("endgame_table", bytes));
