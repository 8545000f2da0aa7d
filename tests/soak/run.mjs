// Implements `npm run soak`: two hundred rounds against the released Worker, on a seed that it prints.
//
// npm run soak                        200 rounds
// SEED=5 ROUNDS=20 npm run soak       other numbers; a seed repeats every choice, though not the timing of the machine
import { buildWorker } from "../../worker/tools/build.mjs";
import { main, print } from "../../worker/tools/console.mjs";
import { ensureToolchain } from "../../worker/tools/toolchain.mjs";
import { chaos, chosenSeed } from "./chaos.mjs";

await main(async () => {
  await ensureToolchain();
  await buildWorker();
  const seed = chosenSeed();
  const rounds = Number(process.env.ROUNDS ?? 200);
  print(`${rounds} rounds, SEED=${seed}`);
  const totals = await chaos({ rounds, seed, report: print });
  print(`${Object.entries(totals).map(([what, count]) => `${count} ${what}`).join(", ")}; everything agrees (SEED=${seed})`);
});
