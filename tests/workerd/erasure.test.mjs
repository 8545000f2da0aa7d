// Tests that no data of an erased customer remain in the files of the database, which are searched byte for byte.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before } from "node:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("erasure");
/** More than a page of any index contains. */
const CUSTOMERS = Number(process.env.CUSTOMERS ?? 300);
/** Bytes of a page of the database. */
const PAGE = 4_096;
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

/** Returns a customer whose texts occur nowhere else. */
function person(number) {
  const own = `${number}Qx${(number * 7919 + 104729).toString(36)}`;
  return {
    source_id: `source-${own}`, name: `Name ${own} Vantongeren`, email: `mail-${own}@example.com`, phone: `+49 30 ${own}`,
    address: { city: `City ${own}`, line_1: `Street ${own}`, country: "DE" }, metadata: { note: `Note ${own}` },
  };
}

/** Returns the texts of the customer that must not be found. */
const texts = ({ source_id, name, email, phone, address, metadata }) => [source_id, name, email, phone, address.city, address.line_1, metadata.note];

/** Returns the bytes of every file in a folder and its subfolders. */
async function files(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const plain = entries.filter((entry) => entry.isFile());
  return Promise.all(plain.map(async (entry) => [entry.name, await readFile(join(entry.parentPath ?? entry.path, entry.name))]));
}

/** Describes the place of a text in a file; in a database: the page, its kind (13 is a leaf of a table), the offset, and where its rows begin. */
function place(bytes, text) {
  const at = bytes.indexOf(text);
  const page = bytes.subarray(at - (at % PAGE), at - (at % PAGE) + PAGE);
  return `page ${Math.floor(at / PAGE) + 1} of kind ${page[0]}, at ${at % PAGE}, rows from ${page.length < 7 ? "?" : page.readUInt16BE(5)}: ${JSON.stringify(bytes.toString("latin1", at - 40, at + 60))}`;
}

async function found(searched) {
  const all = await files(service.data);
  const places = [];
  for (const text of searched) {
    places.push(...all.filter(([, bytes]) => bytes.includes(text)).map(([name, bytes]) => `${text} in ${name}, ${place(bytes, text)}`));
    // A connection that the service closes meanwhile is noticed.
    await turn();
  }
  return places;
}

const until = (isTrue) => waitUntil(isTrue, "the end of an action", { pause: 100 });

check("neither rows nor indexes nor the log contain anything of an erased customer", async (context) => {
  await call("POST", "/v1/vouchers/ALL", { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } });
  const people = Array.from({ length: CUSTOMERS }, (_, number) => person(number));
  // Imported customers wait in the database, and leave free pages behind.
  const imported = await call("POST", "/v1/customers/bulk/async", people);
  assert.equal(imported.status, 202, JSON.stringify(imported.body));
  await until(async () => (await call("GET", `/v1/async-actions/${imported.body.async_action_id}`)).body.status === "DONE");
  for (const customer of people) {
    const once = () => ({ "idempotency-key": randomUUID() });
    assert.equal((await call("POST", "/v1/customers", customer, once())).status, 200);
    const redemption = { redeemables: [{ object: "voucher", id: "ALL" }], customer, order: { amount: 1_000 } };
    const redeemed = await call("POST", "/v1/redemptions", redemption, once());
    assert.equal(redeemed.status, 200, JSON.stringify(redeemed.body));
  }
  const [first] = people;
  assert.ok((await found(texts(first))).length >= texts(first).length, "nothing is found before: the search is wrong");
  const erased = people.filter((_, number) => number % 6 === 0);
  for (const { source_id } of erased) {
    const reply = await call("POST", `/v1/customers/${source_id}/permanent-deletion`);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
  }
  const personalTexts = erased.flatMap(texts);
  let left;
  await waitUntil(async () => {
    left = await found(personalTexts);
    return left.length === 0;
  }, () => `texts of the erased are found: ${left}`, { pause: 500 });
  context.diagnostic(`${erased.length} of ${CUSTOMERS} customers, ${personalTexts.length} texts, left: ${left.length}`);
  assert.deepEqual(left, []);
  const stayed = people.filter((customer) => !erased.includes(customer));
  for (const { source_id, email } of stayed) {
    const { body } = await call("GET", `/v1/customers?email=${encodeURIComponent(email)}`);
    assert.deepEqual([body.total, body.customers[0]?.source_id], [1, source_id]);
  }
});
