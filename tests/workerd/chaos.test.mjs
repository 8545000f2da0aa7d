// Decides that whoever got an answer can rely on it, whatever dies: twenty rounds of what `npm run soak` does two hundred of.
import { chaos, chosenSeed } from "../soak/chaos.mjs";
import { tally } from "./tally.mjs";

const check = tally("chaos rounds");
const ROUNDS = 20;
const seed = chosenSeed();

check(`${ROUNDS} rounds of kill -9 on workerd and on Node: documents, counts and answers agree (SEED=${seed})`, async (context) => {
  const told = await chaos({ rounds: ROUNDS, seed });
  context.diagnostic(Object.entries(told).map(([what, count]) => `${count} ${what}`).join(", "));
}, { timeout: 600_000, counts: ROUNDS });
