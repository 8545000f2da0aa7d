// Installs missing programs that the builds need, from package registries only. It imports only Node's own modules, because it runs before
// packages are installed.
import { existsSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { homedir } from "node:os";
import { canRun, Remedy, root, run, step } from "./console.mjs";
import { WASM_TARGET } from "./wasm.mjs";

/** Installs all that a build needs; quick when it is present. */
export async function ensureToolchain() {
  ensureNode();
  await ensureRust();
  await ensureNodeModules();
}

function ensureNode() {
  const [major] = process.versions.node.split(".").map(Number);
  if (major < 20) {
    throw new Remedy(`Node ${process.versions.node} is too old: install Node 20 or newer, from https://nodejs.org`);
  }
}

/** Checks for Cargo and a C compiler, and installs the pinned toolchain. */
export async function ensureRust() {
  // A shell that was open when rustup was installed does not know its folder yet.
  const cargoBin = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "bin");
  if (existsSync(cargoBin) && !process.env.PATH.split(delimiter).includes(cargoBin)) {
    process.env.PATH = `${cargoBin}${delimiter}${process.env.PATH}`;
  }
  if (!(await canRun("cargo"))) {
    throw new Remedy("`cargo` was not found: install Rust with rustup, from https://rustup.rs");
  }
  if (!(await canRun("cc"))) {
    throw new Remedy("no C compiler was found as `cc`: install one (Debian: `apt-get install build-essential`; macOS: `xcode-select --install`)");
  }
  // The first call in this folder makes rustup install the toolchain that rust-toolchain.toml pins.
  const sysroot = (await run("rustc", ["--print", "sysroot"])).trim();
  if (!existsSync(join(sysroot, "lib/rustlib", WASM_TARGET))) {
    if (!(await canRun("rustup"))) {
      throw new Remedy(`the Rust target ${WASM_TARGET} is missing and \`rustup\` was not found: install it with rustup, from https://rustup.rs`);
    }
    await step(`installing the Rust target ${WASM_TARGET}`, () => run("rustup", ["target", "add", WASM_TARGET], { stdio: "inherit" }));
  }
}

async function ensureNodeModules() {
  const lockfile = join(root, "package-lock.json");
  const installed = join(root, "node_modules/.package-lock.json");
  const needed = ["binaryen", "esbuild", "workerd", "wrangler"].every((name) => existsSync(join(root, "node_modules", name, "package.json")));
  const fresh = needed && existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockfile).mtimeMs;
  const install = () => run("npm", ["ci", "--no-audit", "--no-fund"], { stdio: "inherit" });
  if (!fresh) await step("installing the npm packages of package-lock.json", install);
}
