// Runs every vector over HTTP against the built Worker on workerd: the facts are given, moment and seed are set by the
// headers that exist in the rehearsal build alone. It must not know how the service works.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { serverHeaders } from "../../worker/tools/setup.mjs";
import { fault, record, requestId, vectors } from "../support/vectors.mjs";
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
    method: "POST", headers: { ...serverHeaders, ...headers }, body,
  });
  return { status: reply.status, text: await reply.text() };
}

/** The call that a verb stands for. */
function call({ verb, request, sent }) {
  if (verb === "validate") return ["/v1/validations", sent];
  if (verb === "qualify") return ["/v1/qualifications", sent];
  if (verb === "redeem") return ["/v1/redemptions", sent];
  const { redemption, stack = false, body = {} } = request;
  return [`/v1/redemptions/${redemption}/${stack ? "rollbacks" : "rollback"}`, JSON.stringify(body)];
}

/**
 * An answer as the engine alone gives it: without who asked, and with the id that the engine draws for a request that is
 * refused as a whole, because the entry draws one of its own, which is never the same twice.
 */
function asTheEngineSays(vector, text) {
  const said = text.replaceAll(`"channel_id":"${serverHeaders["x-app-id"]}"`, '"channel_id":""');
  const { code, request_id: drawn } = JSON.parse(said);
  return code === undefined ? said : said.replace(`"request_id":"${drawn}"`, `"request_id":"${requestId(vector)}"`);
}

for (const vector of vectors()) {
  if (vector.given.complete !== true) {
    skipped.push(`${vector.path}: only a page lacks facts`);
    continue;
  }
  test(vector.path, async () => {
    const { now, seed } = vector.context;
    // By the vector's clock too: by today's its locks have ended, and would be swept.
    const given = await send("/rehearsal/given", JSON.stringify(vector.given), { "scrip-rehearsal-now": now });
    assert.ok(given.status < 300, `the facts were not taken: ${given.status} ${given.text}`);
    const [path, body] = call(vector);
    const { status, text } = await send(path, body, { "scrip-rehearsal-now": now, "scrip-rehearsal-seed": seed });
    assert.equal(fault(vector, "http", asTheEngineSays(vector, text)), "");
    assert.equal(status, JSON.parse(text).code ?? 200);
    ran += 1;
  });
}
