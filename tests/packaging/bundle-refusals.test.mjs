// Tests that the package refuses every bundle that is not proven, each by a code of its own, and keeps the last good one.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { existsSync } from "node:fs";
import { build } from "../../pkg-template/build.mjs";
import { countTests } from "../browser/test_report.mjs";
import { DAY, PROJECT, base64url, claimsOf, datedRules, hmacJws, jws, keyPair, rules, sha256, startServer } from "./bundle_server.mjs";

const check = countTests("packaging");
const pkg = new URL("../../pkg/", import.meta.url);
const key = { id: "dev-client", token: "dev-client-token" };
const [pair, stranger] = [keyPair(), keyPair()];
const [ONE, TWO] = [rules(), rules({ whole_catalogue: false })];
const options = { keys: [pair.jwk], project: PROJECT };

let scrip;
let server;
let state;

before(async () => {
  if (!existsSync(new URL("scrip.wasm", pkg))) await build();
  scrip = await import(new URL("node.js", pkg));
  server = await startServer();
  ({ state } = server);
}, { timeout: 600_000 });
after(() => server.close());

const seconds = () => Math.floor(Date.now() / 1_000);
const claims = (changes = {}) => claimsOf(TWO, { rev: 3_000, ...changes });
const cutBody = (bytes, at) => (_, response) => {
  response.writeHead(200, { "content-length": String(bytes.length) }).write(bytes.subarray(0, at));
  setTimeout(() => response.destroy(), 20);
};
const headOf = (changes, header) => () => { state.head = jws(pair, claims(changes), { header }); };
/** Replaces one of the three parts of a right head. */
const withPart = (index, part) => () => {
  const parts = jws(pair, claims()).split(".");
  parts[index] = part(parts[index]);
  state.head = parts.join(".");
};

/** What the server does after it served ONE, and the code of the refusal. */
const BAD = {
  "a wrong key under the name of the pinned one": ["wrong_signature", () => { state.head = jws(pair, claims(), { by: stranger }); }],
  "an unknown key": ["unknown_key", () => { state.head = jws(stranger, claims()); state.keys = [stranger.jwk, pair.jwk]; }],
  "alg none with the signature": ["wrong_algorithm", headOf({}, { alg: "none" })],
  "alg none without a signature": ["wrong_algorithm", () => { state.head = `${base64url({ alg: "none", kid: pair.kid, typ: "scrip-bundle+jwt" })}.${base64url(claims())}.`; }],
  "HS256 with the public key as the secret": ["wrong_algorithm", () => { state.head = hmacJws(pair, claims()); }],
  "another name of the algorithm": ["wrong_algorithm", headOf({}, { alg: "Ed25519" })],
  "a header with crit": ["damaged", headOf({}, { crit: ["exp"] })],
  "a header with its own key": ["damaged", headOf({}, { jwk: pair.jwk })],
  "a header with the address of keys": ["damaged", headOf({}, { jku: "https://keys.example" })],
  "the typ of a vouching": ["damaged", headOf({}, { typ: "scrip-key+jwt" })],
  "no typ": ["damaged", headOf({}, { typ: undefined })],
  "no kid": ["damaged", headOf({}, { kid: undefined })],
  "another project": ["wrong_project", headOf({ iss: "proj_2" })],
  "format 3": ["unknown_format", headOf({ fmt: 3 })],
  "format 2 as a text": ["unknown_format", headOf({ fmt: "2" })],
  "no format": ["unknown_format", headOf({ fmt: undefined })],
  "an end that is over": ["expired", () => headOf({ iat: seconds() - 86_410, exp: seconds() - 10, from: Date.now() - DAY, to: Date.now() - DAY / 2 })()],
  "issued more than five minutes ahead": ["issued_ahead", () => headOf({ iat: seconds() + 310, exp: seconds() + 86_400 })()],
  "a lower rev": ["older_revision", headOf({ rev: 1_999 })],
  "a lower epoch with a higher rev": ["older_revision", headOf({ epoch: 999, rev: 9_000 })],
  "another head of the same revision": ["older_revision", headOf({ rev: 2_000 })],
  "another core than the head names": ["wrong_core", () => { headOf()(); state.cores[sha256(TWO)] = ONE; }],
  "a core cut in front of its declared length": ["damaged", () => { headOf()(); state.instead.core = cutBody(Buffer.from(TWO), 100); }],
  "a core that is too large": ["damaged", () => { headOf()(); state.cores[sha256(TWO)] = TWO + " ".repeat(512 * 1024); }],
  "a head cut in front of its declared length": ["damaged", () => { state.instead.bundle = cutBody(Buffer.from(jws(pair, claims())), 100); }],
  "a head that is too large": ["damaged", headOf({ more: "a".repeat(4_000) })],
  "an empty head": ["damaged", () => { state.head = ""; }],
  "a page in place of a head": ["damaged", () => { state.head = "<!doctype html><title>Log in</title>"; }],
  "a bundle of format 1": ["damaged", () => { state.head = ONE; }],
  "a head with a line end": ["damaged", () => { state.head = `${jws(pair, claims())}\n`; }],
  "a head with a mark of the byte order": ["damaged", () => { state.head = `\u{feff}${jws(pair, claims())}`; }],
  "bytes that are no text": ["damaged", () => { state.head = Buffer.from([0xff, 0xfe, 0x2e, 0x2e]); }],
  "a signature of 63 bytes": ["damaged", withPart(2, () => "A".repeat(84))],
  "a signature with padding": ["damaged", withPart(2, (part) => `${part}==`)],
  "claims in base64": ["damaged", withPart(1, (part) => `${part.slice(0, -1)}+`)],
  "claims that are a list": ["damaged", withPart(1, () => base64url([]))],
  "a rule set that cannot be read": ["damaged", () => server.serve(pair, "[1]", { rev: 3_000 })],
  "an index that lists no hashes": ["damaged", () => server.serve(pair, '{"parts":["../x"]}', { rev: 3_000 })],
  "an index with another member": ["damaged", () => server.serve(pair, JSON.stringify({ parts: [sha256("a")], more: 1 }), { rev: 3_000 })],
  "an index of too many parts": ["damaged", () => server.serve(pair, JSON.stringify({ parts: Array(129).fill(sha256("a")) }), { rev: 3_000 })],
  "a confirmation of another head": ["damaged", () => { state.instead.bundle = (_, response) => response.writeHead(304, { etag: `"${"0".repeat(64)}"` }).end(); }],
  "no core": [undefined, () => { headOf()(); state.cores = {}; }, { status: 404 }],
  "an error of the service": [undefined, () => { state.instead.bundle = (_, response) => response.writeHead(500).end("{}"); }, { status: 500 }],
  "a connection that breaks": [undefined, () => { state.instead.bundle = (request) => request.socket.destroy(); }],
};
const WRONG_CLAIMS = {
  iss: [undefined, "", 5, "a".repeat(101)], decides: [undefined, -1, 1.5, "1", null, 2 ** 32], writes: [undefined, [1]],
  epoch: [undefined, -1, "1000", 1e300, 253_402_300_800_000], rev: [undefined, 2 ** 53, true, 3_000.5], core: [undefined, "../secret", sha256("a").toUpperCase(), 5],
  from: [undefined, -1, "now"], to: [undefined, 5, claimsOf(TWO).from, claimsOf(TWO).from + DAY / 2 + DAY], iat: [undefined, -1, "1"],
  exp: [undefined, "soon", claimsOf(TWO).iat, claimsOf(TWO).iat + 90_000, claimsOf(TWO).iat + 60], left_out: [undefined, "products", [5], {}],
};
for (const [name, values] of Object.entries(WRONG_CLAIMS)) {
  for (const value of values) BAD[`the claim ${name} is ${JSON.stringify(value)?.slice(0, 40)}`] = ["damaged", headOf({ [name]: value })];
}

