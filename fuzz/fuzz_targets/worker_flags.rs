//! Lets libFuzzer look for bytes that break the check `worker_flags`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("worker_flags", bytes));
