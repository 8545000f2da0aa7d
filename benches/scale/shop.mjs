// Creates the contents of a measured shop with the calls that a shop makes.
import { setTimeout as sleep } from "node:timers/promises";

/** The description of the contents: a shop that was created otherwise is created again. */
export const recipe = "2026-11-23";

const CAMPAIGNS = 10;
const CITIES = ["Aachen", "Bonn", "Celle", "Dresden", "Essen", "Fulda", "Gera", "Hamm", "Ingolstadt", "Jena"];
const CATEGORIES = ["new", "old"];
/** Customers of one request. */
const BATCH = 5_000;

/**
 * Creates ten campaigns with codes, a hundred codes without a campaign, customers, and some redemptions; returns names for the requests.
 */
export async function fill(call, { codes, customers }) {
  const made = async (method, path, body) => {
    const reply = await call(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const categories = [];
  for (const name of CATEGORIES) categories.push(await made("POST", "/v1/categories", { name, hierarchy: 0 }));
  const campaigns = [];
  for (let number = 0; number < CAMPAIGNS; number += 1) campaigns.push(await campaign(made, number, codes));
  for (let number = 0; number < 100; number += 1) {
    await made("POST", `/v1/vouchers/OWN${number}`, {
      type: "GIFT_VOUCHER", gift: { amount: 1_000 }, category: CATEGORIES[number % 2], active: number % 5 !== 0,
      start_date: "2026-01-01T00:00:00Z", expiration_date: `2030-01-0${1 + (number % 9)}T00:00:00Z`,
    });
  }
  for (let first = 0; first < customers; first += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, customers - first) }, (_, place) => customer(first + place));
    await finished(made, await made("POST", "/v1/customers/bulk/async", batch));
  }
  await made("POST", "/v1/vouchers/ENDLESS", { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 } });
  for (let number = 0; number < 40; number += 1) await redeemed(made, number);
  const [first, last] = await ends(made);
  const someone = await made("GET", "/v1/customers/source7");
  return {
    code: "OWN50", endless: "ENDLESS", campaign: campaigns[3].name, campaign_id: campaigns[3].id, category_id: categories[0].id,
    customer: someone.source_id, customer_id: someone.id, email: someone.email, city: CITIES[7], first, last,
    half: new Date((Date.parse(first) + Date.parse(last)) / 2).toISOString(),
    oldest: await place(made),
  };
}

async function campaign(made, number, codes) {
  const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 }, redemption: { quantity: 1 } };
  const created = await made("POST", "/v1/campaigns", {
    name: `campaign ${number}`, campaign_type: "DISCOUNT_COUPONS", vouchers_count: codes, voucher: { ...voucher, category: CATEGORIES[0] },
  });
  for (;;) {
    const found = await made("GET", `/v1/campaigns/${created.id}`);
    if (found.creation_status === "DONE") return found;
    await sleep(200);
  }
}

function customer(number) {
  return {
    source_id: `source${number}`, name: `Name ${number.toString(36)} Surname`, email: `person${number}@example.com`,
    address: { city: CITIES[number % CITIES.length], country: "DE", postal_code: String(10_000 + (number % 90_000)) }, metadata: { number },
  };
}

async function finished(made, { async_action_id: id }) {
  for (;;) {
    const action = await made("GET", `/v1/async-actions/${id}`);
    if (action.status === "DONE") return;
    if (action.status === "FAILED") throw new Error(JSON.stringify(action));
    await sleep(100);
  }
}

async function redeemed(made, number) {
  const [code, source_id] = [number % 4 ? "ENDLESS" : `OWN${number * 2 + 2}`, `source${number % 20}`];
  const redeemable = { object: "voucher", id: code, ...(number % 4 ? {} : { gift: { credits: 10 } }) };
  await made("POST", "/v1/publications", { customer: { source_id }, voucher: code }).catch(() => {});
  await made("POST", "/v1/redemptions", { redeemables: [redeemable], order: { amount: 10_000 }, customer: { source_id } }).catch(() => {});
}

/** The creation times of the first and the last voucher. */
async function ends(made) {
  const at = async (order) => (await made("GET", `/v1/vouchers?limit=1&order=${order}`)).vouchers[0].created_at;
  return [await at("created_at"), await at("-created_at")];
}

/** The time after which the twenty oldest customers were created. */
async function place(made) {
  const { customers } = await made("GET", "/v1/customers?limit=21&order=created_at");
  return customers.at(-1).created_at;
}
