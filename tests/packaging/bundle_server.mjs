// A bare HTTP server in place of the service: it signs heads with keys of Node, and can answer wrongly in every way.
import { createCipheriv, createHash, createHmac, generateKeyPairSync, pbkdf2Sync, sign } from "node:crypto";
import { createServer } from "node:http";

export const PROJECT = "proj_1";
export const DAY = 24 * 60 * 60 * 1000;
const LISTS = ["campaigns", "vouchers", "promotion_tiers", "promotion_stacks", "categories", "products", "skus", "product_collections",
  "segments", "validation_rules", "validation_rules_assignments"];

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
export const base64url = (value) => Buffer.from(Buffer.isBuffer(value) ? value : typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

/** Returns the name of an Ed25519 key by RFC 7638. */
export const thumbprint = (x) => createHash("sha256").update(JSON.stringify({ crv: "Ed25519", kty: "OKP", x })).digest("base64url");

/** Returns a key pair with its JSON Web Key, named by its thumbprint. */
export function keyPair() {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { crv, kty, x } = publicKey.export({ format: "jwk" });
  const kid = thumbprint(x);
  return { privateKey, kid, x, jwk: { kty, crv, x, kid, alg: "EdDSA", use: "sig", status: "SIGNING", signs_from: "2026-01-01T00:00:00.000Z", vouched_by: null } };
}

/** Signs claims as a compact JWS. `header` replaces members, and `by` the key that signs. */
export function jws(pair, claims, { typ = "scrip-bundle+jwt", header = {}, by = pair } = {}) {
  const signed = `${base64url({ alg: "EdDSA", kid: pair.kid, typ, ...header })}.${base64url(claims)}`;
  return `${signed}.${base64url(sign(null, Buffer.from(signed), by.privateKey))}`;
}

/** Returns a key's JSON Web Key, for which another one vouches. */
export function vouchedBy(by, pair, { iss = PROJECT, claims = {}, ...options } = {}) {
  const { crv, kty, x } = pair.jwk;
  const vouching = jws(by, { iss, iat: 1_780_000_000, jwk: { crv, kty, x }, ...claims }, { typ: "scrip-key+jwt", ...options });
  return { ...pair.jwk, vouched_by: vouching };
}

/** Signs a text by HMAC with the bytes of a public key as the secret. */
export function hmacJws(pair, claims) {
  const signed = `${base64url({ alg: "HS256", kid: pair.kid, typ: "scrip-bundle+jwt" })}.${base64url(claims)}`;
  return `${signed}.${createHmac("sha256", Buffer.from(pair.x, "base64url")).update(signed).digest("base64url")}`;
}

/** Returns rules as the service writes them, with the given members replaced. */
export const rules = (members = {}) => JSON.stringify({
  complete: false, counted: true, client: {}, whole_catalogue: true, project: { id: PROJECT },
  time_zone: { name: "UTC", offset: 0, transitions: [] }, stacking_rules: {},
  ...Object.fromEntries(LISTS.map((name) => [name, []])), ...members,
});

/**
 * Returns the member of rules with boxes of codes, by code in its normal form: each has a set of rules, sealed as the service does. Few
 * rounds make a test faster.
 */
export function sealedCodes(contents, { salt = Buffer.alloc(32, 7), rounds = 100 } = {}) {
  const boxes = Object.entries(contents).map(([code, content]) => {
    const key = pbkdf2Sync(code, salt, rounds, 32, "sha256");
    const nonce = createHmac("sha256", key).update(JSON.stringify(content)).digest().subarray(0, 12);
    const cipher = createCipheriv("aes-128-gcm", key.subarray(16), nonce);
    const closed = Buffer.concat([cipher.update(JSON.stringify(content)), cipher.final()]);
    return [key.subarray(0, 16).toString("base64url"), Buffer.concat([nonce, closed, cipher.getAuthTag()]).toString("base64url")];
  });
  return { salt: salt.toString("base64url"), rounds, boxes: Object.fromEntries(boxes) };
}

/** Returns rules with codes that are valid for some days around a time, each named by its start. */
export function datedRules(now) {
  const at = (days) => new Date(now + days * DAY).toISOString();
  const code = (name, window) => ({
    id: `v_${name}`, code: name, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, active: true, ...window,
  });
  return rules({ vouchers: [code("ALWAYS", {}), code("ENDS", { expiration_date: at(3) }), code("BEGINS", { start_date: at(-3) })] });
}

/** Returns the claims of a head for a core. */
export function claimsOf(core, { now = Date.now(), ...claims } = {}) {
  const iat = Math.floor(now / 1_000);
  return {
    iss: PROJECT, fmt: 2, decides: 2, writes: 2, epoch: 1_000, rev: 2_000, core: sha256(core), from: iat * 1_000,
    to: iat * 1_000 + DAY / 4, iat, exp: iat + 86_400, left_out: [], ...claims,
  };
}

/**
 * Starts the server. `state` has what it answers: the `head`'s text, the `cores` by hash, the listed `keys`, further `headers`, and by path
 * a function that answers instead; `goods` answers requests for goods buckets. `requests` has the requests.
 */
export async function startServer() {
  const state = { head: undefined, cores: {}, keys: [], project: PROJECT, headers: {}, instead: {} };
  const requests = [];
  const server = createServer((request, response) => {
    requests.push({ url: request.url, headers: request.headers });
    const [kind, part] = request.url.split("/").slice(3);
    const isCore = kind === "bundle" && part !== undefined && part !== "me";
    const special = state.instead[part === "me" ? "me" : isCore ? "core" : kind];
    if (special) return special(request, response);
    if (request.url.includes("/goods/")) return state.goods(request, response);
    if (isCore) {
      const core = request.url.startsWith(`/client/v1/bundle/${PROJECT}/`) ? state.cores[request.url.split("/").pop()] : undefined;
      return core === undefined ? response.writeHead(404).end("{}") : response.writeHead(200).end(core);
    }
    if (part === "me") return response.writeHead(404).end("{}");
    if (kind === "jwks") return response.writeHead(200).end(JSON.stringify({ project: state.project, keys: state.keys }));
    const etag = `"${sha256(state.head)}"`;
    const has = request.headers["if-none-match"]?.replace("W/", "") === etag;
    return response.writeHead(has ? 304 : 200, { etag, ...state.headers }).end(has ? "" : state.head);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    base: `http://127.0.0.1:${server.address().port}`,
    server,
    state,
    requests,
    /** Serves rules, signed by a pair, with claims replaced; returns the head. */
    serve(pair, core, claims = {}, options = {}) {
      Object.assign(state, { head: jws(pair, claimsOf(core, claims), options), cores: { [sha256(core)]: core }, headers: {}, instead: {}, keys: [pair.jwk], project: PROJECT });
      return state.head;
    },
    paths: () => requests.splice(0).map(({ url }) => url),
    close: () => server.close().closeAllConnections(),
  };
}
