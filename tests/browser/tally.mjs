// Decides how a tier says what it ran and what it left out: one JSON line at its end in the file that SCRIP_TALLY names.
import { appendFileSync } from "node:fs";
import { after, test } from "node:test";

/** A `check(name, body, why?)` that counts; a `why` skips it, and is reported instead of its name alone. */
export function tally(kind) {
  let ran = 0;
  const skipped = [];
  after(() => {
    const line = JSON.stringify({ kind, ran, skipped });
    if (process.env.SCRIP_TALLY) appendFileSync(process.env.SCRIP_TALLY, `${line}\n`);
  });
  return (name, body, why) => {
    if (why) {
      skipped.push(`${name}: ${why}`);
      return test(name, { skip: why }, () => {});
    }
    return test(name, { timeout: 180_000 }, async (context) => {
      ran += 1;
      await body(context);
    });
  };
}
