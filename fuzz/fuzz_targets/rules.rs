//! Entry point of the fuzzer for `fuzz/targets/rules.rs`.
#![no_main]

#[path = "../targets/rules.rs"]
mod rules;

libfuzzer_sys::fuzz_target!(|text: &str| rules::run(text));
