//! Lets libFuzzer look for bytes that break the check `packed_tictactoe`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("packed_tictactoe", bytes));
