//! The fuzzer's way to `fuzz/targets/formula.rs`.
#![no_main]

#[path = "../targets/formula.rs"]
mod formula;

libfuzzer_sys::fuzz_target!(|text: &str| formula::run(text));
