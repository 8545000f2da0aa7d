// Tests that a decision of the entry which traps ends no other request: the object answers this one, those that wait are answered, and the
// entry decides the next ones.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { developmentText, serverHeaders } from "../../worker/tools/setup.mjs";
import { boot, caller, pageHeaders as page } from "./harness.mjs";
import { send } from "./raw_socket.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("edge traps");
const validations = "/client/v1/validations";
let folder;
let service;
let call;
let request;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "scrip-traps-"));
  const setup = JSON.parse(developmentText());
  // The limit of calls in general is another matter.
  for (const project of setup.projects) project.rate_limits = { client: {} };
  service = await boot({ data: folder, setup: JSON.stringify(setup), edgeSecret: "a secret of the tests, long enough" });
  call = caller(service.url);
  const campaign = await call("POST", "/v1/campaigns", { name: "Tiers", campaign_type: "PROMOTION" });
  const tier = await call("POST", `/v1/promotions/${campaign.body.id}/tiers`, { name: "Ten", action: { discount: { type: "PERCENT", percent_off: 10 } } });
  assert.equal(tier.status, 200, JSON.stringify(tier.body));
  request = { redeemables: [{ object: "promotion_tier", id: tier.body.id }], order: { amount: 10_000 } };
});
after(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Sends a validation of a page; returns its status, total and the part that answered. */
async function validate(more = {}) {
  const reply = await fetch(`${service.url}${validations}`, { method: "POST", headers: page, body: JSON.stringify({ ...request, ...more }) });
  const text = await reply.text();
  return { status: reply.status, text, by: reply.headers.get("scrip-answered"), id: reply.headers.get("x-request-id") };
}
const untilEdge = () => waitUntil(async () => {
  const answer = await validate();
  assert.equal(answer.status, 200, answer.text);
  return answer.by === "edge";
}, () => "an answer of the entry");

/** Begins a call whose body ends only when `end` is called; the entry waits for it meanwhile. */
function beginSlow(code) {
  const body = new TransformStream();
  const writer = body.writable.getWriter();
  const bytes = new TextEncoder().encode(JSON.stringify({ discount: { type: "AMOUNT", amount_off: 100 } }));
  const answer = fetch(`${service.url}/v1/vouchers/${code}`, { method: "POST", headers: serverHeaders, body: body.readable, duplex: "half" });
  writer.write(bytes.slice(0, 10));
  return {
    end: async () => {
      await writer.write(bytes.slice(10));
      await writer.close();
      const reply = await answer;
      return { status: reply.status, text: await reply.text() };
    },
  };
}

for (const [fault, message] of [["panic", /the decision panics/], ["overflow", /out of bounds|Maximum call stack/]]) {
  check(`a decision with ${fault}: the object answers, requests that wait are answered, and the entry decides the next ones`, async () => {
    await untilEdge();
    const slow = Array.from({ length: 5 }, (_, at) => beginSlow(`SLOW-${fault}-${at}`));
    await sleep(300);
    const trapped = await validate({ metadata: { scrip_test_fault: fault } });
    assert.deepEqual([trapped.status, trapped.by], [200, "object"], trapped.text);
    assert.equal(JSON.parse(trapped.text).order.total_amount, 9_000);
    for (const { status, text } of await Promise.all(slow.map(({ end }) => end()))) assert.equal(status, 200, text);
    await untilEdge();
    const lines = (await readFile(service.log, "utf8")).split("\n").filter((line) => line.includes(trapped.id));
    assert.equal(lines.length, 1, lines.join("\n"));
    const { level, event, object, error } = JSON.parse(lines[0]);
    assert.deepEqual([level, event, object], ["error", "edge_decision_failed", "proj_dev"]);
    assert.match(error, message);
  });
}

for (const fault of ["panic", "overflow"]) {
  check(`${fault} in the entry's own code: requests that wait there get 500 at once, and the next ones are answered`, async () => {
    const lines = Object.entries({ host: "scrip", connection: "close", "content-length": 100, ...serverHeaders });
    const head = `POST /v1/vouchers/OWN HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    const begun = Date.now();
    const waiting = Array.from({ length: 3 }, () => send(service.url, `${head}{`, 24_000));
    await sleep(300);
    const trapped = await fetch(`${service.url}/v1/vouchers/NONE`, { headers: { ...serverHeaders, "scrip-test-entry-fault": fault } });
    assert.equal(trapped.status, 500);
    const { key, request_id } = await trapped.json();
    assert.deepEqual([key, request_id], ["internal_error", trapped.headers.get("x-request-id")]);
    for (const { statuses, text } of await Promise.all(waiting)) assert.deepEqual(statuses, [500], text);
    assert.ok(Date.now() - begun < 10_000);
    assert.equal((await call("GET", "/v1/campaigns")).status, 200);
    await untilEdge();
    const logged = (await readFile(service.log, "utf8")).split("\n").filter((line) => line.includes(request_id));
    assert.equal(logged.length, 1, logged.join("\n"));
    assert.equal(JSON.parse(logged[0]).event, "request_failed");
  });
}

for (const fault of ["panic", "overflow"]) {
  check(`${fault} in the entry after a wait: the request that waited gets 500 at once, without another one`, async () => {
    const begun = Date.now();
    const trapped = await fetch(`${service.url}/v1/vouchers/NONE`, { headers: { ...serverHeaders, "scrip-test-late-entry-fault": fault } });
    assert.equal(trapped.status, 500);
    assert.equal((await trapped.json()).key, "internal_error");
    assert.ok(Date.now() - begun < 10_000, `after ${Date.now() - begun} ms`);
    assert.equal((await call("GET", "/v1/campaigns")).status, 200);
    await untilEdge();
  });
}

check("decisions that trap among others: each is answered", async () => {
  await untilEdge();
  const answers = await Promise.all(Array.from({ length: 60 }, (_, at) => {
    const metadata = at % 6 === 0 ? { metadata: { scrip_test_fault: at % 4 === 0 ? "panic" : "overflow" } } : {};
    return validate(metadata);
  }));
  for (const { status, text } of answers) {
    assert.equal(status, 200, text);
    assert.equal(JSON.parse(text).order.total_amount, 9_000);
  }
});
