// Runs a shop's flow with the client that a public generator makes of the description: a code is created, validated, redeemed and found
// again, and a refusal is read. All types come from the description: it compiles under `strict`, with no cast.
import { createClient, createConfig } from "scrip-client/client";
import * as scrip from "scrip-client";

declare const process: { argv: string[] };
const [url, id, token] = process.argv.slice(2);
if (!url || !id || !token) throw new Error("usage: smoke <url> <id> <token>");
const client = createClient(createConfig({ baseUrl: url, headers: { "X-App-Id": id, "X-App-Token": token } }));

function dataOf<T>(what: string, answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(`${what}: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

function expect<T>(what: string, found: T, wanted: T): void {
  if (found !== wanted) throw new Error(`${what}: ${JSON.stringify(found)} and not ${JSON.stringify(wanted)}`);
}

const code = `TS-${Date.now()}`;
const made = dataOf("create", await scrip.createVoucherWithCode({
  client,
  path: { code },
  body: { type: "DISCOUNT_VOUCHER", discount: { type: "PERCENT", percent_off: 10 }, redemption: { quantity: 1 } },
}));
expect("the code", made.code, code);

const request = { redeemables: [{ object: "voucher" as const, id: code }], order: { amount: 10_470 } };
const validation = dataOf("validate", await scrip.validate({ client, body: request }));
expect("the verdict", validation.valid, true);
expect("the total", validation.order?.total_amount, 9_423);

const redeemed = dataOf("redeem", await scrip.redeem({ client, body: request, headers: { "Idempotency-Key": code } }));
expect("one redemption", redeemed.redemptions.length, 1);
expect("its result", redeemed.redemptions[0]?.result, "SUCCESS");

const read = dataOf("get", await scrip.getVoucher({ client, path: { code } }));
expect("redeemed", read.redemption?.redeemed_quantity, 1);

const listed = dataOf("list", await scrip.listRedemptions({ client, query: { limit: 5 } }));
expect("the newest", listed.redemptions.length > 0, true);

const refused = await scrip.getVoucher({ client, path: { code: `${code}-none` } });
expect("the status", refused.response.status, 404);
const error = refused.error;
if (error === undefined || !("key" in error)) throw new Error("a refusal has a key");
expect("the key", error.key, "not_found");

console.log("the TypeScript client works");
