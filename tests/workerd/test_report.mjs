// Reports how many tests a file ran and which it skipped: one JSON line at its end in the file that the variable SCRIP_TEST_REPORT names. A
// skipped test names its reason.
import { appendFileSync } from "node:fs";
import { after, test } from "node:test";

/** The time that a file may take to end after its last test. */
const LEFT_OPEN_MS = 30_000;

/** The time that a test may take: more than a wait in vain, so that its message is seen. */
const TIMEOUT_MS = 300_000;

/** Returns a `check(name, body, { skip?, timeout?, counts? })` that counts under `kind`, as one or as its number of rounds. */
export function countTests(kind) {
  let ran = 0;
  const skipped = [];
  after(() => {
    // A test that failed before it closed its server must not delay all following files.
    setTimeout(() => {
      console.error(`${kind}: something is still open thirty seconds after the last test`);
      process.exit(1);
    }, LEFT_OPEN_MS).unref();
    if (process.env.SCRIP_TEST_REPORT) appendFileSync(process.env.SCRIP_TEST_REPORT, `${JSON.stringify({ kind, ran, skipped })}\n`);
  });
  return (name, body, { skip, timeout = TIMEOUT_MS, counts = 1 } = {}) => {
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
