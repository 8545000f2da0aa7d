// Tests which keys the package trusts: those that are pinned, and those that a pinned one vouches for. Tests the ratchet and the parts too.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { existsSync } from "node:fs";
import { build } from "../../pkg-template/build.mjs";
import { countTests } from "../browser/test_report.mjs";
import { PROJECT, claimsOf, jws, keyPair, rules, sha256, startServer, thumbprint, vouchedBy } from "./bundle_server.mjs";

const check = countTests("packaging");
const pkg = new URL("../../pkg/", import.meta.url);
const key = { id: "dev-client", token: "dev-client-token" };
const [first, second, third, unpinned] = [keyPair(), keyPair(), keyPair(), keyPair()];
const [ONE, TWO] = [rules(), rules({ whole_catalogue: false })];
const project = PROJECT;

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

const fetchWith = (lastGood, options = {}) => pieces.fetchBundle(server.base, key, lastGood, options);
/** What a page would keep: data without the rules. */
const stored = (bundle) => structuredClone({ ...bundle, prepared: undefined, problem: undefined });
const offline = () => { state.instead.bundle = (request) => request.socket.destroy(); };

check("without pinned keys the first fetch pins what the service lists, and later fetches trust only that", async () => {
  server.serve(first, ONE);
  server.paths();
  const one = await fetchWith();
  assert.deepEqual(server.paths().sort(), ["/client/v1/bundle", `/client/v1/bundle/${project}/${sha256(ONE)}`, "/client/v1/jwks"]);
  assert.deepEqual(one.keys, [{ kty: "OKP", crv: "Ed25519", x: first.x, kid: first.kid }]);
  server.serve(unpinned, TWO, { rev: 3_000 });
  const two = await fetchWith(stored(one));
  assert.deepEqual([two.fresh, two.problem.code], [false, "unknown_key"]);
  await assert.rejects(fetchWith(undefined, { project: "proj_2" }), { code: "wrong_project" });
  state.keys = [];
  await assert.rejects(fetchWith(), { code: "unknown_key" });
  state.instead.jwks = (_, response) => response.writeHead(200).end("<html>");
  await assert.rejects(fetchWith(), { code: "damaged" });
  state.instead.jwks = (_, response) => response.writeHead(200).end(JSON.stringify({ keys: [unpinned.jwk] }));
  await assert.rejects(fetchWith(), { code: "damaged" });
  state.instead.jwks = (_, response) => response.writeHead(200).end(`"${"a".repeat(70_000)}"`);
  await assert.rejects(fetchWith(), { code: "damaged" });
});

check("pinned keys: no other list is requested, and a head of another key is refused from the first fetch on", async () => {
  server.serve(first, ONE);
  server.paths();
  const one = await fetchWith(undefined, { keys: [{ kty: "OKP", crv: "Ed25519", x: first.x }], project });
  assert.ok(!server.paths().includes("/client/v1/jwks"));
  assert.equal(one.fresh, true);
  server.serve(unpinned, ONE);
  await assert.rejects(fetchWith(undefined, { keys: [first.jwk] }), { code: "unknown_key" });
  // The copy that was stored under other keys is not this one's: neither its rules nor its revision count.
  server.serve(second, TWO, { rev: 1 });
  const other = await fetchWith(one, { keys: [second.jwk] });
  assert.deepEqual([other.fresh, other.ratchet.rev], [true, 1]);
});

check("a rotation: a key for which the pinned one vouches signs, and its bundle starts offline by the old pin", async () => {
  for (const options of [{}, { keys: [first.jwk], project }, { keys: [first.jwk] }]) {
    server.serve(first, ONE);
    const one = await fetchWith(undefined, options);
    server.serve(second, TWO, { rev: 3_000 });
    state.keys = [vouchedBy(first, second), first.jwk];
    const two = await fetchWith(stored(one), options);
    assert.equal(two.fresh, true, two.problem?.message);
    assert.deepEqual(two.keys.map(({ kid }) => kid).sort(), [first.kid, second.kid].sort());
    offline();
    const three = await fetchWith(stored(two), options);
    assert.deepEqual([three.fresh, three.prepared.hash, three.problem.code], [false, sha256(TWO), undefined]);
  }
});

check("two rotations at once: a chain of vouching, and a key that the service no longer lists is forgotten", async () => {
  server.serve(first, ONE);
  const one = await fetchWith();
  server.serve(third, TWO, { rev: 3_000 });
  state.keys = [vouchedBy(second, third), vouchedBy(first, second)];
  const two = await fetchWith(stored(one));
  assert.equal(two.fresh, true, two.problem?.message);
  assert.deepEqual(two.keys.map(({ kid }) => kid).sort(), [second.kid, third.kid].sort());
  state.head = jws(first, claimsOf(ONE, { rev: 4_000 }));
  assert.equal((await fetchWith(stored(two))).problem.code, "unknown_key");
});

