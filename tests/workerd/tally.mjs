// Decides how a file of tests says what it ran and what it left out: one JSON line at its end in the file that the
// variable SCRIP_TALLY names. A skipped test names its reason.
import { appendFileSync } from "node:fs";
import { after, test } from "node:test";

/** A `check(name, body, { skip?, timeout?, counts? })` that counts under `kind`, as one or as the rounds that it goes through. */
export function tally(kind) {
  let ran = 0;
  const skipped = [];
  after(() => {
    if (process.env.SCRIP_TALLY) appendFileSync(process.env.SCRIP_TALLY, `${JSON.stringify({ kind, ran, skipped })}\n`);
  });
  return (name, body, { skip, timeout = 120_000, counts = 1 } = {}) => {
    if (skip) {
      skipped.push(`${name}: ${skip}`);
      return test(name, { skip }, () => {});
    }
    return test(name, { timeout }, async (context) => {
      ran += counts;
      await body(context);
    });
  };
}
