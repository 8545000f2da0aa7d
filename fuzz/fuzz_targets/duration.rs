//! Entry point of the fuzzer for `fuzz/targets/duration.rs`.
#![no_main]

#[path = "../targets/duration.rs"]
mod duration;

libfuzzer_sys::fuzz_target!(|text: &str| duration::run(text));
