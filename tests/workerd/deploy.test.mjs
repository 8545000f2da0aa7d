// Decides that the released Worker can be deployed as it is: wrangler accepts it, and it holds nothing of the tests.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before } from "node:test";
import { promisify } from "node:util";
import { workerSize } from "../../benches/size.mjs";
import { buildAll, builtFolder } from "../../worker/tools/build.mjs";
import { root } from "../../worker/tools/say.mjs";
import { tally } from "./tally.mjs";

const run = promisify(execFile);
const check = tally("deploy");

before(async () => {
  await buildAll();
}, { timeout: 600_000 });

check("wrangler deploy --dry-run passes", async () => {
  const wrangler = join(root, "node_modules/.bin/wrangler");
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true" };
  const { stdout } = await run(wrangler, ["deploy", "--dry-run", "-c", "worker/wrangler.toml"], { cwd: root, env });
  for (const binding of ["env.PROJECT (Project)", "env.DIRECTORY (Directory)", "env.GATE (Gate)", "env.KV", "env.ASSETS"]) {
    assert.ok(stdout.includes(binding), `${binding} is missing in:\n${stdout}`);
  }
});

// The goal is 1.2 MB; by plain means it is not met (ARCHITECTURE.md, "Known limits"). Images of codes and their two encoders brought
// the last growth but one: what codes are told of publications and what is refused since was paid for by minifying the scripts. Whoever makes
// it larger says here by what.
check("what is uploaded is at most 1.42 MB after gzip", () => {
  const { raw, gzip } = workerSize().whole;
  console.log(`the Worker: ${raw} bytes, ${gzip} gzip`);
  assert.ok(gzip <= 1_420_000, `${gzip} bytes after gzip`);
});

check("the released Worker knows no rehearsal", async () => {
  const wasm = await readFile(join(builtFolder(), "modules/index_bg.wasm"));
  assert.equal(wasm.includes("scrip-rehearsal"), false);
  const rehearsed = await readFile(join(builtFolder(true), "modules/index_bg.wasm"));
  assert.equal(rehearsed.includes("scrip-rehearsal"), true);
});