check("the first fetch pins no former key: one that signs again is refused", async () => {
  server.serve(second, ONE);
  state.keys = [vouchedBy(first, second), { ...first.jwk, status: "FORMER" }];
  const one = await fetchWith();
  assert.deepEqual(one.keys.map(({ kid }) => kid), [second.kid]);
  server.serve(first, TWO, { rev: 3_000 });
  state.keys = [vouchedBy(first, second), { ...first.jwk, status: "FORMER" }];
  assert.equal((await fetchWith(stored(one))).problem.code, "unknown_key");
});

check("a chain of vouching that was broken: no bundle is accepted that the same pins would not prove again", async () => {
  const options = { keys: [first.jwk], project };
  server.serve(second, ONE);
  state.keys = [vouchedBy(first, second), { ...first.jwk, status: "FORMER" }];
  const one = await fetchWith(undefined, options);
  assert.equal(one.fresh, true, one.problem?.message);
  // The second key was retired after it had vouched for the third one, which the stored copy does not have.
  server.serve(third, TWO, { rev: 3_000 });
  state.keys = [third.jwk, { ...first.jwk, status: "FORMER" }];
  const two = await fetchWith(stored(one), options);
  assert.deepEqual([two.fresh, two.problem.code, two.prepared.hash], [false, "unknown_key", sha256(ONE)]);
  // The service vouches for the third key by the second one, which it does not list any more.
  state.keys = [vouchedBy(second, third), { ...first.jwk, status: "FORMER" }];
  for (const copy of [one, stored(one)]) {
    const three = await fetchWith(copy, options);
    assert.deepEqual([three.fresh, three.problem.code, three.prepared.hash], [false, "unknown_key", sha256(ONE)]);
    offline();
    const four = await fetchWith(stored(three), options);
    assert.deepEqual([four.fresh, four.prepared.hash], [false, sha256(ONE)]);
    delete state.instead.bundle;
  }
});

const BAD_VOUCHING = {
  "of a key that is not pinned": () => vouchedBy(unpinned, second),
  "in the name of the pinned key, by another one": () => vouchedBy(first, second, { by: unpinned }),
  "of another project": () => vouchedBy(first, second, { iss: "proj_2" }),
  "for another key": () => ({ ...second.jwk, vouched_by: vouchedBy(first, third).vouched_by }),
  "of itself": () => vouchedBy(second, second),
  "with the typ of a head": () => vouchedBy(first, second, { typ: "scrip-bundle+jwt" }),
  "with alg none": () => vouchedBy(first, second, { header: { alg: "none" } }),
  "without a time": () => vouchedBy(first, second, { claims: { iat: "now" } }),
  "without a key": () => vouchedBy(first, second, { claims: { jwk: null } }),
  "that is missing": () => second.jwk,
  "that is no text": () => ({ ...second.jwk, vouched_by: 5 }),
  "for a key named by another thumbprint": () => ({ ...vouchedBy(first, second), kid: third.kid }),
  "for a key that encrypts": () => ({ ...vouchedBy(first, second), use: "enc" }),
};
for (const [name, listed] of Object.entries(BAD_VOUCHING)) {
  check(`a vouching ${name} is refused`, async () => {
    server.serve(first, ONE);
    const one = await fetchWith();
    server.serve(second, TWO, { rev: 3_000 });
    state.keys = [listed(), first.jwk];
    const two = await fetchWith(one);
    assert.deepEqual([two.fresh, two.problem?.code], [false, "unknown_key"]);
    state.keys = [vouchedBy(first, second)];
    assert.equal((await fetchWith(two)).fresh, true);
  });
}

check("a vouched key of another project is refused, also where the head is of that project", async () => {
  server.serve(first, ONE);
  const one = await fetchWith();
  server.serve(second, TWO, { rev: 3_000, iss: "proj_2" });
  state.keys = [vouchedBy(first, second, { iss: "proj_2" })];
  assert.equal((await fetchWith(one)).problem.code, "unknown_key");
  state.project = "proj_2";
  assert.equal((await fetchWith(one)).problem.code, "wrong_project");
  await assert.rejects(fetchWith(undefined, { keys: [first.jwk], project }), { code: "wrong_project" });
});

