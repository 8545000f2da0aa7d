//! Entry point of the fuzzer for `fuzz/targets/json.rs`.
#![no_main]

#[path = "../targets/json.rs"]
mod json;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| json::run(bytes));
