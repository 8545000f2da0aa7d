// Decides what `npm run soak` does: two hundred rounds against the released Worker, on a seed that it prints.
//
// npm run soak                        200 rounds
// SEED=5 ROUNDS=20 npm run soak       other numbers; a seed repeats every choice, though not the moments of the machine
import { buildWorker } from "../../worker/tools/build.mjs";
import { main, say } from "../../worker/tools/say.mjs";
import { ensureToolchain } from "../../worker/tools/toolchain.mjs";
import { chaos, chosenSeed } from "./chaos.mjs";

await main(async () => {
  await ensureToolchain();
  await buildWorker();
  const seed = chosenSeed();
  const rounds = Number(process.env.ROUNDS ?? 200);
  say(`${rounds} rounds, SEED=${seed}`);
  const told = await chaos({ rounds, seed, say });
  say(`${Object.entries(told).map(([what, count]) => `${count} ${what}`).join(", ")}; everything agrees (SEED=${seed})`);
});
