// Decides that what is published works where it is used: the packed tarball, installed from its file into tiny
// projects, gives the same bytes in Node, under a bundler, on workerd and from a script tag.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, sizes } from "../../pkg-template/build.mjs";
import { launch, missing } from "../browser/chromium.mjs";
import { serve } from "../browser/folder.mjs";
import { tally } from "../browser/tally.mjs";

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const pkg = join(here, "../../pkg");
const basket = JSON.parse(readFileSync(join(here, "basket.json"), "utf8"));
const check = tally("packaging");
const noBrowser = missing();

let folder;
let tarball;
let packed;
let browser;

before(async () => {
  if (!existsSync(join(pkg, "scrip.wasm"))) await build(pkg);
  folder = await mkdtemp(join(tmpdir(), "scrip-packaging-"));
  const { stdout } = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: pkg });
  // One npm answers with a list, another with an object by name.
  [packed] = Object.values(JSON.parse(stdout));
  tarball = join(folder, packed.filename);
  if (!noBrowser) browser = await launch();
}, { timeout: 600_000 });

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

/** A tiny project with the tarball installed, without any network. */
async function project(name) {
  const place = join(folder, name);
  await cp(join(here, name), place, { recursive: true });
  for (const shared of ["basket.json", "scenario.mjs"]) await cp(join(here, shared), join(place, shared));
  const manifest = { name: `try-${name}`, private: true, dependencies: { scrip: `file:${tarball}` } };
  await writeFile(join(place, "package.json"), JSON.stringify(manifest));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts"], { cwd: place });
  return place;
}

const answerFile = join(here, "answer.json");

/** Every entry gave the bytes of the answer file, and every mistake was named. */
function right(result) {
  const expected = readFileSync(answerFile, "utf8").trimEnd();
  assert.equal(JSON.parse(expected).valid, true, "the answer file holds a verdict that grants a discount");
  for (const [entry, answer] of Object.entries(result.answers)) same(answer, expected, entry);
  assert.match(result.hash, /^[0-9a-f]{64}$/);
  assert.equal(result.two_seeds_differ, true);
  const { bad_rules, ...others } = result.mistakes;
  assert.match(bad_rules, /^Error: .{10,}/);
  assert.deepEqual(others, {
    wrong_rules: "Error: rules: Property .vouchers must be an array (actual value is `5`) "
      + JSON.stringify({ path: "vouchers", text: "must be an array (actual value is `5`)" }),
    no_rules: "Error: rules must be JSON text, its UTF-8 bytes or a plain object",
    object_as_text: "Error: `validate` takes JSON text; `validateObject` takes an object",
    text_as_bytes: "Error: `validateBytes` takes a Uint8Array of JSON in UTF-8",
    bad_now: "Error: now `yesterday` must be a Date, whole milliseconds since 1970, or ISO 8601 text with its zone",
    now_without_zone: "Error: now `2026-03-01T12:00:00` must be a Date, whole milliseconds since 1970, or ISO 8601 text with its zone",
    bad_seed: "Error: seed `xyz` must be 2 to 64 hex digits, two for a byte",
    circular: "Error: the request must be an object that can be written as JSON",
    freed_validate: "Error: these rules were freed: `prepare` them again",
    freed_object: "Error: these rules were freed: `prepare` them again",
    freed_hash: "Error: these rules were freed: `prepare` them again",
  });
}

/** The same text; otherwise where it parts, as two answers in full help nobody. */
function same(answer, expected, entry) {
  if (answer === expected) return;
  let at = 0;
  while (at < expected.length && answer[at] === expected[at]) at += 1;
  const around = (text) => text.slice(Math.max(0, at - 30), at + 40);
  assert.fail(`${entry}, from ${at}: \`${around(answer)}\` instead of \`${around(expected)}\``);
}

/** Opens a page and waits for the promise that it leaves in `window.result`. */
async function visit(url) {
  const page = await browser.context.newPage();
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  try {
    await page.goto(url);
    await page.waitForFunction(() => window.result !== undefined, undefined, { timeout: 20_000 });
    return await page.evaluate(() => window.result);
  } catch (error) {
    throw new Error([error.message, ...complaints].join("\n"));
  } finally {
    await page.close();
  }
}

