// Builds the Worker and the npm package. Rust becomes a binary with its glue, the JavaScript shell contains two instances of it, and
// the files of the demo are added. Nothing is downloaded here and nothing is built twice.
//
// node worker/tools/build.mjs [--test-hooks] [--executable]
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { NAMES } from "./symbolicate.mjs";
import { main, print, root, run, step } from "./console.mjs";
import { hashOf, buildUnlessFresh } from "./build_cache.mjs";
import { ensureToolchain } from "./toolchain.mjs";
import { bind, compile, optimise } from "./wasm.mjs";

const BINDING = ["worker/tools/wasm-bindgen", "worker/tools/wasm.mjs", "package-lock.json"];
const HERE = "worker/tools/build.mjs";
const RUST = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src", "worker/Cargo.toml", "worker/src", HERE, ...BINDING];
const SHELL = ["worker/shell"];
const DESCRIPTION = "worker/openapi.json";
const PACKAGE = ["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", "src", "pkg-template", ...BINDING];

/**
 * Returns the folder of a built Worker. `modules/` is separate, because wrangler takes every wasm file next to a module for one. `assets/`
 * has the served files. `names.txt` is for `npm run names` and is not uploaded.
 */
export function builtFolder(testHooks = false) {
  return join(root, testHooks ? "target/test-hooks" : "worker/build");
}

/** Builds the package and a Worker at the same time, because each build keeps only one core busy for a while. */
export async function buildAll({ testHooks = false } = {}) {
  await awaitAll([buildPackage(), buildModules(kindOf(testHooks))]);
  await copyAssets(builtFolder(testHooks), kindOf(testHooks));
  return builtFolder(testHooks);
}

/** Builds the Worker with the package as it is. With `testHooks` it obeys the headers of the tests and must never be deployed. */
export async function buildWorker({ testHooks = false } = {}) {
  await buildModules(kindOf(testHooks));
  await copyAssets(builtFolder(testHooks), kindOf(testHooks));
  return builtFolder(testHooks);
}

const kindOf = (testHooks) => (testHooks ? "test-hooks" : "release");

/** Waits for all parts, so that no part continues after the first failure is reported. */
async function awaitAll(parts) {
  const failed = (await Promise.allSettled(parts)).find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}

async function buildModules(kind) {
  const testHooks = kind === "test-hooks";
  const glue = join(root, "target/glue", kind);
  await buildUnlessFresh(`target/stamps/glue-${kind}`, join(glue, "index_bg.wasm"), hashOf(RUST, kind), async () => {
    const compiled = await step(`compiling the Worker (${kind})`, () => compile("scrip-worker", "worker", testHooks ? ["scrip-worker/test-hooks"] : []));
    await step("binding the Worker and making it smaller", async () => {
      rmSync(glue, { recursive: true, force: true });
      await bind(compiled, glue, "bound", { restarts: true });
      // Level 3 takes three times as long, and a redemption is no faster. Packing data without its zeros makes thousands of pieces, which
      // are larger when compressed. Function names would be an eighth of the Worker, and only a stack in the log needs them. Ordered by
      // name, the copies of one function for several types are adjacent and compress to an eighth less.
      const options = ["-O1", "--skip-pass=memory-packing", "--enable-exception-handling", "--reorder-functions-by-name", `--symbolmap=${join(glue, NAMES)}`];
      await optimise(join(glue, "bound_bg.wasm"), join(glue, "index_bg.wasm"), ...options);
    });
  });
  const out = builtFolder(testHooks);
  const modules = join(out, "modules");
  await buildUnlessFresh(`target/stamps/worker-${kind}`, join(modules, "index.mjs"), hashOf([...RUST, ...SHELL], kind), async () => {
    rmSync(out, { recursive: true, force: true });
    mkdirSync(modules, { recursive: true });
    await bundle(glue, modules);
    cpSync(join(glue, "index_bg.wasm"), join(modules, "index_bg.wasm"));
    cpSync(join(root, "worker/shell/kv.mjs"), join(modules, "kv.mjs"));
    cpSync(join(glue, NAMES), join(out, NAMES));
  });
}

/** Bundles the shell into one file of JavaScript. The glue is in it twice, so that entry and objects have an instance each. */
async function bundle(glue, out) {
  const esbuild = await import("esbuild");
  await esbuild.build({
    entryPoints: [join(root, "worker/shell/main.mjs")],
    outfile: join(out, "index.mjs"),
    bundle: true,
    // The size of the upload matters: comments and indents of the glue are a fifth of it. Names stay, so that a stack trace is readable.
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

/** Copies the demo to `/`, the package to `/pkg/`, the OpenAPI description, and its viewer to `/docs/`. */
async function copyAssets(out, kind) {
  const assets = join(out, "assets");
  await buildUnlessFresh(`target/stamps/assets-${kind}`, assets, hashOf(["www-demo", "pkg", DESCRIPTION, "worker/docs", "package-lock.json"]), async () => {
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
  await buildUnlessFresh("target/stamps/package", join(root, "pkg/package.json"), hashOf(PACKAGE), () =>
    step("building the npm package", () => run(process.execPath, [script], { stdio: "inherit" })));
}

/** Builds one program that serves everything, for a machine without Node. */
async function buildExecutable() {
  const { writeExecutable } = await import("./executable.mjs");
  await writeExecutable(builtFolder());
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main(async () => {
    const options = new Set(process.argv.slice(2));
    await ensureToolchain();
    await buildAll({ testHooks: options.has("--test-hooks") });
    if (options.has("--executable")) await buildExecutable();
    print("worker/build/ is ready for `npx wrangler deploy -c worker/wrangler.toml`, pkg/ for `npm publish`");
  });
}
