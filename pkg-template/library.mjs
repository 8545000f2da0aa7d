// Decides whether the source of Rust's library is at hand, so that the package can have one of its own, compiled for size.
// Only Node's own modules are used here: it is asked before anything is installed.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Whether the toolchain of this folder has it: the component `rust-src` of rustup. */
export function hasLibrarySource() {
  const sysroot = execFileSync("rustc", ["--print", "sysroot"], { cwd: root, encoding: "utf8" }).trim();
  return existsSync(join(sysroot, "lib/rustlib/src/rust/library/Cargo.lock"));
}
