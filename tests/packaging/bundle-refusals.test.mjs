// Tests that the package refuses every bundle that is not proven, each by a code of its own, and keeps the last good one.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { existsSync } from "node:fs";
import { build } from "../../pkg-template/build.mjs";
import { countTests } from "../browser/test_report.mjs";
import { ONE, TWO, badBundles } from "./bad_bundles.mjs";
import { DAY, PROJECT, datedRules, keyPair, sha256, startServer } from "./bundle_server.mjs";

const check = countTests("packaging");
const pkg = new URL("../../pkg/", import.meta.url);
const key = { id: "dev-client", token: "dev-client-token" };
const [pair, otherPair] = [keyPair(), keyPair()];
const options = { keys: [pair.jwk], project: PROJECT };

let pieces;
let server;
let state;

before(async () => {
  if (!existsSync(new URL("scrip.wasm", pkg))) await build();
  await import(new URL("node.js", pkg));
  pieces = await import(new URL("service.js", pkg));
  server = await startServer();
  ({ state } = server);
}, { timeout: 600_000 });
after(() => server.close());

const seconds = () => Math.floor(Date.now() / 1_000);

// A test makes its wrong answer when it runs: that has times.
for (const [at, [name, [code, , more = {}]]] of Object.entries(badBundles({}, pair, otherPair)).entries()) {
  check(`${name}: refused${code ? ` as ${code}` : ""}, and the last good one stays`, async () => {
    server.serve(pair, ONE);
    const good = await pieces.fetchBundle(server.base, key, undefined, options);
    assert.equal(good.fresh, true);
    Object.assign(state.cores, { [sha256(TWO)]: TWO });
    Object.values(badBundles(server, pair, otherPair))[at][1]();
    const refused = await pieces.fetchBundle(server.base, key, good, options);
    assert.ok(refused.problem instanceof Error, "a problem");
    assert.deepEqual([refused.problem.code, refused.fresh], [code, false], refused.problem.message);
    for (const [member, value] of Object.entries(more)) assert.equal(refused.problem[member], value);
    assert.equal(refused.prepared, good.prepared);
    for (const member of ["head", "core", "keys", "ratchet"]) assert.deepEqual(refused[member], good[member], member);
    if (code !== "older_revision") {
      const alone = await pieces.fetchBundle(server.base, key, undefined, options).catch((error) => error);
      assert.deepEqual([alone instanceof Error, alone.code], [true, alone.status === 304 ? undefined : code]);
    }
    server.serve(pair, TWO, { rev: 3_000 });
    const healed = await pieces.fetchBundle(server.base, key, refused, options);
    assert.deepEqual([healed.fresh, healed.problem, healed.prepared.hash], [true, undefined, sha256(TWO)]);
  });
}

check("a head just inside of its bounds is accepted: the last second before its end, and four minutes ahead", async () => {
  server.serve(pair, ONE, { iat: seconds() + 240, exp: seconds() + 86_640 });
  assert.equal((await pieces.fetchBundle(server.base, key, undefined, options)).fresh, true);
  server.serve(pair, ONE, { iat: seconds() - 86_380, exp: seconds() + 20, from: Date.now() - DAY, to: Date.now() - DAY / 2 });
  assert.equal((await pieces.fetchBundle(server.base, key, undefined, options)).fresh, true);
});

check("claims of later versions are ignored", async () => {
  server.serve(pair, ONE, { goods: { root: sha256("a"), buckets: 16 }, left_out: ["products", "a later kind"] });
  assert.equal((await pieces.fetchBundle(server.base, key, undefined, options)).fresh, true);
});

const REFUSED = new Set(["unknown_key", "wrong_algorithm", "wrong_signature", "unknown_format", "damaged", "wrong_project", "wrong_core"]);

check("one flipped bit at each position of a head is refused", async () => {
  const good = server.serve(pair, ONE, {}, {});
  const codes = {};
  for (let bit = 0; bit < good.length * 8; bit += 1) {
    const changed = Buffer.from(good);
    changed[bit >> 3] ^= 1 << (bit & 7);
    state.head = changed;
    const problem = await pieces.fetchBundle(server.base, key, undefined, options).then(() => undefined, (error) => error);
    assert.ok(REFUSED.has(problem?.code), `bit ${bit}: ${problem?.stack ?? "accepted"}`);
    codes[problem.code] = (codes[problem.code] ?? 0) + 1;
  }
  assert.ok(codes.wrong_signature > 1_000 && codes.damaged > 500, JSON.stringify(codes));
});

