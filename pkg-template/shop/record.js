// What a shop keeps of its rules between two starts, as plain data: the bundle, and when the service confirmed it. Nothing here is trusted
// before the bundle is proven again.
import { readHead } from "../head.js";
import { ServiceClock } from "../clock.js";

// A confirmation follows the answer with the clock; one that is later was not made by this clock.
const LATEST_MS = 60_000;

/** Returns the bundle as data that JSON can carry; undefined where its core is no text. */
export function recordOf({ head, core, parts, keys }) {
  return { head, core: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(core), parts, keys };
}

/** Returns when the service confirmed a bundle, as data. */
export const confirmationOf = ({ head }, confirmed, clock) => ({ head, confirmed, clock });

/**
 * Reads a confirmation of a proven bundle: its time, by the service's clock, and the clock. One of another bundle, or a damaged one, counts
 * as none: then the bundle was confirmed when it was issued, and the service's time is unknown.
 */
export function readConfirmation({ head }, stored) {
  const { iat } = readHead(head).claims;
  const isOwn = stored?.head === head;
  const clock = isOwn ? ServiceClock.from(stored.clock) : undefined;
  const isUsable = clock && Number.isSafeInteger(stored.confirmed) && stored.confirmed <= clock.served + LATEST_MS;
  return { confirmed: isUsable ? stored.confirmed : iat * 1_000, clock };
}
