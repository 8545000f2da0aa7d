// Timers and times of an object.

/** Runs a function later; returns its cancellation. */
export function after(ms, run) {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

/** Returns the earliest of some times; null when there is none. */
export function earliest(moments) {
  const known = moments.filter((moment) => moment !== null && moment !== undefined);
  return known.length === 0 ? null : Math.min(...known);
}
