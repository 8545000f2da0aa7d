// Everything that a service can answer in place of a right bundle, each with the code by which the package refuses it.
import { setTimeout } from "node:timers";
import { DAY, PROJECT, base64url, claimsOf, hmacJws, jws, rules, sha256 } from "./bundle_server.mjs";

/** The rules that are served first, and those that a wrong answer is to bring. */
export const [ONE, TWO] = [rules(), rules({ whole_catalogue: false })];

const seconds = () => Math.floor(Date.now() / 1_000);

/** Returns by name the code of the refusal, what a server that served ONE does then, and further members of the problem. */
export function badBundles(server, pair, otherPair) {
  const { state } = server;
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

  const BAD = {
    "a wrong key under the name of the pinned one": ["wrong_signature", () => { state.head = jws(pair, claims(), { by: otherPair }); }],
    "an unknown key": ["unknown_key", () => { state.head = jws(otherPair, claims()); state.keys = [otherPair.jwk, pair.jwk]; }],
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
    "an end that is over": ["expired", () => headOf({ iat: seconds() - 86_410, exp: seconds() - 10, from: Date.now() - DAY, to: Date.now() - DAY / 2 - 1_000 })()],
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
  return BAD;
}