for (const [name, [code, spoil, more = {}]] of Object.entries(BAD)) {
  check(`${name}: refused${code ? ` as ${code}` : ""}, and the last good one stays`, async () => {
    server.serve(pair, ONE);
    const good = await scrip.fetchBundle(server.base, key, undefined, options);
    assert.equal(good.fresh, true);
    Object.assign(state.cores, { [sha256(TWO)]: TWO });
    spoil();
    const kept = await scrip.fetchBundle(server.base, key, good, options);
    assert.ok(kept.problem instanceof Error, "a problem");
    assert.deepEqual([kept.problem.code, kept.fresh], [code, false], kept.problem.message);
    for (const [member, value] of Object.entries(more)) assert.equal(kept.problem[member], value);
    assert.equal(kept.prepared, good.prepared);
    for (const member of ["head", "core", "keys", "ratchet"]) assert.deepEqual(kept[member], good[member], member);
    if (code !== "older_revision") {
      const alone = await scrip.fetchBundle(server.base, key, undefined, options).catch((error) => error);
      assert.deepEqual([alone instanceof Error, alone.code], [true, alone.status === 304 ? undefined : code]);
    }
    server.serve(pair, TWO, { rev: 3_000 });
    const healed = await scrip.fetchBundle(server.base, key, kept, options);
    assert.deepEqual([healed.fresh, healed.problem, healed.prepared.hash], [true, undefined, sha256(TWO)]);
  });
}

check("a head just inside of its bounds is accepted: the last second before its end, and four minutes ahead", async () => {
  server.serve(pair, ONE, { iat: seconds() + 240, exp: seconds() + 86_640 });
  assert.equal((await scrip.fetchBundle(server.base, key, undefined, options)).fresh, true);
  server.serve(pair, ONE, { iat: seconds() - 86_380, exp: seconds() + 20, from: Date.now() - DAY, to: Date.now() - DAY / 2 });
  assert.equal((await scrip.fetchBundle(server.base, key, undefined, options)).fresh, true);
});

