// Sends the same request to the service and to a shop of the package, and compares a final verdict of the package with the service's bytes.
import assert from "node:assert/strict";

const utf8 = new TextDecoder();
// No refusal depends on its seed. The test build takes one from a header too, and then leaves out tracking ids.
const ANY_SEED = "00".repeat(32);

/**
 * Compares the answer to a request. One that the entry has given is compared, and then that of the object, which gets requests with a query:
 * so both differ in their seeds alone. `isByEntry` is true for such a request.
 */
export async function compare(service, shop, call, now) {
  const first = await compareAnswer(service, shop, call, now);
  if (first.by !== "edge") return first;
  const second = await compareAnswer(service, shop, { ...call, query: "?by=object" }, now);
  assert.equal(second.by, "object");
  return { ...first, wrong: first.wrong ?? second.wrong, isByEntry: true };
}

/**
 * Sends a request to the service and has the shop decide it at the same time and by the same seed. Returns `missing` for a provisional
 * verdict, and `wrong` with both texts for a final one that differs. `granted` is true if the service grants or finds anything. It is
 * absent if the service refuses the whole request.
 */
async function compareAnswer({ url, headers }, shop, { path, request, query = "" }, now) {
  const text = JSON.stringify(request);
  const send = () => fetch(`${url}${path}${query}`, { method: "POST", body: text, headers: { ...headers, "scrip-test-now": String(now) } });
  // While the shops of this process decide, the service may close a connection that it sees as idle. A verdict changes nothing, so it is asked again.
  const reply = await send().catch((error) => (error.cause?.code === "UND_ERR_SOCKET" ? send() : Promise.reject(error)));
  const service = utf8.decode(await reply.arrayBuffer());
  // An answer that has nothing to do with the request compares nothing.
  assert.ok(reply.status < 500 && ![401, 403, 404, 429].includes(reply.status), `${path} ${text}: ${reply.status} ${service}`);
  // A refusal has no time of its decision; the header of the test build has.
  const decidedAt = JSON.parse(reply.headers.get("scrip-context") ?? "null") ?? { now, seed: ANY_SEED };
  const by = reply.headers.get("scrip-answered");
  const verdict = await (path.endsWith("/validations") ? shop.check(text, decidedAt) : shop.qualify(text, decidedAt));
  const own = verdict.text;
  const { missing, omitted } = JSON.parse(own);
  assert.equal(verdict.kind, isVerdict(own) ? (missing ? "provisional" : "final") : "unreadable");
  assert.ok(verdict.kind === "final" || (verdict.valid === undefined && verdict.order === undefined && verdict.offers === undefined), own);
  const { valid, redeemables } = JSON.parse(service);
  const granted = reply.status === 200 ? (valid ?? redeemables.total > 0) : undefined;
  if (missing) {
    assert.ok(missing.length > 0, `a verdict with an empty list of missing facts: ${own}`);
    return { missing, granted, by };
  }
  const [left, right] = omitted ? withoutOmitted(own, service, omitted) : [own, service].map((answer) => withoutRequestId(answer, reply.status));
  return { granted, by, wrong: left === right ? undefined : { status: reply.status, service, own, context: decidedAt } };
}

/** Returns whether an answer is a verdict, and no error about the request. */
function isVerdict(answer) {
  const { valid, redeemables } = JSON.parse(answer);
  return valid !== undefined || redeemables !== undefined;
}

/** Returns both texts without the fields that the package left out, and without its list of them. */
function withoutOmitted(own, service, omitted) {
  let [left, right] = [own.replace(`,"omitted":${JSON.stringify(omitted)}`, ""), service];
  for (const name of omitted) {
    assert.ok(!(name in JSON.parse(own)), `an omitted field is there: ${own}`);
    // The omitted fields are texts without escapes, and are present once and before others.
    right = right.replace(new RegExp(`"${name}":"[^"]*",`), "");
  }
  return [left, right];
}

/** Returns an answer without the id of its request where the whole request is refused: such an answer does not contain the seed. */
function withoutRequestId(answer, status) {
  return status === 200 ? answer : answer.replace(/"request_id":"v-[0-9a-f]{18}"/, "");
}
