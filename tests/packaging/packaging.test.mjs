// Tests the published files where they are used. The packed tarball, installed from its file into tiny projects, gives the same bytes in
// Node, under a bundler, on workerd and from a script tag.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { build, measureSizes } from "../../pkg-template/build.mjs";
import { launch, missing } from "../browser/chromium.mjs";
import { serve } from "../browser/static_server.mjs";
import { countTests } from "../browser/test_report.mjs";
import { keyPair, rules, startServer } from "./bundle_server.mjs";
import { answerFile, pack, pkg, right, run, visit } from "./hosts.mjs";

const check = countTests("packaging");
const noBrowser = missing();

let folder;
let packed;
let browser;
let project;

before(async () => {
  if (!existsSync(join(pkg, "scrip.wasm"))) await build(pkg);
  folder = await mkdtemp(join(tmpdir(), "scrip-packaging-"));
  ({ packed, project } = await pack(folder));
  if (!noBrowser) browser = await launch();
}, { timeout: 600_000 });

after(async () => {
  await browser?.close();
  await rm(folder, { recursive: true, force: true });
});

check("the tarball has one binary, types for both kinds of module, and nothing of the build", async () => {
  const names = packed.files.map((file) => file.path).sort();
  assert.deepEqual(names, [
    "LICENSE", "README.md", "api.js", "backtest.cjs", "backtest.d.cts", "backtest.d.ts", "backtest.js", "browser.js", "engine.js", "node.cjs", "node.js", "package.json", "react.cjs", "react.d.cts",
    "react.d.ts", "react.js", "scrip.d.cts", "scrip.d.ts", "scrip.wasm", "script.js", "service.js", "slim.d.ts", "slim.js", "workerd.js",
  ]);
  for (const name of names.filter((each) => /\.c?js$/.test(each))) {
    const text = readFileSync(join(pkg, name), "utf8");
    assert.ok(!/AGFzbQ|data:application\/wasm/.test(text), `${name} carries a copy of the binary`);
  }
});

// The goal is 170 kB; by plain means it is not met (docs/limits.md). Signatures of bundles added 5 kB: 9 of Ed25519 and SHA-512, less 4 of
// data in one piece. Checked sums of discounts and units added 0.8, the search for the best stack 12.7, prices of listing pages 7.1, and
// checks of finality and documents joined by id 3.4. Bounds and doubts of prices, counts across the orders of a back-test and the goods that
// a request needs brought 8.3, and totals of an order's own time in a back-test the last 0.4.
check("the binary is at most 311 kB after brotli", async () => {
  const { raw, gzip, brotli } = await measureSizes(join(pkg, "scrip.wasm"));
  console.log(`scrip.wasm: ${raw} bytes, ${gzip} gzip, ${brotli} brotli`);
  assert.ok(brotli <= 311_000, `${brotli} bytes after brotli`);
});

check("Node, ES modules", async () => {
  const place = await project("node-esm");
  const result = JSON.parse((await run(process.execPath, ["main.mjs"], { cwd: place })).stdout);
  // Only this host may write the answer; all the others are compared with it.
  if (process.env.UPDATE === "1") writeFileSync(answerFile, `${result.answers.text}\n`);
  right(result);
});

/** Returns the README's examples that import something, as the tarball has them. */
const examples = (place) => [...readFileSync(join(place, "node_modules/@scrip-edge/page/README.md"), "utf8").matchAll(/```js\n(import [^`]*?)```/g)].map(([, text]) => text);

check("the README's first example, character by character: a checkout in ten lines", async () => {
  const place = join(folder, "node-esm");
  const [example] = examples(place);
  assert.equal(example.trim().split("\n").filter(Boolean).length, 10);
  const server = await startServer();
  const voucher = { id: "v_1", code: "SPRING-10", type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 }, active: true };
  server.serve(keyPair(), rules({ vouchers: [voucher] }));
  server.state.instead.redemptions = (_, response) => response.writeHead(200).end('{"redemptions":[{"id":"r_1"}]}');
  await writeFile(join(place, "readme-open.mjs"), example);
  await writeFile(join(place, "redirect.mjs"), `const { fetch } = globalThis;
globalThis.fetch = (url, options) => fetch(String(url).replace("https://promotions.example", process.env.SERVICE), options);
`);
  try {
    const env = { ...process.env, SERVICE: server.base };
    const { stdout } = await run(process.execPath, ["--import", "./redirect.mjs", "readme-open.mjs"], { cwd: place, env });
    assert.equal(stdout, "to pay: 8820\nredeemed\n");
  } finally {
    server.close();
  }
});

check("the README's example of rules without the service, character by character", async () => {
  const place = join(folder, "node-esm");
  const example = examples(place).find((text) => text.includes("prepare"));
  await writeFile(join(place, "readme.mjs"), `${example}\nconsole.log(JSON.stringify(verdict));\n`);
  const verdict = JSON.parse((await run(process.execPath, ["readme.mjs"], { cwd: place })).stdout);
  assert.equal(verdict.valid, true);
  assert.equal(verdict.order.total_amount, 8820);
});

check("the README's example of a back-test, character by character, and the same from CommonJS", async () => {
  const place = join(folder, "node-esm");
  const example = examples(place).find((text) => text.includes("backTest"));
  await writeFile(join(place, "readme-backtest.mjs"), example);
  const required = example.replace(/^import (.*) from (.*);/, "const $1 = require($2);\n(async () => {").concat("})();");
  await writeFile(join(place, "readme-backtest.cjs"), required);
  for (const name of ["readme-backtest.mjs", "readme-backtest.cjs"]) assert.equal((await run(process.execPath, [name], { cwd: place })).stdout, "980 for 1\n", name);
});

check("the entries export `load`, `open` and `prepare`, and none of the pieces of `open`", async () => {
  const require = createRequire(import.meta.url);
  const names = async (entry) => Object.keys(entry.endsWith(".cjs") ? require(join(pkg, entry)) : await import(join(pkg, entry))).sort();
  for (const entry of ["node.js", "node.cjs", "browser.js"]) assert.deepEqual(await names(entry), ["load", "open", "prepare"], entry);
  assert.deepEqual(await names("slim.js"), ["load", "loadSync", "open", "prepare"]);
  const installed = createRequire(join(folder, "node-esm/main.mjs"));
  assert.throws(() => installed.resolve("@scrip-edge/page/service.js"), { code: "ERR_PACKAGE_PATH_NOT_EXPORTED" });
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
    right(await visit(browser, site.url + "/"));
  } finally {
    await site.close();
  }
  const server = await createServer({ root: place, logLevel: "error", configFile: false, server: { host: "127.0.0.1", port: 18390 } });
  await server.listen();
  try {
    right(await visit(browser, server.resolvedUrls.local[0]));
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

const policyOf = (scripts) => ({ "content-security-policy": `default-src 'none'; script-src ${scripts}; connect-src 'self' http://127.0.0.1:1 ws://127.0.0.1:1` });

check("a plain page: module script and classic script, under a content security policy", async () => {
  const place = await project("script");
  const site = await serve(place, policyOf("'self' 'wasm-unsafe-eval'"));
  const closed = await serve(place, policyOf("'self'"));
  try {
    for (const page of ["module.html", "classic.html"]) {
      right(await visit(browser, `${site.url}/${page}`));
      await assert.rejects(visit(browser, `${closed.url}/${page}`), /the engine could not be loaded/, "the policy counts");
    }
  } finally {
    await site.close();
    await closed.close();
  }
}, noBrowser);
