// Flows of a shop through the official client: customers, events, segments and orders.
import assert from "node:assert/strict";
import { done, eventNamed, file, fresh, order, waitForSuccess } from "./shared.mjs";

/** Customers: every method. */
export async function customers(server, manage) {
  const source = fresh("customer-");
  const made = await server.customers.create({ source_id: source, name: "Ann", email: "ann@shop.example" });
  assert.equal((await server.customers.get(made.id)).source_id, source);
  assert.deepEqual([made.address, "metadata" in made], [null, false]);
  assert.equal((await server.customers.update({ id: made.id, name: "Anna" })).name, "Anna");
  assert.equal((await server.customers.list({ email: "ann@shop.example" })).customers.some(({ id }) => id === made.id), true);
  const scrolled = [];
  for await (const customer of server.customers.scroll({ limit: 1 })) scrolled.push(customer.id);
  assert.equal(scrolled.includes(made.id), true);
  assert.equal(new Set(scrolled).size, scrolled.length);

  const other = fresh("customer-");
  await done(server, await server.customers.updateInBulk([{ source_id: other, name: "Bo" }]));
  assert.equal((await server.customers.get(other)).name, "Bo");
  await done(server, await server.customers.updateMetadataInBulk({ source_ids: [other], metadata: { size: 4 } }));
  assert.deepEqual((await server.customers.get(other)).metadata, { size: 4 });
  const third = fresh("customer-");
  const path = await file("customers.csv", `Name,Source_id,Colour\n"Cy, the third",${third},blue\n`);
  await done(server, await server.customers.importCSV(path));
  const read = await server.customers.get(third);
  assert.deepEqual([read.name, read.metadata], ["Cy, the third", { Colour: "blue" }]);

  const event = await eventNamed(manage);
  await server.events.create(event, { customer: { source_id: source } });
  await waitForSuccess(async () => assert.equal((await server.customers.listActivity(made.id, { limit: 10 })).data.length > 0, true));
  assert.equal((await server.customers.listActivities(made.id)).data.length > 0, true);
  const campaign = await server.campaigns.create({
    name: fresh("Campaign "), campaign_type: "DISCOUNT_COUPONS", type: "AUTO_UPDATE",
    voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, redemption: { quantity: 1 } },
  });
  await server.distributions.publications.create({ campaign: { name: campaign.name }, customer: { source_id: source } });
  assert.equal((await server.customers.listRedeemables(made.id)).data.length, 1);

  await server.customers.delete(other);
  await assert.rejects(server.customers.get(other), { code: 404 });
  await server.customers.deletePermanently(made.id);
  await assert.rejects(server.customers.get(made.id), { code: 404 });
}

/** Consents, which this API no longer describes: the list is empty, and a PUT is accepted. */
export async function consents(server) {
  const source = fresh("customer-");
  await server.customers.create({ source_id: source });
  const listed = await server.consents.list();
  assert.deepEqual([listed.object, listed.data], ["list", []]);
  await server.customers.updateConsents(source, []);
}

/** Segments: every method. */
export async function segments(server) {
  const customer = await server.customers.create({ source_id: fresh("customer-"), metadata: { vip: true } });
  const segment = await server.segments.create({ name: fresh("Segment "), type: "static", customers: [customer.id] });
  assert.equal((await server.segments.get(segment.id)).id, segment.id);
  assert.deepEqual((await server.segments.list(customer.id)).data.map(({ id }) => id), [segment.id]);
  await server.segments.delete(segment.id);
  await assert.rejects(server.segments.get(segment.id), { code: 404 });
}

/** Orders: every method. */
export async function orders(server) {
  const source = fresh("order-");
  const made = await server.orders.create({ source_id: source, ...order, customer: { source_id: fresh("customer-") } });
  assert.equal((await server.orders.get(made.id)).amount, order.amount);
  assert.equal((await server.orders.update({ id: made.id, status: "PAID" })).status, "PAID");
  assert.equal((await server.orders.list({ limit: 10 })).orders.some(({ id }) => id === made.id), true);
  const imported = fresh("order-");
  await done(server, await server.orders.import([{ source_id: imported, amount: 700, status: "PAID" }]));
  assert.equal((await server.orders.get(imported)).amount, 700);
}
