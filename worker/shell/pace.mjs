// Decides how much of a long work is done at a time, and how long an object rests before the next piece, so that a request which
// comes meanwhile waits for a few milliseconds, and more often than not finds the object free. It must not know what the work is, and
// it reads no clock: whoever has one says what a piece took.

/** What a piece should take, its commit included: about as much as two or three requests. */
export const AIM_MS = 6;
/** Rows of the first piece, of the least and of the most. */
export const FIRST = 50;
export const LEAST = 50;
export const MOST = 1_000;
/** A rest is twice what the piece took, so that long work has a third of the object at most, on whatever machine. */
const RESTS = 2;
const REST_LEAST_MS = 5;

/**
 * How many rows the next piece has, after one of `rows` that took `tookMs`. It falls at once, though by no more than half, as a
 * machine that was busy for a moment is no slower one, and it rises slowly: a guess too high is paid by whoever waits.
 */
export function nextRows(rows, tookMs) {
  const fitting = (rows * AIM_MS) / Math.max(tookMs, 1);
  const careful = Math.min(Math.max(fitting, rows / 2), rows * 1.25);
  return Math.min(Math.max(Math.round(careful), LEAST), MOST);
}

/** How long to rest after a piece that took `tookMs`. */
export function restMs(tookMs) {
  return Math.max(tookMs * RESTS, REST_LEAST_MS);
}
