// Implements `npm run carts`: a shop with campaigns of every kind, and three hundred carts by every kind of caller. Compares for each
// request the verdict of the service with that of the package. No final verdict may differ.
//
// npm run carts                        a shop of 40 products
// npm run carts -- large               a shop of 1,500 products
// npm run carts -- campaigns           the same with 3,000 further campaigns
// CARTS_SEED=5 CARTS=20 npm run carts  other numbers; a seed repeats every choice, though not the ids that the service draws
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { buildAll } from "../../worker/tools/build.mjs";
import { main, print, Remedy } from "../../worker/tools/console.mjs";
import { credentials, developmentText } from "../../worker/tools/setup.mjs";
import { ensureToolchain } from "../../worker/tools/toolchain.mjs";
import { createRandom } from "../soak/random.mjs";
import { customerToken } from "../workerd/customer-token.mjs";
import { boot, caller } from "../workerd/harness.mjs";
import { compare } from "./compare.mjs";
import { Report } from "./report.mjs";
import { requestsOf } from "./requests.mjs";
import { makeShop } from "./shop.mjs";

const SIZES = { small: { products: 40 }, large: { products: 1_500 }, campaigns: { products: 1_500, furtherCampaigns: 3_000 } };
/** Requests at a time. */
const CLIENTS = 8;
/** The number of carts from which on some must be granted, and some refused. */
const VARIED = 20;
const TOKEN_SECONDS = 3_600;
const FULL_MS = 60_000;
const ORIGIN = "http://localhost:3000";
// Each request comes from an address of its own: the wrong codes of a run are not those of one guesser.
const ADDRESS = "x-shopper-address";

function readSize(text = "small") {
  if (!Object.hasOwn(SIZES, text)) throw new Remedy(`the size \`${text}\` must be one of ${Object.keys(SIZES).join(", ")}`);
  return SIZES[text];
}

function readCount(name, otherwise, least) {
  const text = process.env[name] ?? otherwise;
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < least) throw new Remedy(`${name} \`${text}\` must be an integer of at least ${least}`);
  return count;
}

await main(async () => {
  const size = readSize(process.argv[2]);
  const seed = readCount("CARTS_SEED", randomInt(1_000_000), 0);
  const carts = readCount("CARTS", 300, 1);
  await ensureToolchain();
  if (process.env.BUILT !== "1") await buildAll({ testHooks: true });
  const { pieces, scrip } = await import("../support/package.mjs");
  print(`a shop of ${size.products} products${size.furtherCampaigns ? `, ${size.furtherCampaigns} further campaigns` : ""} and ${carts} carts, CARTS_SEED=${seed}`);
  const service = await boot({
    setup: JSON.stringify({ ...JSON.parse(developmentText()), address_header: ADDRESS }), edgeSecret: "a secret of the carts, long enough",
  });
  try {
    const report = new Report();
    const shop = await makeShop(caller(service.url), createRandom(seed, "shop"), size);
    print("the shop is made");
    const page = await openPage({ pieces, scrip }, service.url, shop);
    await tryCarts(page, shop, { seed, carts, report });
    for (const line of report.lines()) console.log(line);
    const { path, wrong } = report.writeWrong();
    if (wrong > 0) throw new Remedy(`${wrong} final verdicts differ from the service (CARTS_SEED=${seed}); all are in ${path}`);
    if (carts >= VARIED && report.byEntry === 0) throw new Remedy("the entry has answered none of the carts");
    if (carts >= VARIED && !report.isVaried()) throw new Remedy("the final verdicts are all of one kind, and compare too little");
    print(`no final verdict differs from the service (CARTS_SEED=${seed})`);
  } finally {
    await service.stop();
  }
});

/** Returns the service for pages, with a shop for each customer: by their name, or by nothing for an anonymous page. */
async function openPage({ pieces, scrip }, url, shop) {
  const key = credentials.client;
  const headers = { "content-type": "application/json", "x-client-application-id": key.id, "x-client-token": key.token, origin: ORIGIN };
  const secret = await shop.make("GET", "/management/v1/projects/proj_dev/customer-token-key");
  const { writes } = await fetchAll(pieces, url, key);
  if (!writes) throw new Remedy("the package and the service are of different versions: build both");
  const open = (customer) => scrip.open({ url, key, origin: ORIGIN, store: "memory", poll: false, customer });
  const customers = new Map([[undefined, { shop: await open(), headers }]]);
  for (const { source_id } of shop.customers) {
    const token = customerToken(secret, "proj_dev", source_id, TOKEN_SECONDS);
    customers.set(source_id, { shop: await open(() => token), headers: { ...headers, "x-customer-token": token } });
  }
  // A page has the tracking id of its customer from an earlier answer.
  for (const customer of shop.customers) {
    const body = JSON.stringify({ redeemables: [{ object: "promotion_tier", id: shop.promotions.tiers[0] }], tracking_id: customer.source_id });
    const reply = await fetch(`${url}/client/v1/validations`, { method: "POST", headers, body });
    customer.tracking_id = (await reply.json()).tracking_id;
  }
  return { url, customers };
}

/** Fetches the bundle until it leaves out neither sealed codes, whose keys are derived after the first build, nor goods. */
async function fetchAll(pieces, url, key) {
  for (const latest = Date.now() + FULL_MS; ; await sleep(200)) {
    const bundle = await pieces.fetchBundle(url, key, undefined, { origin: ORIGIN });
    const { left_out } = JSON.parse(Buffer.from(bundle.head.split(".")[1], "base64url"));
    if (!left_out.includes("codes") && !left_out.includes("goods")) return bundle;
    if (Date.now() > latest) throw new Remedy(`the bundle still leaves out \`${left_out.join("`, `")}\` after ${FULL_MS} ms`);
  }
}

/** Sends the requests of all carts, some at a time. */
async function tryCarts({ url, customers }, shop, { seed, carts, report }) {
  let number = 0;
  const calls = (function* () {
    for (let cart = 0; cart < carts; cart += 1) {
      for (const call of requestsOf(shop, createRandom(seed, "cart", cart))) yield { cart, number: (number += 1), ...call };
    }
  })();
  await Promise.all(Array.from({ length: CLIENTS }, async () => {
    for (const call of calls) {
      const { shop: own, headers } = customers.get(call.customer);
      const address = `10.${(call.number >> 16) & 255}.${(call.number >> 8) & 255}.${call.number & 255}`;
      report.add(call, await compare({ url, headers: { ...headers, [ADDRESS]: address } }, own, call, Date.now()));
    }
  }));
}
