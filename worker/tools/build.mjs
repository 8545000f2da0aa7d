// Decides how the Worker and the npm package are built: Rust to a binary and its glue, then the JavaScript shell around two
// instances of it, then the files of the demo. Nothing is downloaded here and nothing is built twice.
//
// node worker/tools/build.mjs [--rehearsal] [--executable]
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { NAMES } from "./names.mjs";
import { main, root, run, say, step } from "./say.mjs";
import { hashOf, unlessFresh } from "./stamp.mjs";
import { ensureToolchain } from "./toolchain.mjs";
import { bind, compile, optimise } from "./wasm.mjs";

const BINDING = ["worker/tools/bind", "worker/tools/wasm.mjs", "package-lock.json"];
const HERE = "worker/tools/build.mjs";
const RUST = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src", "worker/Cargo.toml", "worker/src", HERE, ...BINDING];
const SHELL = ["worker/shell"];
const DESCRIPTION = "worker/openapi.json";
const PACKAGE = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src", "pkg-template", ...BINDING];

/**
 * The folder of a built Worker: `modules/`, apart, because wrangler takes every wasm beside a module for one, `assets/`, and
 * `names.txt`, which `npm run names` reads and nobody uploads.
 */
export function builtFolder(rehearsal = false) {
  return join(root, rehearsal ? "target/rehearsal" : "worker/build");
}

/** Builds everything, a released Worker beside the package, because each part has a stretch in which it keeps one core busy. */
export async function buildAll({ rehearsal = false } = {}) {
  await together([buildPackage(), buildModules(kindOf(rehearsal))]);
  await copyAssets(builtFolder(rehearsal), kindOf(rehearsal));
  return builtFolder(rehearsal);
}

/** Builds the Worker around what there is of the package; with `rehearsal` it obeys the tests' headers and must never be deployed. */
export async function buildWorker({ rehearsal = false } = {}) {
  await buildModules(kindOf(rehearsal));
  await copyAssets(builtFolder(rehearsal), kindOf(rehearsal));
  return builtFolder(rehearsal);
}

const kindOf = (rehearsal) => (rehearsal ? "rehearsal" : "release");

/** Waits for all, so that nothing goes on after the first failure is told. */
async function together(parts) {
  const failed = (await Promise.allSettled(parts)).find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}

async function buildModules(kind) {
  const rehearsal = kind === "rehearsal";
  const glue = join(root, "target/glue", kind);
  await unlessFresh(`target/stamps/glue-${kind}`, join(glue, "index_bg.wasm"), hashOf(RUST, kind), async () => {
    const compiled = await step(`compiling the Worker (${kind})`, () => compile("scrip-worker", "worker", rehearsal ? ["scrip-worker/rehearsal"] : []));
    await step("binding the Worker and making it smaller", async () => {
      rmSync(glue, { recursive: true, force: true });
      await bind(compiled, glue, "bound", { restarts: true });
      // Level 3 takes three times as long, and a redemption is no faster. Data packed without its zeros is thousands of pieces, and
      // larger when it is compressed. The names of functions, which a stack in the log alone needs, would be an eighth of the Worker.
      // By name the copies that one function has for several types stand side by side, and compress to an eighth less than where they fell.
      const options = ["-O1", "--skip-pass=memory-packing", "--enable-exception-handling", "--reorder-functions-by-name", `--symbolmap=${join(glue, NAMES)}`];
      await optimise(join(glue, "bound_bg.wasm"), join(glue, "index_bg.wasm"), ...options);
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
    cpSync(join(glue, NAMES), join(out, NAMES));
  });
}

/** One file of JavaScript. The glue is in it twice, so that entry and objects have an instance each. */
async function bundle(glue, out) {
  const esbuild = await import("esbuild");
  await esbuild.build({
    entryPoints: [join(root, "worker/shell/main.mjs")],
    outfile: join(out, "index.mjs"),
    bundle: true,
    // What is uploaded counts: comments and indents of the glue are a fifth of it. Names stay, so that a trace can be read.
    minifyWhitespace: true,
    minifySyntax: true,
    format: "esm",
    target: "es2022",
    external: ["cloudflare:*", "./index_bg.wasm"],
    alias: { "glue/entry": join(glue, "bound.js"), "glue/engine": `${join(glue, "bound.js")}?engine` },
    banner: { js: "// Built by worker/tools/build.mjs from worker/shell and the engine; do not edit." },
    logLevel: "warning",
    // wasm-bindgen names the same file once for each function that it imports from there.
    logOverride: { "duplicate-object-key": "silent" },
  });
}

/** The demo at `/`, the package under `/pkg/`, the description, and what shows it under `/docs/`. */
async function copyAssets(out, kind) {
  const assets = join(out, "assets");
  await unlessFresh(`target/stamps/assets-${kind}`, assets, hashOf(["www-demo", "pkg", DESCRIPTION, "worker/docs", "package-lock.json"]), async () => {
    rmSync(assets, { recursive: true, force: true });
    mkdirSync(assets, { recursive: true });
    for (const [from, to] of [["www-demo", ""], ["pkg", "pkg"], [DESCRIPTION, "openapi.json"], ["worker/docs", "docs"]]) {
      if (existsSync(join(root, from))) cpSync(join(root, from), join(assets, to), { recursive: true });
    }
    const component = dirname(createRequire(join(root, "package.json")).resolve("swagger-ui-dist/package.json"));
    for (const file of ["swagger-ui-bundle.js", "swagger-ui.css", "LICENSE"]) {
      cpSync(join(component, file), join(assets, "docs", file === "LICENSE" ? "swagger-ui-license.txt" : file));
    }
  });
}

/** Builds `pkg/`, ready for `npm publish`. */
export async function buildPackage() {
  const script = join(root, "pkg-template/build.mjs");
  if (!existsSync(script)) return;
  await unlessFresh("target/stamps/package", join(root, "pkg/package.json"), hashOf(PACKAGE), () =>
    step("building the npm package", () => run(process.execPath, [script], { stdio: "inherit" })));
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
    await buildAll({ rehearsal: wanted.has("--rehearsal") });
    if (wanted.has("--executable")) await buildExecutable();
    say("worker/build/ is ready for `npx wrangler deploy -c worker/wrangler.toml`, pkg/ for `npm publish`");
  });
}
