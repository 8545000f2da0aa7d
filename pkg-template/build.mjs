// Decides how `pkg/` is made from the engine: cargo, wasm-bindgen, wasm-opt, then the files of this folder around it.
// It must not download anything: the tools are installed by `npm start`, `npm test` and `npm run build`.
import { execFile } from "node:child_process";
import { copyFile, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import binaryen from "binaryen";
import esbuild from "esbuild";
import { bind } from "../worker/tools/wasm.mjs";
import { hasLibrarySource } from "./library.mjs";

const run = promisify(execFile);
const template = dirname(fileURLToPath(import.meta.url));
const root = dirname(template);

/** Builds the package into `out`; gives the size of the wasm in bytes, as it is and compressed. */
export async function build(out = join(root, "pkg"), say = () => {}) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });

  say("compiling the engine to wasm");
  const target = join(root, "target/package");
  const cargo = ["build", "-p", "scrip", "--lib", "--release", "--target", "wasm32-unknown-unknown", "--features", "package",
    // As fast as level 3 here; levels "s" and "z" are not smaller.
    "--config", "profile.release.opt-level=2", "--target-dir", target];
  const own = hasLibrarySource() ? OWN_LIBRARY : { cargo: [], rustc: [] };
  // What begins with -Z is not stable yet; the toolchain is pinned, so that it means the same on every machine.
  const env = { ...process.env, RUSTFLAGS: [...flags(), ...own.rustc].join(" "), RUSTC_BOOTSTRAP: "1" };
  await run("cargo", [...cargo, ...own.cargo], { cwd: root, env, maxBuffer: 1 << 26 });

  say("binding and shrinking it");
  const compiled = join(target, "wasm32-unknown-unknown/release/scrip.wasm");
  await bind(compiled, out, "engine");
  await forget(join(out, "engine_bg.wasm"));
  await shrink(join(out, "engine_bg.wasm"), join(out, "scrip.wasm"));
  await rm(join(out, "engine_bg.wasm"));

  await smaller(join(out, "engine.js"), join(out, "engine.js"));
  await smaller(join(template, "api.js"), join(out, "api.js"));
  for (const name of ["node.js", "workerd.js", "browser.js", "slim.js", "slim.d.ts", "scrip.d.ts"]) {
    await copyFile(join(template, name), join(out, name));
  }
  await copyFile(join(template, "scrip.d.ts"), join(out, "scrip.d.cts"));
  await copyFile(join(root, "LICENSE"), join(out, "LICENSE"));
  await bundled(out, "node.cjs.js", "node.cjs", { format: "cjs", platform: "node" });
  await bundled(out, "script.js", "script.js", { format: "iife", globalName: "scrip", platform: "browser" });
  await manifest(out);
  const size = await sizes(join(out, "scrip.wasm"));
  await readme(out, size);
  return size;
}

/**
 * Rust's library compiled along with the engine: for size, and with panics that trap at once, because nobody hears what they
 * say. Without its source the package is some kilobytes larger.
 */
const OWN_LIBRARY = {
  cargo: ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"],
  rustc: ["-Zunstable-options", "-Cpanic=immediate-abort", "-Zlocation-detail=none", "-Zfmt-debug=none"],
};

/** What the compiler is told beyond the release profile. */
function flags() {
  const home = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  return [
    // Panic messages carry source paths; without this the bytes would differ from machine to machine.
    `--remap-path-prefix=${home}=/cargo`,
    `--remap-path-prefix=${root}=/scrip`,
    // Optimised for speed, but with little inlining and unrolling: an eighth less, for a decision that takes 1.2 times as long.
    "-Cllvm-args=-inline-threshold=30",
    "-Cllvm-args=-inlinehint-threshold=80",
    "-Cllvm-args=-unroll-threshold=20",
    // Codes are hashed one at a time: the short loop is fast enough, and 2 kB smaller than the unrolled one.
    "--cfg=sha2_backend_soft=\"compact\"",
  ];
}