check("pinned keys and a project that are none are mistakes of the caller, named by their place", async () => {
  const { privateKey: _, ...none } = { ...first.jwk, x: first.x.slice(1) };
  for (const keys of [[], "a key", [none], [{ ...first.jwk, kid: "other" }], [{ ...first.jwk, crv: "P-256" }], [null]]) {
    await assert.rejects(fetchWith(undefined, { keys }), { name: "TypeError", message: /^keys(\[0\])? must/ });
  }
  await assert.rejects(fetchWith(undefined, { project: 5 }), TypeError);
});

check("a key that fits every message is refused, pinned or not", async () => {
  // The neutral point: plain Ed25519 accepts R = the same point and S = 0 as its signature of anything.
  const x = Buffer.from([1, ...Array(31).fill(0)]).toString("base64url");
  const kid = thumbprint(x);
  const [header, claims] = jws({ ...first, kid }, claimsOf(ONE)).split(".");
  server.serve(first, ONE);
  state.head = `${header}.${claims}.${Buffer.from([1, ...Array(63).fill(0)]).toString("base64url")}`;
  await assert.rejects(fetchWith(undefined, { keys: [{ kty: "OKP", crv: "Ed25519", x, kid }] }), { code: "wrong_signature" });
});

check("an archive's bundle, of a higher epoch and a lower rev, is accepted; the former one is not any more", async () => {
  server.serve(first, ONE, { epoch: 1_000, rev: 9_000 });
  const one = await fetchWith();
  const former = state.head;
  server.serve(first, TWO, { epoch: 1_001, rev: 10 });
  const two = await fetchWith(stored(one));
  assert.deepEqual([two.fresh, two.ratchet], [true, { epoch: 1_001, rev: 10 }]);
  server.serve(first, ONE);
  state.head = former;
  assert.equal((await fetchWith(stored(two))).problem.code, "older_revision");
});

check("the revision of a damaged copy still counts where its head is proven", async () => {
  server.serve(first, ONE, { rev: 5_000 });
  const one = stored(await fetchWith());
  server.serve(first, TWO, { rev: 4_000 });
  const damaged = { ...one, core: one.core.slice(1) };
  await assert.rejects(fetchWith(damaged), { code: "older_revision" });
  server.serve(first, TWO, { rev: 6_000 });
  assert.equal((await fetchWith(damaged)).fresh, true);
  // Keys are stored too: those of the service are not pinned again.
  server.serve(unpinned, TWO, { rev: 6_000 });
  await assert.rejects(fetchWith({ ...one, head: "none" }), { code: "unknown_key" });
});

/** Serves a core in parts of the given sizes; returns its hashes. */
function serveParts(core, sizes, claims) {
  let at = 0;
  const parts = sizes.map((size) => core.slice(at, (at += size)));
  const index = JSON.stringify({ parts: parts.map(sha256) });
  server.serve(first, index, claims);
  for (const part of parts) state.cores[sha256(part)] = part;
  return parts.map(sha256);
}

check("a core in parts is joined, stored, and checked again, part by part", async () => {
  const large = rules({ campaigns: Array.from({ length: 5_000 }, (_, at) => ({ id: `camp_${at}`, name: `${at} ${"x".repeat(200)}` })) });
  const sizes = [512 * 1024, 512 * 1024 - 3];
  const hashes = serveParts(large, [...sizes, large.length - sizes[0] - sizes[1]], { rev: 2_000 });
  const options = { keys: [first.jwk] };
  const one = await fetchWith(undefined, options);
  assert.equal(one.prepared.hash, sha256(large));
  assert.equal(server.paths().filter((path) => hashes.some((hash) => path.endsWith(hash))).length, 3);
  offline();
  const again = await fetchWith(stored(one), options);
  assert.deepEqual([again.fresh, again.prepared.hash], [false, sha256(large)]);
  const core = one.core.slice();
  core[700_000] ^= 1;
  for (const spoilt of [{ core }, { parts: undefined }, { parts: [1, 2] }, { parts: "many" }, { parts: [large.length] }]) {
    await assert.rejects(fetchWith({ ...stored(one), ...spoilt }, options), TypeError, JSON.stringify(spoilt).slice(0, 50));
  }
  state.instead = {};
  state.cores[hashes[1]] = state.cores[hashes[1]].replace("x", "y");
  await assert.rejects(fetchWith(undefined, options), { code: "wrong_core" });
  serveParts(large, [512 * 1024 + 1, large.length - 512 * 1024 - 1], { rev: 3_000 });
  await assert.rejects(fetchWith(undefined, options), { code: "damaged" });
});
