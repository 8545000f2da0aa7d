// Measures redemptions a second of a project that keeps inputs for a replay, compared with one that keeps none, in the same rounds. Each has a
// process of its own on 127.0.0.1.
import { boot, caller } from "../tests/workerd/harness.mjs";
import { developmentText } from "../worker/tools/setup.mjs";
import { median, shuffled } from "./contender.mjs";
import { SECONDS, load, requests } from "./edge.mjs";

const DAYS = 30;

/** Returns the medians of `rounds` rounds in redemptions a second, and the time of one with an input as a multiple of one without. */
export async function measureReplays({ rounds, testHooks = false }) {
  const services = await Promise.all([0, DAYS].map((days) => bootWith(days, testHooks)));
  try {
    const contenders = [];
    for (const [place, { url }] of services.entries()) {
      const [redemption] = await requests(url);
      await checkKept(caller(url), redemption.body, place === 1);
      contenders.push({ ...redemption, name: ["without inputs", "with inputs"][place], rates: [] });
    }
    for (const contender of contenders) await load(contender, 1);
    for (let round = 0; round < rounds; round += 1) {
      for (const contender of shuffled(contenders)) contender.rates.push((await load(contender, SECONDS)).rate);
      console.log(`replays, round ${round + 1} of ${rounds}`);
    }
    const [without, withInputs] = contenders;
    const ratios = without.rates.map((rate, round) => rate / withInputs.rates[round]);
    return {
      seconds: SECONDS, days: DAYS, ratio: { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) },
      rows: contenders.map(({ name, rates }) => ({ name, median: median(rates), least: Math.min(...rates), most: Math.max(...rates) })),
    };
  } finally {
    await Promise.all(services.map((service) => service.stop()));
  }
}

/** Checks whether the input of a redemption is kept: one that is too large would not be. */
async function checkKept(call, body, isKept) {
  const redeemed = await call("POST", "/v1/redemptions", body);
  const { status, body: answer } = await call("POST", `/v1/redemptions/${redeemed.body.redemptions[0].id}/replay`, {});
  if (status !== (isKept ? 200 : 409)) throw new Error(`the replay answered ${status}: ${JSON.stringify(answer)}`);
}

function bootWith(days, testHooks) {
  const setup = JSON.parse(developmentText());
  for (const project of setup.projects) project.replay_days = days;
  return boot({ testHooks, setup: JSON.stringify(setup) });
}