check("the tarball holds one binary, types for both kinds of module, and nothing of the build", async () => {
  const names = packed.files.map((file) => file.path).sort();
  assert.deepEqual(names, [
    "LICENSE", "README.md", "api.js", "browser.js", "engine.js", "node.cjs", "node.js", "package.json", "scrip.d.cts",
    "scrip.d.ts", "scrip.wasm", "script.js", "slim.d.ts", "slim.js", "workerd.js",
  ]);
  for (const name of names.filter((each) => /\.c?js$/.test(each))) {
    const text = readFileSync(join(pkg, name), "utf8");
    assert.ok(!/AGFzbQ|data:application\/wasm/.test(text), `${name} carries a copy of the binary`);
  }
});

// The goal is 170 kB; by plain means it is not met (ARCHITECTURE.md, "Known limits"), and from here it only shrinks.
check("the binary is at most 220 kB after brotli", async () => {
  const { raw, gzip, brotli } = await sizes(join(pkg, "scrip.wasm"));
  console.log(`scrip.wasm: ${raw} bytes, ${gzip} gzip, ${brotli} brotli`);
  assert.ok(brotli <= 220_000, `${brotli} bytes after brotli`);
});

check("Node, ES modules", async () => {
  const place = await project("node-esm");
  const result = JSON.parse((await run(process.execPath, ["main.mjs"], { cwd: place })).stdout);
  // Only this host may write the answer; all the others are held to it.
  if (process.env.UPDATE === "1") writeFileSync(answerFile, `${result.answers.text}\n`);
  right(result);
});

check("the README's first example, letter for letter", async () => {
  const place = join(folder, "node-esm");
  const [, example] = /```js\n(import [^`]*?)```/.exec(readFileSync(join(place, "node_modules/scrip/README.md"), "utf8"));
  await writeFile(join(place, "readme.mjs"), `${example}\nconsole.log(JSON.stringify(verdict));\n`);
  const verdict = JSON.parse((await run(process.execPath, ["readme.mjs"], { cwd: place })).stdout);
  assert.equal(verdict.valid, true);
  assert.equal(verdict.order.total_amount, 8820);
});

check("Node, CommonJS, also where `require` cannot load ES modules", async () => {
  const place = await project("node-cjs");
  right(JSON.parse((await run(process.execPath, ["--no-experimental-require-module", "main.cjs"], { cwd: place })).stdout));
});

check("Vite: build, and the development server, without a plugin", async () => {
  const { build: bundle, createServer } = await import("vite");
  const place = await project("vite");
  await bundle({ root: place, logLevel: "error", configFile: false });
  const binaries = (await readdir(join(place, "dist"), { recursive: true })).filter((name) => name.endsWith(".wasm"));
  assert.equal(binaries.length, 1, binaries.join());
  const site = await serve(join(place, "dist"));
  try {
    right(await visit(site.url + "/"));
  } finally {
    await site.close();
  }
  const server = await createServer({ root: place, logLevel: "error", configFile: false, server: { host: "127.0.0.1", port: 18390 } });
  await server.listen();
  try {
    right(await visit(server.resolvedUrls.local[0]));
  } finally {
    await server.close();
  }
}, noBrowser);

check("workerd, bundled by esbuild", async () => {
  const { build: bundle } = await import("esbuild");
  const place = await project("workerd");
  await mkdir(join(place, "built"));
  await bundle({
    entryPoints: [join(place, "main.js")], outdir: join(place, "built"), bundle: true, format: "esm", logLevel: "error",
    conditions: ["workerd", "worker", "browser"], loader: { ".wasm": "copy" }, assetNames: "[name]",
  });
  const workerd = createRequire(import.meta.url).resolve("workerd/bin/workerd");
  const child = spawn(workerd, ["serve", "config.capnp", "--control-fd=3"], { cwd: place, stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const ended = new Promise((done) => child.once("exit", done));
  try {
    const port = await new Promise((found, failed) => {
      child.stdio[3].on("data", (line) => found(JSON.parse(String(line).split("\n")[0]).port));
      child.once("exit", (code) => failed(new Error(`workerd ended with ${code} before it listened`)));
    });
    const reply = await fetch(`http://127.0.0.1:${port}/`);
    const text = await reply.text();
    assert.equal(reply.status, 200, text);
    right(JSON.parse(text));
  } finally {
    child.kill();
    await ended;
  }
});

check("a plain page: module script and classic script", async () => {
  const place = await project("script");
  const site = await serve(place);
  try {
    right(await visit(`${site.url}/module.html`));
    right(await visit(`${site.url}/classic.html`));
  } finally {
    await site.close();
  }
}, noBrowser);
