// Counts the requests of the shop: rows, statements and calls of wasm for one request, of many in a row with all background work.
import { IN_A_ROW, prepare } from "./requests.mjs";

const digits = (value) => Math.round(value * 100) / 100;

/** Returns `[{ name, statements, read, written, alarms, calls, by_statement }]`, all for one request; the statements are those of all. */
export async function countRequests({ call, count }) {
  const rows = [];
  for (const { name, send, before, each } of await prepare(call)) {
    await before?.();
    // The first requests of a kind fill caches and draw revisions.
    const first = each === undefined ? 2 : 0;
    const requests = each === undefined ? IN_A_ROW - first : 1;
    for (let number = 0; number < first; number += 1) await send(number);
    const { by_statement, ...sums } = await count(async () => {
      for (let number = first; number < first + requests; number += 1) await send(number);
    });
    const share = Object.entries(sums).map(([key, sum]) => [key, digits(sum / (requests * (each ?? 1)))]);
    rows.push({ name, requests, ...Object.fromEntries(share), by_statement });
  }
  return rows;
}
