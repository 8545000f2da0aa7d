// Reports how many tests a file ran and which it skipped: one JSON line at its end in the file that SCRIP_TEST_REPORT names.
import { appendFileSync } from "node:fs";
import { after, test } from "node:test";

/** Returns a `check(name, body, why?)` that counts; a `why` skips the test and is reported with its name. */
export function countTests(kind) {
  let ran = 0;
  const skipped = [];
  after(() => {
    const line = JSON.stringify({ kind, ran, skipped });
    if (process.env.SCRIP_TEST_REPORT) appendFileSync(process.env.SCRIP_TEST_REPORT, `${line}\n`);
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
