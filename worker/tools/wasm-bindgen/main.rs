//! Generates the JavaScript of a compiled crate with the library of wasm-bindgen, at the version of Cargo.lock. No command-line
//! tool has to be installed.
//!
//! scrip-bind <crate.wasm> <folder> <name> [--restarts]
//!
//! Writes `<name>.js` and `<name>_bg.wasm`. With `--restarts` the next call after a trap creates a new instance, if the crate
//! requests it. A page cannot continue after a trap, so its package is built without this flag.

use std::env;

use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (compiled, folder, name, restarts) = match arguments.as_slice() {
        [compiled, folder, name] => (compiled, folder, name, false),
        [compiled, folder, name, flag] if flag == "--restarts" => (compiled, folder, name, true),
        _ => bail!("usage: scrip-bind <crate.wasm> <folder> <name> [--restarts]"),
    };
    Bindgen::new()
        .web(true)?
        .input_path(compiled)
        .out_name(name)
        .typescript(false)
        .omit_default_module_path(true)
        .remove_producers_section(true)
        .reset_state_function(restarts)
        .force_enable_abort_handler(restarts)
        .generate(folder)
}
