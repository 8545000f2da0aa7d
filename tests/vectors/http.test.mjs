// Runs every vector over HTTP against the built Worker on workerd: the facts are given, moment and seed are set by the
// headers that exist in the rehearsal build alone. It must not know how the service works.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serverHeaders } from "../../worker/tools/setup.mjs";
import { fault, record, vectors } from "../support/vectors.mjs";
import { boot } from "../workerd/harness.mjs";

let worker;
let ran = 0;
const skipped = [];
before(async () => {
  worker = await boot({ rehearsal: true });
});
after(async () => {
  await worker?.stop();
  record("http", ran, skipped);
});

async function send(path, body, headers = {}) {
  const reply = await fetch(`${worker.url}${path}`, {
    method: "POST", headers: { ...serverHeaders, ...headers }, body: JSON.stringify(body),
  });
  return { status: reply.status, text: await reply.text() };
}

/** The call that a verb stands for. */
function call({ verb, request }) {
  if (verb === "validate") return ["/v1/validations", request];
  if (verb === "qualify") return ["/v1/qualifications", request];
  if (verb === "redeem") return ["/v1/redemptions", request];
  const { redemption, stack = false, body = {} } = request;
  return [`/v1/redemptions/${redemption}/${stack ? "rollbacks" : "rollback"}`, body];
}

/**
 * What a service adds to the engine's bytes: who asked, and the id of a request that was refused as a whole, which the
 * entry draws and which is never the same twice.
 */
function alike(text) {
  const body = JSON.parse(text.replaceAll(`"channel_id":"${serverHeaders["x-app-id"]}"`, '"channel_id":""'));
  if ("code" in body) delete body.request_id;
  return JSON.stringify(body);
}

for (const vector of vectors()) {
  if (vector.given.complete !== true) {
    skipped.push(`${vector.path}: only a page lacks facts`);
    continue;
  }
  test(vector.path, async () => {
    const { now, seed } = vector.context;
    // By the vector's clock too: by today's its locks have ended, and would be swept.
    const given = await send("/rehearsal/given", vector.given, { "scrip-rehearsal-now": now });
    assert.ok(given.status < 300, `the facts were not taken: ${given.status} ${given.text}`);
    const [path, body] = call(vector);
    const { status, text } = await send(path, body, { "scrip-rehearsal-now": now, "scrip-rehearsal-seed": seed });
    assert.equal(fault(vector, text, alike), "");
    assert.equal(status, JSON.parse(text).code ?? 200);
    ran += 1;
  });
}
