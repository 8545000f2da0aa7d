// Decides which programs the builds need and installs those that are missing, from package registries alone.
// Only Node's own modules are used here: it runs before anything is installed.
import { existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { homedir } from "node:os";
import { Remedy, installDebian, root, run, say, step, toolsFolder, works } from "./say.mjs";

const WORKER_BUILD = "0.8.7";
const WASM_TARGET = "wasm32-unknown-unknown";

/** Where `worker-build` and the package's build find their programs; otherwise they would download them. */
export const toolEnvironment = {
  WASM_BINDGEN_BIN: join(toolsFolder, "bin/wasm-bindgen"),
  WASM_OPT_BIN: join(root, "node_modules/.bin/wasm-opt"),
  ESBUILD_BIN: join(root, "node_modules/.bin/esbuild"),
};

/** Everything that is needed before a build; quick when it is there. */
export async function ensureToolchain() {
  ensureNode();
  await ensureRust();
  await ensureNodeModules();
  await ensureCargoTool("wasm-bindgen", "wasm-bindgen-cli", lockedVersion("wasm-bindgen"), ["--bin", "wasm-bindgen"]);
  await ensureCargoTool("worker-build", "worker-build", WORKER_BUILD, ["--bin", "worker-build"], checkOpenssl);
}

function ensureNode() {
  const [major] = process.versions.node.split(".").map(Number);
  if (major < 20) {
    throw new Remedy(`Node ${process.versions.node} is too old: install Node 20 or newer, from https://nodejs.org`);
  }
}

async function ensureRust() {
  // A shell that was open when rustup was installed does not know its folder yet.
  const cargoBin = join(process.env.CARGO_HOME ?? join(homedir(), ".cargo"), "bin");
  if (existsSync(cargoBin) && !process.env.PATH.split(delimiter).includes(cargoBin)) {
    process.env.PATH = `${cargoBin}${delimiter}${process.env.PATH}`;
  }
  if (!(await works("cargo"))) {
    throw new Remedy("`cargo` was not found: install Rust with rustup, from https://rustup.rs");
  }
  if (!(await works("cc"))) {
    throw new Remedy("no C compiler was found as `cc`: install one (Debian: `apt-get install build-essential`; macOS: `xcode-select --install`)");
  }
  // The first call in this folder makes rustup install the toolchain that rust-toolchain.toml pins.
  const sysroot = (await run("rustc", ["--print", "sysroot"])).trim();
  if (!existsSync(join(sysroot, "lib/rustlib", WASM_TARGET))) {
    if (!(await works("rustup"))) {
      throw new Remedy(`the Rust target ${WASM_TARGET} is missing and \`rustup\` was not found: install it with rustup, from https://rustup.rs`);
    }
    await step(`installing the Rust target ${WASM_TARGET}`, "rustup", ["target", "add", WASM_TARGET]);
  }
}

async function ensureNodeModules() {
  const wanted = join(root, "package-lock.json");
  const installed = join(root, "node_modules/.package-lock.json");
  const needed = ["binaryen", "esbuild", "workerd", "wrangler"].every((name) => existsSync(join(root, "node_modules", name, "package.json")));
  const fresh = needed && existsSync(installed) && statSync(installed).mtimeMs >= statSync(wanted).mtimeMs;
  if (!fresh) await step("installing the npm packages of package-lock.json", "npm", ["ci", "--no-audit", "--no-fund"]);
}

async function ensureCargoTool(program, crate, version, only, before) {
  const path = join(toolsFolder, "bin", program);
  if (existsSync(path) && (await run(path, ["--version"])).includes(version)) return;
  await before?.();
  // Tools run for seconds: compiling them fast matters more than their speed.
  const quick = {
    CARGO_TARGET_DIR: join(toolsFolder, "build"),
    CARGO_PROFILE_RELEASE_OPT_LEVEL: "1",
    CARGO_PROFILE_RELEASE_LTO: "off",
    CARGO_PROFILE_RELEASE_CODEGEN_UNITS: "16",
    CARGO_PROFILE_RELEASE_DEBUG: "0",
  };
  const args = ["install", crate, "--version", `=${version}`, "--root", toolsFolder, "--force", ...only];
  await step(`installing ${crate} ${version} (once, some minutes)`, "cargo", args, { env: quick });
}

async function checkOpenssl() {
  if (process.platform !== "linux" || process.env.OPENSSL_DIR) return;
  const found = () => works("pkg-config", ["--exists", "openssl"]);
  if (await found()) return;
  await installDebian("pkg-config", "libssl-dev");
  if (await found()) return;
  throw new Remedy("worker-build links OpenSSL, whose headers were not found: install them (Debian: `apt-get install pkg-config libssl-dev`)");
}

/** The version of a crate in Cargo.lock. */
export function lockedVersion(crate) {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  const found = new RegExp(`name = "${crate}"\\nversion = "([^"]+)"`).exec(lock);
  if (found === null) throw new Remedy(`Cargo.lock names no crate \`${crate}\``);
  return found[1];
}
