//! Decides how a compiled crate gets its JavaScript: by wasm-bindgen's own library, at the version of Cargo.lock, so that
//! no command-line tool has to be installed beside it. It must not know what the crate does.
//!
//! scrip-bind <crate.wasm> <folder> <name> [--restarts]
//!
//! Writes `<name>.js` and `<name>_bg.wasm`. With `--restarts` an instance that trapped is made anew at the next call, where the
//! crate asks for it; a page has nothing to go on with and does without.

use std::env;

use anyhow::{Result, bail};
use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    let (compiled, folder, name, restarts) = match words.as_slice() {
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
