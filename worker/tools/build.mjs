// Decides how the Worker and the npm package are built: Rust to wasm and glue by worker-build, then the JavaScript shell
// around two instances of it, then the files of the demo. Nothing is downloaded here and nothing is built twice.
//
// node worker/tools/build.mjs [--rehearsal] [--executable]
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { main, root, say, step, toolsFolder } from "./say.mjs";
import { hashOf, unlessFresh } from "./stamp.mjs";
import { ensureToolchain, toolEnvironment } from "./toolchain.mjs";

const RUST = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src", "worker/Cargo.toml", "worker/src"];
const SHELL = ["worker/shell", "worker/tools/build.mjs", "package-lock.json"];
const PACKAGE = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src", "pkg-template", "package-lock.json"];

/** The folder of a built Worker: `modules/` and, apart because wrangler takes every wasm beside a module for one, `assets/`. */
export function builtFolder(rehearsal = false) {
  return join(root, rehearsal ? "target/rehearsal" : "worker/build");
}

/** Builds the Worker; with `rehearsal` it obeys the tests' headers and must never be deployed. */
export async function buildWorker({ rehearsal = false } = {}) {
  const kind = rehearsal ? "rehearsal" : "release";
  const glue = join(root, "target/glue", kind);
  await unlessFresh(`target/stamps/glue-${kind}`, join(glue, "index_bg.wasm"), hashOf(RUST, kind), async () => {
    const features = rehearsal ? ["--features", "rehearsal"] : [];
    await step(`compiling the Worker (${kind})`, join(toolsFolder, "bin/worker-build"), ["--release", "--out-dir", glue, ...features], {
      cwd: join(root, "worker"),
      env: toolEnvironment,
    });
  });
  const out = builtFolder(rehearsal);
  const modules = join(out, "modules");
  await unlessFresh(`target/stamps/worker-${kind}`, join(modules, "index.mjs"), hashOf([...RUST, ...SHELL], kind), async () => {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(modules, { recursive: true });
    await bundle(glue, modules);
    cpSync(join(glue, "index_bg.wasm"), join(modules, "index_bg.wasm"));
    cpSync(join(root, "worker/shell/kv.mjs"), join(modules, "kv.mjs"));
  });
  await copyAssets(out, kind);
  return out;
}

/** One file of JavaScript. The glue is in it twice, so that entry and objects have an instance each. */
async function bundle(glue, out) {
  const { build } = await import("esbuild");
  await build({
    entryPoints: [join(root, "worker/shell/main.mjs")],
    outfile: join(out, "index.mjs"),
    bundle: true,
    format: "esm",
    target: "es2022",
    external: ["cloudflare:*", "./index_bg.wasm"],
    alias: { "glue/entry": join(glue, "index.js"), "glue/engine": `${join(glue, "index.js")}?engine` },
    banner: { js: "// Built by worker/tools/build.mjs from worker/shell and the engine; do not edit." },
    logLevel: "warning",
  });
}

/** The demo at `/`, the package under `/pkg/`. */
async function copyAssets(out, kind) {
  const assets = join(out, "assets");
  await unlessFresh(`target/stamps/assets-${kind}`, assets, hashOf(["www-demo", "pkg"]), async () => {
    rmSync(assets, { recursive: true, force: true });
    mkdirSync(assets, { recursive: true });
    for (const [from, to] of [["www-demo", ""], ["pkg", "pkg"]]) {
      if (existsSync(join(root, from))) cpSync(join(root, from), join(assets, to), { recursive: true });
    }
  });
}

/** Builds `pkg/`, ready for `npm publish`. */
export async function buildPackage() {
  const script = join(root, "pkg-template/build.mjs");
  if (!existsSync(script)) return;
  await unlessFresh("target/stamps/package", join(root, "pkg/package.json"), hashOf(PACKAGE), () =>
    step("building the npm package", process.execPath, [script], { env: toolEnvironment }));
}

/** One program that serves everything, for a machine without Node. */
async function buildExecutable() {
  const { writeExecutable } = await import("./executable.mjs");
  await writeExecutable(builtFolder());
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const wanted = new Set(process.argv.slice(2));
    await ensureToolchain();
    await buildPackage();
    await buildWorker({ rehearsal: wanted.has("--rehearsal") });
    if (wanted.has("--executable")) await buildExecutable();
    say("worker/build/ is ready for `npx wrangler deploy -c worker/wrangler.toml`, pkg/ for `npm publish`");
  });
}
