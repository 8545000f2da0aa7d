// Runs every vector over HTTP against the built Worker on workerd. Facts are inserted, and headers of the build with
// test hooks set the time and the seed.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { credentials, serverHeaders } from "../../worker/tools/setup.mjs";
import { fault, record, requestId, vectors } from "../support/vectors.mjs";
import { boot } from "../workerd/harness.mjs";

let worker;
let ran = 0;
const skipped = [];
before(async () => {
  worker = await boot({ testHooks: true });
});
after(async () => {
  await worker?.stop();
  record("http", ran, skipped);
});

const clientHeaders = {
  "content-type": "application/json", origin: "http://localhost:3000",
  "x-client-application-id": credentials.client.id, "x-client-token": credentials.client.token,
};

async function send(path, body, headers = {}) {
  const own = path.startsWith("/client/") ? clientHeaders : serverHeaders;
  const reply = await fetch(`${worker.url}${path}`, { method: "POST", headers: { ...own, ...headers }, body });
  return { status: reply.status, text: await reply.text() };
}

/** Returns the call for a verb. */
function call({ verb, given, request, sent }) {
  // The client policy of the development project is the one that `true` means.
  const client = given.client === true ? "/client" : "";
  if (verb === "validate") return [`${client}/v1/validations`, sent];
  if (verb === "qualify") return [`${client}/v1/qualifications`, sent];
  if (verb === "redeem") return ["/v1/redemptions", sent];
  const { redemption, stack = false, body = {} } = request;
  return [`/v1/redemptions/${redemption}/${stack ? "rollbacks" : "rollback"}`, JSON.stringify(body)];
}

/**
 * Converts an answer to the one of the engine, without the caller. A refused request gets the engine's id, because
 * the entry draws one of its own, which is never the same twice.
 */
function asTheEngineSays(vector, text) {
  const answer = text.replaceAll(`"channel_id":"${serverHeaders["x-app-id"]}"`, '"channel_id":""');
  const { code, request_id: drawn } = JSON.parse(answer);
  return code === undefined ? answer : answer.replace(`"request_id":"${drawn}"`, `"request_id":"${requestId(vector)}"`);
}

for (const vector of vectors()) {
  const lacks = Object.values(vector.given).some((value) => value === null || value.data_ref !== undefined);
  if (vector.given.complete !== true || lacks) {
    skipped.push(`${vector.path}: only a page lacks facts`);
    continue;
  }
  test(vector.path, async () => {
    const { now, seed } = vector.context;
    // By the vector's clock too: by today's its locks have expired, and would be swept.
    const given = await send("/test-hooks/given", JSON.stringify(vector.given), { "scrip-test-now": now });
    assert.ok(given.status < 300, `the facts were not taken: ${given.status} ${given.text}`);
    const [path, body] = call(vector);
    const { status, text } = await send(path, body, { "scrip-test-now": now, "scrip-test-seed": seed });
    assert.equal(fault(vector, "http", asTheEngineSays(vector, text)), "");
    assert.equal(status, JSON.parse(text).code ?? 200);
    ran += 1;
  });
}
