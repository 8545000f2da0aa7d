//! Entry point of the fuzzer for `fuzz/targets/logic.rs`.
#![no_main]

#[path = "../targets/logic.rs"]
mod logic;

libfuzzer_sys::fuzz_target!(|text: &str| logic::run(text));
