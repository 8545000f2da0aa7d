// Builds `pkg/` from the engine: its binary and glue as for the Worker, then the files of this folder around them.
import { copyFile, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import esbuild from "esbuild";
import { bind, compile, optimise } from "../worker/tools/wasm.mjs";

const template = dirname(fileURLToPath(import.meta.url));
const root = dirname(template);

/** Builds the package into `out`; returns the size of the wasm in bytes, raw and compressed. */
export async function build(out = join(root, "pkg"), report = () => {}) {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });

  report("compiling the engine to wasm");
  const compiled = await compile("scrip-package", "release");

  report("binding and shrinking it");
  await bind(compiled, out, "engine");
  // `strip` in the cargo profile instead of here would hide the target's features from wasm-bindgen.
  // Packing data without its zeros makes thousands of pieces, which are 3.5 kB more when compressed.
  const options = ["-O3", "--skip-pass=memory-packing", "--reorder-functions-by-name", "--strip-debug", "--strip-producers"];
  await optimise(join(out, "engine_bg.wasm"), join(out, "scrip.wasm"), ...options);
  await rm(join(out, "engine_bg.wasm"));

  await minifyScript(join(out, "engine.js"), join(out, "engine.js"));
  return buildScripts(out);
}

/** Builds all but the binary and its glue, which `out` has already; returns the size of the wasm. */
export async function buildScripts(out = join(root, "pkg")) {
  await minifyScript(join(template, "api.js"), join(out, "api.js"));
  await joinScripts(out, "service.js");
  await buildReact(out);
  await buildBackTest(out);
  for (const name of ["node.js", "workerd.js", "browser.js", "slim.js", "slim.d.ts", "scrip.d.ts"]) {
    await copyFile(join(template, name), join(out, name));
  }
  await copyFile(join(template, "scrip.d.ts"), join(out, "scrip.d.cts"));
  await copyFile(join(root, "LICENSE"), join(out, "LICENSE"));
  await bundleEntry(out, "node.cjs.js", "node.cjs", { format: "cjs", platform: "node", inject: [join(template, "encoding.cjs.js")] });
  await bundleEntry(out, "script.js", "script.js", { format: "iife", globalName: "scrip", platform: "browser" });
  await writeManifest(out);
  const size = await measureSizes(join(out, "scrip.wasm"));
  await writeReadme(out, size);
  return size;
}

/** Minifies a script; its first line, when it is a comment, stays. */
async function minifyScript(from, to) {
  const text = await readFile(from, "utf8");
  const { code } = await esbuild.transform(text, { minify: true, target: "es2022", format: "esm" });
  const banner = text.startsWith("//") ? `${text.split("\n", 1)[0]}\n` : "";
  await writeFile(to, banner + code);
}

/** Joins a script with those that only it imports, so that a page fetches one file. */
async function joinScripts(out, name) {
  const [comment] = (await readFile(join(template, name), "utf8")).split("\n", 1);
  await esbuild.build({
    entryPoints: [join(template, name)], outfile: join(out, name), bundle: true, plugins: [shared], minify: true,
    target: "es2022", format: "esm", banner: { js: comment }, logLevel: "error",
  });
}

/** Leaves the two scripts out that other ones import too, from any folder. */
const shared = {
  name: "shared",
  setup: (build) => build.onResolve({ filter: /^\.\.?\/(api|engine)\.js$/ }, ({ path }) => ({ path: `./${path.split("/").pop()}`, external: true })),
};

/** Bundles the two entries that must be one file; the meaning of `import` is resolved here. */
async function bundleEntry(out, from, to, options) {
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

/** Builds the hooks. The page's React and the package's own entry are shared with them. */
async function buildReact(out) {
  const options = { entryPoints: [join(template, "react.js")], bundle: true, external: ["react", "@scrip-edge/page"], minify: true, target: "es2022", logLevel: "error" };
  await esbuild.build({ ...options, outfile: join(out, "react.js"), format: "esm" });
  await esbuild.build({ ...options, outfile: join(out, "react.cjs"), format: "cjs" });
  const types = await readFile(join(template, "react.d.ts"), "utf8");
  await writeFile(join(out, "react.d.ts"), types);
  await writeFile(join(out, "react.d.cts"), types.replace("./scrip.js", "./scrip.cjs"));
}

/** Leaves out streams of Node, which the library for CSV would read files by: a page has none. */
const withoutStreams = {
  name: "without streams",
  setup(build) {
    build.onResolve({ filter: /^stream$/ }, ({ path }) => ({ path, namespace: "without" }));
    build.onLoad({ filter: /./, namespace: "without" }, () => ({ contents: "" }));
  },
};

/** Builds the back-test over the package's own entry. */
async function buildBackTest(out) {
  const options = { entryPoints: [join(template, "backtest.js")], bundle: true, plugins: [withoutStreams], external: ["@scrip-edge/page"], minify: true, target: "es2022", logLevel: "error" };
  await esbuild.build({ ...options, outfile: join(out, "backtest.js"), format: "esm" });
  await esbuild.build({ ...options, outfile: join(out, "backtest.cjs"), format: "cjs" });
  const types = await readFile(join(template, "backtest.d.ts"), "utf8");
  await writeFile(join(out, "backtest.d.ts"), types);
  await writeFile(join(out, "backtest.d.cts"), types.replace("./scrip.js", "./scrip.cjs"));
}

/** The version is that of the workspace, so that the package and the service can be compared. */
async function writeManifest(out) {
  const cargo = await readFile(join(root, "Cargo.toml"), "utf8");
  const version = /\[workspace\.package\][^[]*?^version = "([^"]+)"/ms.exec(cargo)?.[1];
  if (!version) throw new Error("no version under [workspace.package] in Cargo.toml");
  const text = await readFile(join(template, "package.json"), "utf8");
  await writeFile(join(out, "package.json"), `${JSON.stringify({ ...JSON.parse(text), version }, null, 2)}\n`);
}

/** Fills the sizes of the binary into the README. */
async function writeReadme(out, size) {
  const text = await readFile(join(template, "README.md"), "utf8");
  const filled = text.replace(/\{(raw|gzip|brotli)\}/g, (_, kind) => String(Math.round(size[kind] / 1000)));
  await writeFile(join(out, "README.md"), filled);
}

/** Returns the sizes raw, with gzip -9 and with brotli -11. */
export async function measureSizes(path) {
  const wasm = await readFile(path);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: wasm.length };
  return {
    raw: (await stat(path)).size,
    gzip: gzipSync(wasm, { level: 9 }).length,
    brotli: brotliCompressSync(wasm, { params }).length,
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const isBuilt = process.argv.includes("--scripts");
  const { raw, gzip, brotli } = isBuilt ? await buildScripts() : await build(undefined, (line) => console.log(line));
  console.log(`pkg/scrip.wasm: ${raw} bytes, ${gzip} gzip, ${brotli} brotli`);
}
