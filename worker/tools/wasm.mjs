// Turns a library of the workspace into a WebAssembly binary with its JavaScript, by cargo, wasm-bindgen's own library (`wasm-bindgen/`) and
// wasm-opt. The Worker and the package use it. Nothing is downloaded but crates.
import { homedir } from "node:os";
import { join } from "node:path";
import { root, run } from "./console.mjs";

export const WASM_TARGET = "wasm32-unknown-unknown";

const target = join(root, "target");
const registry = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
const environment = {
  // Messages of panics contain the paths of sources: the bytes are the same on every machine.
  CARGO_ENCODED_RUSTFLAGS: [`--remap-path-prefix=${registry}=/cargo`, `--remap-path-prefix=${root}=/scrip`].join("\x1f"),
  // Two builds may report at the same time, line by line.
  CARGO_TERM_PROGRESS_WHEN: "never",
};

const BIND = ["--quiet", "--profile", "tool", "-p", "scrip-bind", "--target-dir", target];

/**
 * Compiles a library by a profile of the workspace; returns the path of its binary. The binding program is compiled at the same time: it
 * would otherwise wait for its turn.
 */
export async function compile(crate, profile, features = []) {
  const chosen = features.length === 0 ? [] : ["--features", features.join()];
  const args = ["build", "--profile", profile, "--lib", "-p", crate, "--target", WASM_TARGET, "--target-dir", target, ...chosen];
  await Promise.all([
    run("cargo", args, { stdio: "inherit", env: environment }),
    run("cargo", ["build", ...BIND]),
  ]);
  return join(target, WASM_TARGET, profile, `${crate.replaceAll("-", "_")}.wasm`);
}

/** Writes `<name>.js` and `<name>_bg.wasm` into a folder. With `restarts` an instance that trapped can be replaced. */
export function bind(compiled, folder, name, { restarts = false } = {}) {
  const argumentList = [compiled, folder, name, ...(restarts ? ["--restarts"] : [])];
  return run("cargo", ["run", ...BIND, "--", ...argumentList]);
}

/** Makes a binary smaller, with the wasm-opt of package-lock.json and its options. */
export function optimise(from, to, ...options) {
  return run(process.execPath, [join(root, "node_modules/binaryen/bin/wasm-opt"), ...options, from, "-o", to]);
}
