// Tests that an acknowledged write survives any crash: twenty rounds of the two hundred of `npm run soak`.
import { chaos, chosenSeed } from "../soak/chaos.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("chaos rounds");
const ROUNDS = 20;
const seed = chosenSeed();

check(`${ROUNDS} rounds of kill -9 on workerd and on Node: documents, counts and answers agree (SEED=${seed})`, async (context) => {
  const totals = await chaos({ rounds: ROUNDS, seed });
  context.diagnostic(Object.entries(totals).map(([what, count]) => `${count} ${what}`).join(", "));
}, { timeout: 600_000, counts: ROUNDS });
