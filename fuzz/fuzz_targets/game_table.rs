//! Lets libFuzzer look for bytes that break the check `game_table`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("game_table", bytes));
