// Tests that a large export is streamed from an object that continues to serve, and aborts instead of ending early. A large file can be
// imported while the object serves.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("exports");
const ROWS = 100_000;
const MIB = 1_048_576;
const SERVER = { "x-app-id": "dev-app", "x-app-token": "dev-token" };
let service;
let call;
let campaign;

before(async () => {
  service = await boot();
  call = caller(service.url);
  const voucher = { discount: { type: "AMOUNT", amount_off: 100 } };
  const made = await call("POST", "/v1/campaigns", { name: "Large", vouchers_count: ROWS, voucher, metadata: { why: "x".repeat(100) } });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  campaign = made.body.id;
  await until(`/v1/campaigns/${campaign}`, (body) => body.creation_status === "DONE");
});
after(() => service?.stop());

function until(path, isOver) {
  return waitUntil(async () => {
    const { body } = await call("GET", path);
    return isOver(body) && body;
  }, `the end of ${path}`, { pause: 200 });
}

async function exported(parameters) {
  const created = await call("POST", "/v1/exports", { exported_object: "voucher", parameters });
  assert.equal(created.status, 200, JSON.stringify(created.body));
  assert.equal(created.body.status, "SCHEDULED");
  const done = await until(`/v1/exports/${created.body.id}`, (body) => body.status === "DONE" || body.status === "ERROR");
  assert.equal(done.status, "DONE");
  return done;
}

const WIDE = ["formula", "category", "start_date", "expiration_date", "redemption_count", "active", "is_referral_code", "updated_at", "campaign_id", ...Array.from({ length: 80 }, (_, place) => `metadata.why-${place}`)];
const FIELDS = ["code", "voucher_type", "value", "discount_type", "campaign", "created_at", "id", "metadata"];

check(`lists of ${ROWS} codes make the indexes that they need`, async (context) => {
  for (const query of ["order=-updated_at", "filters[type][conditions][$is]=DISCOUNT_VOUCHER&filters[junction]=AND", "order=updated_at&limit=3"]) {
    const startedAt = performance.now();
    const first = await call("GET", `/v1/vouchers?${query}`);
    const madeAt = performance.now();
    const second = await call("GET", `/v1/vouchers?${query}`);
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.deepEqual(second.body, first.body);
    assert.equal(first.body.total, ROWS);
    context.diagnostic(`${query}: ${Math.round(madeAt - startedAt)} ms, then ${Math.round(performance.now() - madeAt)} ms`);
  }
});

check(`${ROWS} rows are downloaded by a link, in parts, while the object serves`, async (context) => {
  const startedAt = performance.now();
  const done = await exported({ fields: FIELDS, campaign_id: campaign, order: "code" });
  context.diagnostic(`written in ${Math.round(performance.now() - startedAt)} ms`);
  assert.ok(done.result.url.startsWith(`${service.url}/v1/exports/${done.id}?token=`), done.result.url);
  const reply = await fetch(done.result.url);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("content-type"), "text/csv; charset=utf-8");
  assert.equal(reply.headers.get("content-disposition"), `attachment; filename="${done.id}.csv"`);
  assert.equal(reply.headers.get("scrip-next"), null);
  const [from, decoder] = [performance.now(), new TextDecoder()];
  let [text, largest, served] = ["", 0, 0];
  for await (const chunk of reply.body) {
    text += decoder.decode(chunk, { stream: true });
    largest = Math.max(largest, chunk.byteLength);
    if (text.length > served * 2 * MIB) {
      served += 1;
      assert.equal((await call("GET", `/v1/campaigns/${campaign}`)).status, 200);
    }
  }
  const lines = text.split("\n");
  assert.equal(lines[0], FIELDS.join(","));
  assert.equal(lines.length, ROWS + 2);
  const codes = lines.slice(1, -1).map((line) => line.split(",")[0]);
  assert.equal(Number(reply.headers.get("content-length")), text.length);
  assert.equal(new Set(codes).size, ROWS);
  assert.ok(codes.every((code, place) => place === 0 || codes[place - 1] < code), "in the order that was asked for");
  assert.ok(largest < 2 * MIB, `a chunk has ${largest} bytes`);
  context.diagnostic(`${text.length} bytes in ${Math.round(performance.now() - from)} ms, chunks of ${largest} at most`);
}, { timeout: 400_000 });

check("a wrong link opens nothing, and a download whose export is deleted breaks off", async () => {
  // More than lies in the buffers between the two ends.
  const done = await exported({ fields: [...FIELDS, ...WIDE], campaign_id: campaign });
  for (const url of [`${done.result.url}0`, done.result.url.split("?")[0], `${done.result.url.split("?")[0]}?token=${"0".repeat(64)}.9.9`]) {
    const refused = await fetch(url);
    assert.equal(refused.status, 401, url);
    assert.equal((await refused.json()).key, "unauthorized");
  }
  const reply = await fetch(done.result.url);
  const reader = reply.body.getReader();
  await reader.read();
  assert.equal((await fetch(`${service.url}/v1/exports/${done.id}`, { method: "DELETE", headers: SERVER })).status, 204);
  await assert.rejects(async () => {
    while (!(await reader.read()).done);
  }, "the reader notices that the file is incomplete");
}, { timeout: 400_000 });

check(`${ROWS} rows of a form are imported, and no call waits for long`, async (context) => {
  const row = (place) => `c-${place},Customer ${place},"{""n"":${place}}"`;
  const file = ["source_id,name,metadata", ...Array.from({ length: ROWS }, (_, place) => row(place))].join("\r\n");
  const form = new FormData();
  form.append("file", new Blob([file], { type: "text/csv" }), "customers.csv");
  const startedAt = performance.now();
  const reply = await fetch(`${service.url}/v1/customers/importCSV`, { method: "POST", headers: SERVER, body: form });
  const answered = Math.round(performance.now() - startedAt);
  assert.equal(reply.status, 202, await reply.clone().text());
  const { async_action_id: action } = await reply.json();
  let longest = 0;
  const done = await until(`/v1/async-actions/${action}`, (body) => body.status !== "IN_PROGRESS").then(async (body) => {
    longest = (await call("GET", `/v1/campaigns/${campaign}`)).ms;
    return body;
  });
  assert.deepEqual(done.result, { message: `${ROWS} imported, 0 failed`, failed: [], done_count: ROWS, failed_count: 0 });
  context.diagnostic(`${file.length} bytes were taken in ${answered} ms and written in ${done.processing_time} ms; a call took ${Math.round(longest)} ms`);
}, { timeout: 400_000 });