check("one flipped bit at each position of a core is refused, fetched and stored", async () => {
  server.serve(pair, ONE);
  const good = await pieces.fetchBundle(server.base, key, undefined, options);
  const stored = { ...good, prepared: undefined };
  server.paths();
  for (let bit = 0; bit < ONE.length * 8; bit += 1) {
    const changed = Buffer.from(ONE);
    changed[bit >> 3] ^= 1 << (bit & 7);
    state.cores[sha256(ONE)] = changed;
    // The stored copy has the same damage: it is not used, and the service's is refused.
    const fetching = pieces.fetchBundle(server.base, key, { ...stored, core: new Uint8Array(changed) }, options);
    await assert.rejects(fetching, { code: "wrong_core" }, `bit ${bit}`);
  }
  assert.equal(server.paths().length, ONE.length * 8 * 2);
});

check("one flipped bit at each position of a stored head: it is fetched again", async () => {
  const head = server.serve(pair, ONE);
  const good = { ...await pieces.fetchBundle(server.base, key, undefined, options), prepared: undefined };
  for (let bit = 0; bit < head.length * 8; bit += 5) {
    const changed = Buffer.from(head);
    changed[bit >> 3] ^= 1 << (bit & 7);
    const healed = await pieces.fetchBundle(server.base, key, { ...good, head: changed.toString("latin1") }, options);
    assert.deepEqual([healed.fresh, healed.head], [true, head], `bit ${bit}`);
    assert.equal(server.requests.splice(0)[0].headers["if-none-match"], undefined, `bit ${bit}`);
  }
});

check("a head and a core cut anywhere are refused", async () => {
  const head = server.serve(pair, ONE);
  for (let length = 0; length < head.length; length += 1) {
    state.head = head.slice(0, length);
    await assert.rejects(pieces.fetchBundle(server.base, key, undefined, options), { code: "damaged" }, `${length} bytes of the head`);
  }
  state.head = head;
  for (let length = 0; length < ONE.length; length += 1) {
    state.cores[sha256(ONE)] = ONE.slice(0, length);
    await assert.rejects(pieces.fetchBundle(server.base, key, undefined, options), { code: "wrong_core" }, `${length} bytes of the core`);
  }
});

check("a verdict outside of the horizon lacks it, also after the end of the head; inside it is final", async () => {
  const now = Date.now();
  server.serve(pair, datedRules(now), { from: now - 1_000, to: now + DAY / 2 - 1_000 });
  const { prepared } = await pieces.fetchBundle(server.base, key, undefined, options);
  const missing = (at) => prepared.validateObject({ redeemables: [{ object: "voucher", id: "ALWAYS" }], order: { amount: 1_000 } }, { now: at }).missing;
  assert.ok(!missing(now)?.includes("horizon"), `${missing(now)}`);
  for (const at of [now - 2_000, now + DAY / 2 - 1_000, now + DAY + 1_000, now + 40 * DAY]) assert.ok(missing(at)?.includes("horizon"), `${at - now} ms`);
});

check("a service with another engine: all verdicts lack it; with other bytes the bundle declares it", async () => {
  server.serve(pair, datedRules(Date.now()), { decides: 3 });
  const request = { redeemables: [{ object: "voucher", id: "ALWAYS" }], order: { amount: 1_000 } };
  const other = await pieces.fetchBundle(server.base, key, undefined, options);
  assert.ok(other.prepared.validateObject(request).missing.includes("engine"));
  assert.equal(other.writes, true);
  server.serve(pair, datedRules(Date.now()), { writes: 3, rev: 3_000 });
  const written = await pieces.fetchBundle(server.base, key, other, options);
  assert.ok(!written.prepared.validateObject(request).missing?.includes("engine"));
  assert.deepEqual([written.fresh, written.writes], [true, false]);
});
