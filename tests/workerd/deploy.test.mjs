// Tests that the released Worker can be deployed: wrangler accepts it, and it contains nothing of the tests.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { before } from "node:test";
import { promisify } from "node:util";
import { workerSize } from "../../benches/size.mjs";
import { buildAll, builtFolder } from "../../worker/tools/build.mjs";
import { root } from "../../worker/tools/console.mjs";
import { countTests } from "./test_report.mjs";

const run = promisify(execFile);
const check = countTests("deploy");

before(async () => {
  await buildAll();
}, { timeout: 600_000 });

check("wrangler deploy --dry-run passes", async () => {
  const wrangler = join(root, "node_modules/.bin/wrangler");
  const env = { ...process.env, WRANGLER_SEND_METRICS: "false", CI: "true" };
  const { stdout } = await run(wrangler, ["deploy", "--dry-run", "-c", "worker/wrangler.toml"], { cwd: root, env });
  for (const binding of ["env.PROJECT (Project)", "env.DIRECTORY (Directory)", "env.GATE (Gate)", "env.FEED (Feed)", "env.KV", "env.ASSETS"]) {
    assert.ok(stdout.includes(binding), `${binding} is missing in:\n${stdout}`);
  }
});

// The goal is 1.2 MB; by plain means it is not met (docs/limits.md). Images of codes and their two encoders brought the
// last growth but one; minifying the scripts paid for the publications of codes and their refusals. Returns, comparison without case and
// strict rules brought 60 kB more. Returned rewards, users of organisations and the share of each key brought 19 kB. Checked arithmetic,
// typed records, named queries of the store, plain texts of refusals and the library for routes brought 16 kB. Signed bundles brought 31 kB: Ed25519 and
// SHA-512, their keys, heads, horizon and parts. Bundles built on change and copied to KV, the feed, the visibility of offers and supplements of
// customers brought 50 kB (1.645 MB in all). Sets of goods, sealed codes and the following of settings and copies brought 120 kB; faults in place of
// silent defaults and further checked sums brought 7 kB (1.772 MB in all). The search for the best stack and the core of a bundle in slices brought 38 kB
// (1.81 MB in all). Replays of redemptions and verdicts of the entry, with their own cipher keys and compression, brought 72 kB (1.882 MB in all). The
// age of what the entry answers by and builds that read only changed documents again brought 13 kB. Decisions
// of the entry in the instance of the objects, whose traps end no waiting request, brought 9 kB (1.904 MB in all). The ledger in two tables while
// earlier transfers move, balances that are kept when a rule asks, and kept configuration and callers brought 19 kB (1.923 MB in all). Tables of records,
// the move to them and the migration of their counts brought 14 kB (1.937 MB in all). Indexes on demand, and the
// statement that reads all vouchers of a request, brought the last 12 kB (1.949 MB in all).
// A change that makes the upload larger gives its reason here.
check("the upload is at most 1.95 MB after gzip", () => {
  const { raw, gzip } = workerSize().whole;
  console.log(`the Worker: ${raw} bytes, ${gzip} gzip`);
  assert.ok(gzip <= 1_950_000, `${gzip} bytes after gzip`);
});

check("the released Worker has no test hooks", async () => {
  const wasm = await readFile(join(builtFolder(), "modules/index_bg.wasm"));
  assert.equal(wasm.includes("scrip-test-"), false);
  const withHooks = await readFile(join(builtFolder(true), "modules/index_bg.wasm"));
  assert.equal(withHooks.includes("scrip-test-"), true);
});