check("claims of later versions are ignored", async () => {
  server.serve(pair, ONE, { goods: { root: sha256("a"), buckets: 16 }, left_out: ["products", "a later kind"] });
  assert.equal((await scrip.fetchBundle(server.base, key, undefined, options)).fresh, true);
});

const REFUSED = new Set(["unknown_key", "wrong_algorithm", "wrong_signature", "unknown_format", "damaged", "wrong_project", "wrong_core"]);

check("one flipped bit at each position of a head is refused", async () => {
  const good = server.serve(pair, ONE, {}, {});
  const codes = {};
  for (let bit = 0; bit < good.length * 8; bit += 1) {
    const changed = Buffer.from(good);
    changed[bit >> 3] ^= 1 << (bit & 7);
    state.head = changed;
    const problem = await scrip.fetchBundle(server.base, key, undefined, options).then(() => undefined, (error) => error);
    assert.ok(REFUSED.has(problem?.code), `bit ${bit}: ${problem?.stack ?? "accepted"}`);
    codes[problem.code] = (codes[problem.code] ?? 0) + 1;
  }
  assert.ok(codes.wrong_signature > 1_000 && codes.damaged > 500, JSON.stringify(codes));
});

check("one flipped bit at each position of a core is refused, fetched and kept", async () => {
  server.serve(pair, ONE);
  const good = await scrip.fetchBundle(server.base, key, undefined, options);
  const stored = { ...good, prepared: undefined };
  server.paths();
  for (let bit = 0; bit < ONE.length * 8; bit += 1) {
    const changed = Buffer.from(ONE);
    changed[bit >> 3] ^= 1 << (bit & 7);
    state.cores[sha256(ONE)] = changed;
    // The kept copy has the same damage: it is not used, and the service's is refused.
    const fetching = scrip.fetchBundle(server.base, key, { ...stored, core: new Uint8Array(changed) }, options);
    await assert.rejects(fetching, { code: "wrong_core" }, `bit ${bit}`);
  }
  assert.equal(server.paths().length, ONE.length * 8 * 2);
});

check("one flipped bit at each position of a kept head: it is fetched again", async () => {
  const head = server.serve(pair, ONE);
  const good = { ...await scrip.fetchBundle(server.base, key, undefined, options), prepared: undefined };
  for (let bit = 0; bit < head.length * 8; bit += 5) {
    const changed = Buffer.from(head);
    changed[bit >> 3] ^= 1 << (bit & 7);
    const healed = await scrip.fetchBundle(server.base, key, { ...good, head: changed.toString("latin1") }, options);
    assert.deepEqual([healed.fresh, healed.head], [true, head], `bit ${bit}`);
    assert.equal(server.seen.splice(0)[0].headers["if-none-match"], undefined, `bit ${bit}`);
  }
});

check("a head and a core cut anywhere are refused", async () => {
  const head = server.serve(pair, ONE);
  for (let length = 0; length < head.length; length += 1) {
    state.head = head.slice(0, length);
    await assert.rejects(scrip.fetchBundle(server.base, key, undefined, options), { code: "damaged" }, `${length} bytes of the head`);
  }
  state.head = head;
  for (let length = 0; length < ONE.length; length += 1) {
    state.cores[sha256(ONE)] = ONE.slice(0, length);
    await assert.rejects(scrip.fetchBundle(server.base, key, undefined, options), { code: "wrong_core" }, `${length} bytes of the core`);
  }
});

check("a verdict outside of the horizon lacks it, also after the end of the head; inside it is final", async () => {
  const now = Date.now();
  server.serve(pair, datedRules(now), { from: now - 1_000, to: now + DAY / 2 - 1_000 });
  const { prepared } = await scrip.fetchBundle(server.base, key, undefined, options);
  const missing = (at) => prepared.validateObject({ redeemables: [{ object: "voucher", id: "ALWAYS" }], order: { amount: 1_000 } }, { now: at }).missing;
  assert.ok(!missing(now)?.includes("horizon"), `${missing(now)}`);
  for (const at of [now - 2_000, now + DAY / 2 - 1_000, now + DAY + 1_000, now + 40 * DAY]) assert.ok(missing(at)?.includes("horizon"), `${at - now} ms`);
});

check("a service with another engine: all verdicts lack it; with other bytes the bundle says so", async () => {
  server.serve(pair, datedRules(Date.now()), { decides: 3 });
  const ask = { redeemables: [{ object: "voucher", id: "ALWAYS" }], order: { amount: 1_000 } };
  const other = await scrip.fetchBundle(server.base, key, undefined, options);
  assert.ok(other.prepared.validateObject(ask).missing.includes("engine"));
  assert.equal(other.writes, true);
  server.serve(pair, datedRules(Date.now()), { writes: 3, rev: 3_000 });
  const written = await scrip.fetchBundle(server.base, key, other, options);
  assert.ok(!written.prepared.validateObject(ask).missing?.includes("engine"));
  assert.deepEqual([written.fresh, written.writes], [true, false]);
});
