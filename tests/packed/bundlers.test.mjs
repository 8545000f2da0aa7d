// Tests that the packed tarball works under further bundlers, webpack and esbuild, and in service workers. None of the bundlers gets a setting for
// the package; esbuild has no assets, so the wasm is copied as the README says.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import esbuild from "esbuild";
import webpack from "webpack";
import { build } from "../../pkg-template/build.mjs";
import { launch, missing } from "../browser/chromium.mjs";
import { serve } from "../browser/static_server.mjs";
import { countTests } from "../browser/test_report.mjs";
import { pack, pkg, right, visit } from "../packaging/hosts.mjs";

const check = countTests("packaging");
const noBrowser = missing();

let folder;
let project;
let browser;

before(async () => {
  if (!existsSync(join(pkg, "scrip.wasm"))) await build(pkg);
  folder = await mkdtemp(join(tmpdir(), "scrip-bundlers-"));
  ({ project } = await pack(folder, fileURLToPath(new URL(".", import.meta.url))));
  if (!noBrowser) browser = await launch();
}, { timeout: 600_000 });

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Serves a folder and checks the result of one of its pages. */
async function checkSite(site, path = "/") {
  const { url, close } = await serve(site);
  try {
    right(await visit(browser, url + path));
  } finally {
    await close();
  }
}

check("webpack", async () => {
  const place = await project("webpack");
  const dist = join(place, "dist");
  const stats = await promisify(webpack)({ mode: "production", context: place, entry: "./main.js", output: { path: dist, filename: "main.js" } });
  assert.deepEqual(stats.toJson({ all: false, errors: true }).errors, []);
  assert.equal((await readdir(dist)).filter((name) => name.endsWith(".wasm")).length, 1, "the wasm is an asset");
  await copyFile(join(place, "index.html"), join(dist, "index.html"));
  await checkSite(dist);
}, noBrowser);

check("esbuild, with the wasm next to the bundle", async () => {
  const place = await project("esbuild");
  const dist = join(place, "dist");
  await esbuild.build({ entryPoints: [join(place, "main.js")], outdir: dist, bundle: true, format: "esm", logLevel: "error" });
  await copyFile(join(place, "node_modules/@scrip-edge/page/scrip.wasm"), join(dist, "scrip.wasm"));
  await copyFile(join(place, "index.html"), join(dist, "index.html"));
  await checkSite(dist);
}, noBrowser);

check("a service worker, as a module and as a classic script", async () => {
  const place = await project("service-worker");
  // A classic worker reads no modules.
  await esbuild.build({ entryPoints: [join(place, "scenario.mjs")], outfile: join(place, "scenario.js"), bundle: true, format: "iife", globalName: "scenario", logLevel: "error" });
  for (const type of ["module", "classic"]) await checkSite(place, `/?type=${type}`);
}, noBrowser);
