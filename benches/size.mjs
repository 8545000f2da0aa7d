// Decides how large the package is where it counts: what a page downloads, and the wasm alone; raw, gzip -9, brotli 11.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const folder = new URL("../pkg/", import.meta.url);

export function packageSize() {
  const wasm = readFileSync(new URL("scrip.wasm", folder));
  const glue = [...scriptsOf("browser.js")].map((name) => readFileSync(new URL(name, folder)));
  const parts = { wasm: sizes(wasm), glue: add(glue.map(sizes)) };
  return { ...parts, whole: add([parts.wasm, parts.glue]) };
}

/** An entry and everything that it imports. */
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
