// Flows of a shop through the official client: its catalogue and the settings of its project.
import assert from "node:assert/strict";
import { done, file, fresh } from "./shared.mjs";

/** Products and SKUs: every method. */
export async function products(server) {
  const source = fresh("product-");
  const made = await server.products.create({ name: "Boot", source_id: source, price: 10_000, attributes: ["size"] });
  assert.equal((await server.products.get(source)).id, made.id);
  assert.equal((await server.products.update({ id: made.id, price: 11_000 })).price, 11_000);
  assert.equal((await server.products.list({ limit: 100 })).products.some(({ id }) => id === made.id), true);
  const sku = await server.products.createSku(made.id, { source_id: fresh("sku-"), sku: "Boot 40", attributes: { size: "40" } });
  assert.equal((await server.products.getSku(sku.id)).id, sku.id);
  assert.equal((await server.products.updateSku(made.id, { id: sku.id, price: 9_000 })).price, 9_000);
  assert.equal((await server.products.listSkus(made.id)).skus.length, 1);
  await server.products.deleteSku(made.id, sku.id, { force: true });

  const second = fresh("product-");
  await done(server, await server.products.bulkUpdate([{ source_id: second, name: "Sock" }]));
  assert.equal((await server.products.get(second)).name, "Sock");
  await done(server, await server.products.bulkUpdateMetadata({ source_ids: [second], metadata: { wool: true } }));
  assert.deepEqual((await server.products.get(second)).metadata, { wool: true });
  const third = fresh("product-");
  const goods = await file("products.csv", `source_id,name,price,season\n${third},"Hat ""de luxe""",1500,winter\n`);
  await done(server, await server.products.importCSV(goods));
  const hat = await server.products.get(third);
  assert.deepEqual([hat.name, hat.price, hat.metadata], ['Hat "de luxe"', 1_500, { season: "winter" }]);
  const item = fresh("sku-");
  await done(server, await server.products.importSkusCSV(await file("skus.csv", `product_id,source_id,sku\n${hat.id},${item},Blue hat\n`)));
  assert.equal((await server.products.getSku(item)).sku, "Blue hat");
  await server.products.delete(made.id, { force: true });
  await assert.rejects(server.products.get(made.id), { code: 404 });
}

/** Product collections: every method. */
export async function collections(server) {
  const product = await server.products.create({ name: "Boot", source_id: fresh("product-") });
  const made = await server.productCollections.create({ name: fresh("Collection "), type: "STATIC", products: [{ id: product.id, object: "product" }] });
  assert.equal((await server.productCollections.get(made.id)).id, made.id);
  assert.equal((await server.productCollections.list({ limit: 100 })).data.some(({ id }) => id === made.id), true);
  assert.deepEqual((await server.productCollections.listProducts(made.id)).data.map(({ id }) => id), [product.id]);
  await server.productCollections.delete(made.id);
  await assert.rejects(server.productCollections.get(made.id), { code: 404 });
}

/** Categories and metadata schemas: every method. */
export async function project(server, manage) {
  const made = await server.categories.create({ name: fresh("Category "), hierarchy: 1 });
  assert.equal((await server.categories.get(made.id)).id, made.id);
  assert.equal((await server.categories.update(made.id, { name: made.name, hierarchy: 2 })).hierarchy, 2);
  assert.equal((await server.categories.list()).data.some(({ id }) => id === made.id), true);
  await server.categories.delete(made.id);
  await assert.rejects(server.categories.get(made.id), { code: 404 });

  await manage("POST", "/metadata-schemas", { related_object: "publication", properties: { channel: { type: "string", optional: true, array: false } } });
  assert.equal((await server.metadataSchemas.list()).schemas.length, 1);
  assert.equal((await server.metadataSchemas.get("publication")).related_object, "publication");
}

/** Limits, as the last answer reported them; async actions. */
export async function limits(server) {
  await server.campaigns.list();
  assert.equal(server.apiLimitsHandler.areLimitsAvailable(), true);
  assert.equal(Number(server.apiLimitsHandler.getRateLimit()) > 0, true);
  assert.equal(Number(server.apiLimitsHandler.getRateLimitRemaining()) >= 0, true);
  server.apiLimitsHandler.getRetryAfter();
  assert.equal((await server.asyncActions.list({ limit: 5 })).async_actions.length > 0, true);
}
