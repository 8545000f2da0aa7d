// Tests that a failure inside a commit writes nothing and affects no other request: thrown, panicked, out of stack, refused by SQL. For
// each the log has one line of JSON that names the request and its route, and nothing of its contents.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { builtFolder } from "../../worker/tools/build.mjs";
import { createSymbolicator, NAMES } from "../../worker/tools/symbolicate.mjs";
import { boot, caller } from "./harness.mjs";
import { codeOf, redeem, redeemedOf, standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("faults");
const symbolicate = createSymbolicator(join(builtFolder(true), NAMES));
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

for (const fault of ["throw", "sql", "panic", "overflow"]) {
  check(`${fault} in the middle of a commit: 500, nothing written, the next request is served`, async () => {
    const code = await standalone(call, { quantity: 5 });
    const first = await redeem(call, code);
    assert.equal(first.status, 200, JSON.stringify(first.body));

    const failed = await redeem(call, code, { "scrip-test-fault": fault });
    assert.equal(failed.status, 500);
    const { details, ...body } = failed.body;
    assert.deepEqual(body, {
      code: 500,
      key: "internal_error",
      message: "Internal error",
      request_id: failed.headers.get("x-request-id"),
    });
    assert.doesNotMatch(details ?? "", /injected|panic|wasm|sql|rust/i, "the caller learns nothing of the inside");
    assert.match(failed.body.request_id, /^v-[0-9a-f]{18}$/);
    assert.equal(await redeemedOf(call, code), 1);
    const { body: listed } = await call("GET", `/v1/redemptions?filters[voucher_code][conditions][$is][0]=${code}`);
    assert.equal(listed.redemptions.filter((one) => codeOf(one) === code).length, 1);

    const next = await redeem(call, code);
    assert.equal(next.status, 200, JSON.stringify(next.body));
    assert.equal(await redeemedOf(call, code), 2);
  });
}

check("a failed first attempt does not use up its Idempotency-Key", async () => {
  const code = await standalone(call, { quantity: 5 });
  const key = { "idempotency-key": "after-a-panic" };
  const failed = await redeem(call, code, { ...key, "scrip-test-fault": "panic" });
  assert.equal(failed.status, 500);
  const again = await redeem(call, code, key);
  assert.equal(again.status, 200, JSON.stringify(again.body));
  const replayed = await redeem(call, code, key);
  assert.deepEqual(replayed.body, again.body);
  assert.equal(await redeemedOf(call, code), 1);
});

check("panics and overflows among a hundred requests in flight: every neighbour is answered and counted", async () => {
  const code = await standalone(call, { quantity: 1_000 });
  const faults = ["panic", "overflow", "throw"];
  const calls = Array.from({ length: 100 }, (_, at) => {
    const fault = at % 5 === 0 ? { "scrip-test-fault": faults[at % 3] } : {};
    return redeem(call, code, fault).then((answer) => ({ answer, hurt: at % 5 === 0 }));
  });
  const answers = await Promise.all(calls);
  for (const { answer, hurt } of answers) assert.equal(answer.status, hurt ? 500 : 200, JSON.stringify(answer.body));
  assert.equal(await redeemedOf(call, code), 80);
});

for (const [fault, message] of [["throw", /the commit fails/], ["sql", /no_such_table/], ["panic", /^panicked at worker\/src\/store\/fault_injection.rs:[\s\S]*unreachable/], ["overflow", /out of bounds|Maximum call stack/]]) {
  check(`${fault} is one line of JSON in the log, with the request's id and its route`, async () => {
    const code = await standalone(call, { quantity: 5 });
    const failed = await redeem(call, code, { "scrip-test-fault": fault, "x-note": "anna@example.com" });
    assert.equal(failed.status, 500);
    const lines = await loggedOf(failed.body.request_id);
    assert.equal(lines.length, 1, lines.join("\n"));
    const { at, error, ...line } = JSON.parse(lines[0]);
    const request_id = failed.body.request_id;
    assert.deepEqual(line, { level: "error", event: "request_failed", object: "proj_dev", request_id, status: 500, route: "POST /v1/redemptions" });
    assert.match(at, /^\d{4}-\d\d-\d\dT/);
    assert.match(error, message);
    if (fault === "panic") assert.match(symbolicate(error), /scrip_worker::store::Store::flush/, "a stack can be read");
    for (const sent of [code, "anna@example.com", "dev-token", "prod_shoe"]) assert.ok(!lines[0].includes(sent), `the log contains ${sent}`);
  });
}

check("a path with personal data is not in the log, its route is", async () => {
  assert.equal((await call("POST", "/v1/customers", { source_id: "anna@example.com" })).status, 200);
  const failed = await call("PUT", "/v1/customers/anna%40example.com", { name: "Anna" }, { "scrip-test-fault": "throw" });
  assert.equal(failed.status, 500, JSON.stringify(failed.body));
  const [line] = await loggedOf(failed.body.request_id);
  assert.equal(JSON.parse(line).route, "PUT /v1/customers/{customerId}");
  assert.doesNotMatch(line, /anna/i);
});

check("every line that the service wrote is JSON", async () => {
  const lines = (await readFile(service.log, "utf8")).split("\n").filter(Boolean);
  const ours = lines.filter((line) => !/^workerd\/|^\S+\.c\+\+:/.test(line));
  assert.ok(ours.length > 0);
  for (const line of ours) assert.doesNotThrow(() => JSON.parse(line), line);
});

/** Returns the lines of the log that name a request; they come through another pipe than the answer. */
async function loggedOf(requestId) {
  for (let tries = 0; ; tries += 1) {
    const lines = (await readFile(service.log, "utf8")).split("\n").filter((line) => line.includes(requestId));
    if (lines.length > 0 || tries > 40) return lines;
    await sleep(50);
  }
}
