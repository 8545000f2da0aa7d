// Measures the size of the package and the Worker: the download of a page, the upload, and the wasm; raw, gzip -9, brotli 11.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { builtFolder } from "../worker/tools/build.mjs";

const folder = new URL("../pkg/", import.meta.url);

export function packageSize() {
  const wasm = readFileSync(new URL("scrip.wasm", folder));
  const glue = [...scriptsOf("browser.js")].map((name) => readFileSync(new URL(name, folder)));
  const parts = { wasm: sizes(wasm), glue: add(glue.map(sizes)) };
  return { ...parts, whole: add([parts.wasm, parts.glue]) };
}

/** The modules of the released Worker. Its files are served separately and do not count. */
export function workerSize() {
  const modules = join(builtFolder(), "modules");
  const sized = (isCounted) => add(readdirSync(modules).filter(isCounted).map((name) => sizes(readFileSync(join(modules, name)))));
  const parts = { wasm: sized((name) => name.endsWith(".wasm")), scripts: sized((name) => name.endsWith(".mjs")) };
  return { ...parts, whole: add([parts.wasm, parts.scripts]) };
}

/** Bundles an entry with all its imports. */
function scriptsOf(entry, found = new Set()) {
  if (found.has(entry)) return found;
  found.add(entry);
  const text = readFileSync(new URL(entry, folder), "utf8");
  for (const [, name] of text.matchAll(/from\s*["']\.\/([^"']+)["']/g)) scriptsOf(name, found);
  return found;
}

const sizes = (bytes) => ({
  raw: bytes.length,
  gzip: gzipSync(bytes, { level: 9 }).length,
  brotli: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length,
});

const add = (list) => list.reduce((sum, one) => (
  { raw: sum.raw + one.raw, gzip: sum.gzip + one.gzip, brotli: sum.brotli + one.brotli }), { raw: 0, gzip: 0, brotli: 0 });
