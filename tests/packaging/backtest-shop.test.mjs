// Tests a back-test by the rules of a shop that was opened.
import assert from "node:assert/strict";
import { countTests } from "../browser/test_report.mjs";
import { backTest } from "../../pkg/backtest.js";
import { open, server, useShops } from "./shop_fixtures.mjs";
import { shopRules } from "./shop_server.mjs";
import { serviceNow, settle, stopTime } from "./virtual_time.mjs";

const check = countTests("packaging");
useShops();

check("the rules of a shop are those of a back-test", async () => {
  const tier = (id, percent_off) => ({ id, name: id, action: { discount: { type: "PERCENT", percent_off } }, active: true, object: "promotion_tier" });
  server.serveRules(shopRules({ promotion_tiers: [tier("promo_1", 20)], products: [{ id: "mug", name: "Mug", price: 1_000 }], public_offers: true, skus: [] }));
  const shop = await open();
  const draft = { promotion_tiers: [tier("promo_2", 10)] };
  const now = serviceNow();
  const { rules } = shop;
  stopTime();
  const { touched, cost, better_elsewhere, provisional } = await backTest({ rules, draft, orders: [{ items: [{ product_id: "mug", quantity: 2, price: 7 }] }], now });
  // The catalogue's price counts, since a client's is not trusted.
  assert.deepEqual([touched, cost, better_elsewhere, provisional.missing], [1, 200, { orders: 1, customers: 1 }, []]);
  shop.close();
  await settle();
  assert.equal(shop.rules, undefined);
});
