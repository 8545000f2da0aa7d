// Tests that the package frees memory: of freed rules and of finished calls, without harm to each other.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before } from "node:test";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { build } from "../../pkg-template/build.mjs";
import { countTests } from "../browser/test_report.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const pkg = join(here, "../../pkg");
const { rules, request, context } = JSON.parse(readFileSync(join(here, "basket.json"), "utf8"));
const check = countTests("packaging");
const text = JSON.stringify(request);

let scrip;
let memory;

before(async () => {
  if (!existsSync(join(pkg, "scrip.wasm"))) await build(pkg);
  scrip = await import("../../pkg/node.js");
  // Imported again, the glue returns the loaded instance.
  ({ memory } = (await import("../../pkg/engine.js")).initSync());
}, { timeout: 600_000 });

/** Returns rules with this many codes, so that they fill more than a page of memory. */
const many = (count) => JSON.stringify({
  ...rules,
  vouchers: [...rules.vouchers, ...Array.from({ length: count }, (_, place) => ({
    id: `v_${place}`, code: `CODE-${place}`, discount: { type: "PERCENT", percent_off: 1 + place % 90 },
  }))],
});

/** Checks that memory after twice the rounds is the same as after the first ones. */
function steady(rounds, work) {
  for (let round = 0; round < rounds; round += 1) work(round);
  const then = memory.buffer.byteLength;
  for (let round = 0; round < rounds * 2; round += 1) work(round);
  assert.equal(memory.buffer.byteLength, then);
}

check("freed rules leave their memory to the next, at any size", () => {
  const sizes = [1, 900, 40, 3000, 300].map(many);
  steady(20, (round) => scrip.prepare(sizes[round % sizes.length]).free());
});

check("newer rules replace older ones while those still answer", () => {
  const sizes = [500, 700].map(many);
  let held = scrip.prepare(sizes[0]);
  const expected = held.validate(text, context);
  steady(20, (round) => {
    const newer = scrip.prepare(sizes[round % sizes.length]);
    assert.equal(held.validate(text, context), expected);
    held.free();
    assert.equal(newer.validate(text, context), expected);
    held = newer;
  });
  held.free();
});

check("calls, large and small, good and bad, leak no memory and disturb no rules", () => {
  const [small, large] = [1, 2000].map((count) => scrip.prepare(many(count)));
  const expected = [small, large].map((held) => held.validate(text, context));
  const padded = JSON.stringify({ ...request, metadata: { note: "ä".repeat(300_000) } });
  steady(20, (round) => {
    const bytes = large.validateBytes(new TextEncoder().encode(round % 2 ? padded : text), context);
    const copy = bytes.slice();
    large.qualify(JSON.stringify({ order: request.order }), context);
    assert.throws(() => small.validate(text, { seed: "xyz" }), /^Error: seed `xyz` must be/);
    assert.throws(() => scrip.prepare(`{"vouchers":5}`), /^Error: rules\.vouchers: must be an array/);
    assert.equal(JSON.parse(small.validate("{", context)).code, 400);
    assert.deepEqual([small, large].map((held) => held.validate(text, context)), expected);
    assert.equal(small.hash.length, 64);
    assert.deepEqual(bytes, copy, "an answer in bytes is the caller's");
  });
  small.free();
  large.free();
});

check("rules without a reference are freed", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  const rules = many(2000);
  const round = async () => {
    for (let count = 0; count < 10; count += 1) scrip.prepare(rules);
    collect();
    await new Promise((done) => { setTimeout(done, 20); });
  };
  await round();
  await round();
  const then = memory.buffer.byteLength;
  for (let count = 0; count < 4; count += 1) await round();
  assert.equal(memory.buffer.byteLength, then);
});
