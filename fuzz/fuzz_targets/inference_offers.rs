//! Lets libFuzzer look for bytes that break the check `inference_offers`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_checks::check("inference_offers", bytes));
