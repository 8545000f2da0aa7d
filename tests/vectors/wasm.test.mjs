// Runs every vector against the wasm of the packed package, by its Node entry and with each kind of input: text, bytes and objects.
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { scrip } from "../support/package.mjs";
import { fault, record, vectors } from "../support/vectors.mjs";

let ran = 0;
const skipped = [];
after(() => record("wasm", ran, skipped));

const all = vectors();
const decided = all.filter(({ verb }) => verb === "validate" || verb === "qualify");
// A page cannot redeem: only the server has the counts.
if (decided.length < all.length) skipped.push(`${all.length - decided.length} redemptions and rollbacks: the package decides validations and qualifications only`);

for (const vector of decided) {
  test(vector.path, () => {
    const prepared = scrip.prepare(vector.given);
    const { verb, sent } = vector;
    const answer = prepared[verb](sent, vector.context);
    assert.equal(fault(vector, "wasm", answer), "");
    const bytes = prepared[`${verb}Bytes`](new TextEncoder().encode(sent), vector.context);
    assert.equal(new TextDecoder().decode(bytes), answer, "bytes in and out");
    assert.equal(JSON.stringify(prepared[`${verb}Object`](vector.request, vector.context)), JSON.stringify(JSON.parse(answer)), "objects in and out");
    prepared.free();
    ran += 1;
  });
}
