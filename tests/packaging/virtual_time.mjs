// A time that passes only by `tick`: that of the service, and a local clock which may be wrong.
const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout, now: Date.now };
const BEGIN = Date.UTC(2026, 2, 1, 12);
const pause = () => new Promise((done) => { setImmediate(done); });

let passed;
let timers;
let skew;
let inFlight = 0;

/** The service's time in milliseconds. */
export const serviceNow = () => BEGIN + passed;

/** Replaces the clocks and timers of the process. */
export function startTime() {
  [passed, timers, skew] = [0, new Set(), 0];
  Date.now = () => BEGIN + passed + skew;
  performance.now = () => passed;
  globalThis.setTimeout = (run, ms = 0, ...values) => {
    const timer = { at: passed + ms, run: () => run(...values), unref: () => timer, ref: () => timer, refresh: () => timer };
    timers.add(timer);
    return timer;
  };
  globalThis.clearTimeout = (timer) => {
    if (!timers.delete(timer)) real.clearTimeout(timer);
  };
}

export function stopTime() {
  Object.assign(globalThis, { setTimeout: real.setTimeout, clearTimeout: real.clearTimeout });
  Date.now = real.now;
  delete performance.now;
}

/** Sets the local clock wrong by a number of milliseconds. */
export function skewLocalClock(ms) {
  skew = ms;
}

/** Sends requests, and knows how many have no answer. */
export const countedFetch = (...request) => {
  inFlight += 1;
  return fetch(...request).finally(() => { inFlight -= 1; });
};

/** Lets requests and messages that are on their way arrive. One that hangs is waited for no longer than `most` real milliseconds. */
export async function settle(most = 5_000) {
  const latest = real.now() + most;
  for (let turns = 0; turns < 40; turns += 1) {
    await pause();
    if (inFlight > 0 && real.now() < latest) turns = 0;
  }
}

/** Lets time pass in steps, and what is due in each happen. */
export async function tick(ms, step = Math.max(1_000, ms / 100)) {
  for (let left = ms; left > 0; left -= step) {
    const end = passed + Math.min(step, left);
    for (let next; (next = [...timers].filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)[0]); next.run()) {
      timers.delete(next);
      passed = Math.max(passed, next.at);
    }
    passed = end;
    await settle(500);
  }
}
