// Measures a shop's requests in a project of a million vouchers and a hundred thousand customers, compared with one of a hundred of each.
// Both run on plain workerd, by turns. Everything is on 127.0.0.1 and ends by itself.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "../tests/workerd/harness.mjs";
import { requests } from "./scale/requests.mjs";
import { recipe, fill } from "./scale/shop.mjs";

const TURNS = Number(process.env.BENCH_TURNS ?? 40);
const CALLERS = 16;
/** The time in which redemptions are counted in one turn, and the number of turns. */
const REDEEM = { ms: 3_000, turns: 3 };
const SIZES = {
  small: { codes: 10, customers: 100 },
  large: { codes: Number(process.env.BENCH_CODES ?? 100_000), customers: Number(process.env.BENCH_CUSTOMERS ?? 100_000) },
};
const folders = fileURLToPath(new URL("../target/bench/scale/", import.meta.url));

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

export async function measureScale() {
  const shops = {};
  try {
    for (const [name, size] of Object.entries(SIZES)) shops[name] = await open(name, size);
    const rows = [];
    for (const row of requests) rows.push(await compare(row, shops));
    rows.push(await redemptions(shops));
    for (const row of rows) console.log(describe(row));
    return { sizes: SIZES, filled_s: shops.large.filled_s, first_ms: shops.large.first_ms, rows };
  } finally {
    await Promise.all(Object.values(shops).map(({ service }) => service.stop()));
  }
}

const describe = ({ name, small, large, ratio, refused }) =>
  refused ? `${name}: refused` : `${name}: ${small.toFixed(2)} -> ${large.toFixed(2)}, ${ratio.toFixed(2)}`;

/** Opens a shop of a size: filled once, and reused while the code that fills it is the same. */
async function open(name, size) {
  const data = `${folders}${name}`;
  const stamp = `${data}.json`;
  const hash = createHash("sha256").update(JSON.stringify([recipe, size])).digest("hex");
  const known = existsSync(stamp) ? JSON.parse(readFileSync(stamp, "utf8")) : {};
  if (known.hash !== hash) {
    rmSync(data, { recursive: true, force: true });
    rmSync(stamp, { force: true });
  }
  mkdirSync(data, { recursive: true });
  const service = await boot({ testHooks: false, data });
  const call = caller(service.url);
  if (known.hash === hash) {
    // The first request opens the database, and migrates it to the newest step.
    const { ms } = await call("GET", "/v1/vouchers?limit=1");
    return { service, call, ...known, first_ms: ms };
  }
  const startedAt = performance.now();
  const facts = await fill(call, size);
  const filled = { hash, facts, filled_s: Math.round((performance.now() - startedAt) / 1_000) };
  console.log(`${name}: filled in ${filled.filled_s} s`);
  writeFileSync(stamp, JSON.stringify(filled));
  return { service, call, ...filled };
}

/** Sends a request to both shops by turns, so that a slow period affects both. */
async function compare({ name, path }, shops) {
  const took = { small: [], large: [] };
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const shop of turn % 2 ? ["large", "small"] : ["small", "large"]) {
      const { call, facts } = shops[shop];
      const { status, ms, body } = await call("GET", path(facts));
      if (status === 400 && body.key === "request_too_complex") return { name, refused: true };
      if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
      took[shop].push(ms);
    }
  }
  const [small, large] = [median(took.small), median(took.large)];
  return { name, small, large, ratio: large / small };
}

/** Returns the duration of a redemption, computed from the redemptions a second. */
async function redemptions(shops) {
  const took = { small: [], large: [] };
  for (let turn = 0; turn < REDEEM.turns; turn += 1) {
    for (const shop of turn % 2 ? ["large", "small"] : ["small", "large"]) {
      const { call, facts } = shops[shop];
      let [count, over] = [0, false];
      const body = { redeemables: [{ object: "voucher", id: facts.endless }], order: { amount: 10_000 }, customer: { source_id: facts.customer } };
      const startedAt = performance.now();
      const callers = Array.from({ length: CALLERS }, async () => {
        while (!over) {
          const { status } = await call("POST", "/v1/redemptions", body);
          if (status !== 200) throw new Error(`a redemption is answered ${status}`);
          count += 1;
        }
      });
      await Promise.race([sleep(REDEEM.ms), Promise.all(callers)]);
      over = true;
      await Promise.all(callers);
      took[shop].push((performance.now() - startedAt) / count);
    }
  }
  const [small, large] = [median(took.small), median(took.large)];
  return { name: `redeem, ${CALLERS} callers`, small, large, ratio: large / small };
}
