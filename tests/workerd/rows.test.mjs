// Tests that no request costs more rows and statements than its limit in `counting/limits.json`. Limits only fall: `UPDATE=1` lowers them to the counts.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { readFileSync, writeFileSync } from "node:fs";
import { countRequests } from "./counting/counts.mjs";
import { bootCounted } from "./counting/counted_worker.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("rows");
const file = new URL("counting/limits.json", import.meta.url);
const limits = JSON.parse(readFileSync(file, "utf8"));
/**
 * What of one request may be other work: slices of a job, whose number depends on the speed of the machine, and a sweep that happens to be due among
 * the requests. A row more for each request is above it.
 */
const OTHER_WORK = { written: 0.4, statements: 0.4, calls: 20 };
let worker;

before(async () => {
  worker = await bootCounted();
});
after(() => worker?.stop());

check("requests cost at most the rows and statements of their limits", async () => {
  const counts = Object.fromEntries((await countRequests(worker)).map(({ name, ...counted }) => [name, counted]));
  assert.deepEqual(Object.keys(counts), Object.keys(limits), "each counted request has limits");
  const above = [];
  for (const [name, limit] of Object.entries(limits)) {
    for (const [what, most] of Object.entries(limit)) {
      const count = counts[name][what];
      if (count > most + OTHER_WORK[what]) above.push(`${name}: ${count} ${what}, at most ${most}`);
      limit[what] = Math.min(Math.round(count), most);
    }
  }
  assert.deepEqual(above, []);
  if (process.env.UPDATE) writeFileSync(file, `${JSON.stringify(limits, null, 2)}\n`);
});
