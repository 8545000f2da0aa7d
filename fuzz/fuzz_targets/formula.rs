//! Entry point of the fuzzer for `fuzz/targets/formula.rs`.
#![no_main]

#[path = "../targets/formula.rs"]
mod formula;

libfuzzer_sys::fuzz_target!(|text: &str| formula::run(text));
