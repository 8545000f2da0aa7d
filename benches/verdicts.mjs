// Measures validations of a page a second on plain workerd: by the entry's copies of the rules, by the object, and by a plain JavaScript Worker
// that does the same. Everything is on 127.0.0.1 and ends by itself.
import autocannon from "autocannon";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { waitUntil } from "../tests/wait.mjs";
import { developmentText } from "../worker/tools/setup.mjs";
import { median } from "./contender.mjs";
import { serve } from "./serve.mjs";

const CONNECTIONS = 16;
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const HEADERS = {
  "content-type": "application/json", "x-client-application-id": "dev-client", "x-client-token": "dev-client-token", origin: "http://localhost:3000",
};
const PATH = "/client/v1/validations";

/** Returns the medians of `rounds` rounds in requests a second, and the entry's as multiples of the others'. */
export async function measureVerdicts({ rounds, testHooks = false }) {
  const [byEntry, byObject, plain] = await Promise.all([bootWith({}, testHooks), bootWith({ edge: false }, testHooks), serve("plain")]);
  try {
    const contenders = [
      { name: "entry", ...(await prepared(byEntry.url, "edge")) },
      { name: "object", ...(await prepared(byObject.url, "object")) },
      { name: "plain JavaScript Worker", url: `${plain.url}${PATH}`, body: bodyFor("promo_1") },
    ];
    const rates = await compare(contenders, rounds);
    const ratio = (place) => median(rates[0].map((rate, round) => rate / rates[place][round]));
    return {
      connections: CONNECTIONS, seconds: SECONDS, to_object: ratio(1), to_plain: ratio(2),
      rows: contenders.map(({ name }, place) => ({ name, median: median(rates[place]), least: Math.min(...rates[place]), most: Math.max(...rates[place]) })),
    };
  } finally {
    await Promise.all([byEntry.stop(), byObject.stop(), plain.stop()]);
  }
}

const bodyFor = (tier) => JSON.stringify({
  redeemables: [{ object: "promotion_tier", id: tier }],
  order: { items: Array.from({ length: 10 }, (_, line) => ({ source_id: `line-${line}`, related_object: "product", quantity: 1 + (line % 3), price: 499 + 350 * line })) },
});

function bootWith(client, testHooks) {
  const setup = JSON.parse(developmentText());
  for (const project of setup.projects) Object.assign(project, { rate_limits: { client: {} }, client: { ...project.client, ...client } });
  return boot({ testHooks, setup: JSON.stringify(setup), edgeSecret: "a secret of the measurement" });
}

/** Makes a promotion, and returns the request about it once the wanted one answers it. */
async function prepared(url, answered) {
  const call = caller(url);
  const campaign = await call("POST", "/v1/campaigns", { name: "Ten", campaign_type: "PROMOTION" });
  const discount = { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ITEMS" };
  const tier = await call("POST", `/v1/promotions/${campaign.body.id}/tiers`, { name: "Ten", action: { discount } });
  if (tier.status !== 200) throw new Error(`no promotion: ${tier.status} ${JSON.stringify(tier.body)}`);
  const body = bodyFor(tier.body.id);
  await waitUntil(async () => {
    const reply = await fetch(`${url}${PATH}`, { method: "POST", headers: HEADERS, body });
    const { valid } = await reply.json();
    if (!valid) throw new Error(`the validation answered ${reply.status}`);
    return reply.headers.get("scrip-answered") === answered;
  }, `an answer by the ${answered}`);
  return { url: `${url}${PATH}`, body };
}

async function compare(contenders, rounds) {
  const rates = contenders.map(() => []);
  for (const contender of contenders) await load(contender, 1);
  for (let round = 0; round < rounds; round++) {
    for (const [place, contender] of contenders.entries()) rates[place].push(await load(contender, SECONDS));
    console.log(`verdicts, round ${round + 1} of ${rounds}: ${rates.map((list) => Math.round(list.at(-1))).join(", ")}`);
  }
  return rates;
}

async function load({ name, url, body }, duration) {
  const result = await autocannon({ url, method: "POST", headers: HEADERS, body, connections: CONNECTIONS, duration });
  const bad = result.non2xx + result.errors + result.timeouts;
  if (bad > 0) throw new Error(`${name}: ${bad} of ${result.requests.total} requests failed`);
  return result["2xx"] / result.duration;
}
