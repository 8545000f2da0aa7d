// Decides that nothing of a customer who was forgotten is left in the files of the database, which are searched byte for byte.
// It must not know how it is taken out.
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before } from "node:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as turn, setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "./harness.mjs";
import { tally } from "./tally.mjs";

const check = tally("erasure");
/** More than a page of any index has. */
const CUSTOMERS = Number(process.env.CUSTOMERS ?? 300);
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

/** A customer whose every text is found nowhere else. */
function person(number) {
  const own = `${number}Qx${(number * 7919 + 104729).toString(36)}`;
  return {
    source_id: `source-${own}`, name: `Name ${own} Vantongeren`, email: `mail-${own}@example.com`, phone: `+49 30 ${own}`,
    address: { city: `City ${own}`, line_1: `Street ${own}`, country: "DE" }, metadata: { note: `Note ${own}` },
  };
}

/** What of a customer must not be found. */
const texts = ({ source_id, name, email, phone, address, metadata }) => [source_id, name, email, phone, address.city, address.line_1, metadata.note];

/** The bytes of every file below a folder. */
async function files(folder) {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const plain = entries.filter((entry) => entry.isFile());
  return Promise.all(plain.map(async (entry) => [entry.name, await readFile(join(entry.parentPath ?? entry.path, entry.name))]));
}

async function found(wanted) {
  const all = await files(service.data);
  const places = [];
  for (const text of wanted) {
    places.push(...all.filter(([, bytes]) => bytes.includes(text)).map(([name]) => `${text} in ${name}`));
    // A connection that the service closes meanwhile is noticed.
    await turn();
  }
  return places;
}

check("neither rows nor indexes nor the log say anything of whoever was forgotten", async (context) => {
  await call("POST", "/v1/vouchers/ALL", { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } });
  const people = Array.from({ length: CUSTOMERS }, (_, number) => person(number));
  for (const customer of people) {
    const once = () => ({ "idempotency-key": randomUUID() });
    assert.equal((await call("POST", "/v1/customers", customer, once())).status, 200);
    const asked = { redeemables: [{ object: "voucher", id: "ALL" }], customer, order: { amount: 1_000 } };
    const redeemed = await call("POST", "/v1/redemptions", asked, once());
    assert.equal(redeemed.status, 200, JSON.stringify(redeemed.body));
  }
  const [first] = people;
  assert.ok((await found(texts(first))).length >= texts(first).length, "nothing is found before: the search is wrong");
  const gone = people.filter((_, number) => number % 6 === 0);
  for (const { source_id } of gone) {
    const reply = await call("POST", `/v1/customers/${source_id}/permanent-deletion`);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
  }
  const wanted = gone.flatMap(texts);
  let left;
  for (const latest = Date.now() + 60_000; Date.now() < latest; await sleep(500)) {
    left = await found(wanted);
    if (left.length === 0) break;
  }
  context.diagnostic(`${gone.length} of ${CUSTOMERS} customers, ${wanted.length} texts, left: ${left.length}`);
  assert.deepEqual(left, []);
  const stayed = people.filter((customer) => !gone.includes(customer));
  for (const { source_id, email } of stayed) {
    const { body } = await call("GET", `/v1/customers?email=${encodeURIComponent(email)}`);
    assert.deepEqual([body.total, body.customers[0]?.source_id], [1, source_id]);
  }
});