/** What takes a value apart, by the name that the compiler gives it, and what of that has another end than memory. */
const DROP = /^core\b.*::drop_in_place::</;
const OTHER_END = /\bcell\b|Guard|Drain|wasm_bindgen/;

/** Memory is given back by regions, so that taking a value apart would be a walk for nothing. */
async function forget(path) {
  binaryen.setDebugInfo(true);
  const module = binaryen.readBinary(await readFile(path));
  for (let place = 0; place < module.getNumFunctions(); place += 1) {
    const known = module.getFunctionByIndex(place);
    const { name, module: imported } = binaryen.getFunctionInfo(known);
    if (!imported && DROP.test(name) && !OTHER_END.test(name)) binaryen.Function.setBody(known, module.nop());
  }
  await writeFile(path, module.emitBinary());
  module.dispose();
}

/**
 * wasm-opt for speed, but a function with one caller stays a function and a value is not kept for being used once more: what
 * is said alike in many places compresses better than what is spun out in each. `strip` in the cargo profile instead of here
 * would hide the target's features from wasm-bindgen.
 */
async function shrink(from, to) {
  const flags = ["-O3", "--one-caller-inline-max-function-size", "0", "--skip-pass=local-cse", "--skip-pass=simplify-locals",
    "--strip-debug", "--strip-producers", from, "-o", to];
  if (process.env.WASM_OPT_BIN) await run(process.env.WASM_OPT_BIN, flags);
  else await run(process.execPath, [join(root, "node_modules/binaryen/bin/wasm-opt"), ...flags]);
}

/** A script without what only its readers need; its first line, when it is a comment, stays. */
async function smaller(from, to) {
  const text = await readFile(from, "utf8");
  const { code } = await esbuild.transform(text, { minify: true, target: "es2022", format: "esm" });
  const banner = text.startsWith("//") ? `${text.split("\n", 1)[0]}\n` : "";
  await writeFile(to, banner + code);
}

/** The two entries that must be one file: what `import` means to them is settled here. */
async function bundled(out, from, to, options) {
  const banner = (await readFile(join(template, from), "utf8")).split("\n", 1)[0];
  const temporary = join(out, `entry-${from}`);
  await copyFile(join(template, from), temporary);
  await esbuild.build({
    entryPoints: [temporary], outfile: join(out, `built-${to}`), bundle: true, target: "es2022", banner: { js: banner },
    logLevel: "error", ...options,
  });
  await rename(join(out, `built-${to}`), join(out, to));
  await rm(temporary);
}

/** The version is the workspace's own, so that the package and the service can be compared. */
async function manifest(out) {
  const cargo = await readFile(join(root, "Cargo.toml"), "utf8");
  const version = /\[workspace\.package\][^[]*?^version = "([^"]+)"/ms.exec(cargo)?.[1];
  if (!version) throw new Error("no version under [workspace.package] in Cargo.toml");
  const text = await readFile(join(template, "package.json"), "utf8");
  await writeFile(join(out, "package.json"), `${JSON.stringify({ ...JSON.parse(text), version }, null, 2)}\n`);
}

/** The README's sizes are those of the binary beside it. */
async function readme(out, size) {
  const text = await readFile(join(template, "README.md"), "utf8");
  const filled = text.replace(/\{(raw|gzip|brotli)\}/g, (_, kind) => String(Math.round(size[kind] / 1000)));
  await writeFile(join(out, "README.md"), filled);
}

/** Raw, gzip -9 and brotli -11, the three that a reader compares. */
export async function sizes(path) {
  const wasm = await readFile(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: wasm.length };
  return {
    raw: (await stat(path)).size,
    gzip: gzipSync(wasm, { level: 9 }).length,
    brotli: brotliCompressSync(wasm, { params }).length,
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { raw, gzip, brotli } = await build(undefined, (line) => console.log(line));
  console.log(`pkg/scrip.wasm: ${raw} bytes, ${gzip} gzip, ${brotli} brotli`);
}
