// Lists the requests whose answers are recorded, compares answers, and packs data folders.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";
import { managementHeaders, serverHeaders } from "../../../worker/tools/setup.mjs";

/** Objects of one list that are also read on their own. */
const SAMPLED = 3;
/** Names for parameters of paths whose lists have another route. */
const NAMED = {
  "/v1/promotions": () => ["Summer"],
  "/v1/promotions/tiers": ({ tier }) => [tier],
  "/v1/loyalties/members": () => ["CLUB-1", "CLUB-2"],
  "/v1/loyalties/Club/members": () => ["CLUB-1", "CLUB-3"],
  "/v1/referrals": () => ["Friends"],
  "/v1/referrals/members": () => ["ANNAS"],
  "/v1/referrals/Friends/members": () => ["ANNAS"],
  "/v1/campaigns": () => ["Spring", "Gifts", "Summer", "Friends", "Club"],
  "/v1/products": () => ["mug", "shirt"],
  "/v1/vouchers": () => ["TEN", "CARD", "ONCE", "FIVE"],
  "/v1/customers": () => ["anna", "bert", "emil"],
  "/v1/metadata-schemas": () => ["customer", "order"],
  "/v1/loyalties": () => ["Club"],
  "/v1/skus": () => ["shirt-m"],
  "/v2/loyalties/memberships": ({ anna }) => [anna],
};
/** Routes whose answers are files, or belong to the version and not to the data. */
const LEFT_OUT = ["/health", "/health/live", "/openapi.json", "/client/v1/bundle", "/v1/assets/", "/v1/publications/create", "/v1/vouchers/{code}/redemption"];

/** Filters and orders of lists, each of which reads by other indexes. */
const LISTS = [
  "/v1/vouchers?order=code", "/v1/vouchers?order=-updated_at", "/v1/vouchers?campaign=Spring&limit=50", "/v1/vouchers?category=Sale", "/v1/vouchers?customer=anna",
  "/v1/vouchers?filters[type][conditions][$is]=GIFT_VOUCHER", "/v1/vouchers?filters[active][conditions][$disabled]=true",
  "/v1/redemptions?limit=100&order=created_at", "/v1/redemptions?result=FAILURE", "/v1/redemptions?customer=anna", "/v1/redemptions?campaign=Spring",
  "/v1/redemptions?filters[voucher_code][conditions][$is]=TEN", "/v1/customers?limit=100&order=-updated_at", "/v1/customers?email=anna@example.com",
  "/v1/customers?city=Bonn", "/v1/customers?name=person", "/v1/orders?limit=100&order=-updated_at", "/v1/orders?customer=anna", "/v1/publications?campaign=Spring",
  "/v1/publications?customer=anna", "/v1/publications?voucher=TEN",
  ...["vouchers", "redemptions", "orders", "publications", "customers", "products"].map((list) => `/v1/${list}?limit=7&page=3`),
  "/v1/orders?limit=7&page=2&order=created_at", "/v1/redemptions?limit=7&page=2&customer=anna", "/v1/vouchers?limit=7&page=2&order=-code",
];

/** Returns the paths of all lists and of samples of their objects; `description` is that of the interface of the version that runs. */
export async function listPaths(call, description, names) {
  const known = new Map();
  const read = async (path) => {
    if (!known.has(path)) known.set(path, await call("GET", path));
    return known.get(path).body;
  };
  const idsIn = async (list) => {
    const named = NAMED[list]?.(names);
    if (named) return named;
    if (list.endsWith("/memberships")) return [names.anna];
    if (list.endsWith("/cards")) return (await read(list.slice(0, -"/cards".length))).cards.map(({ card }) => card.id);
    if (/\/members\/[^/]+\/earning-rules$/.test(list)) return await idsIn(list.replace(/\/members\/[^/]+/, ""));
    const body = await read(`${list}${list in description.paths ? queryOf(description.paths[list].get) : ""}`);
    const items = Array.isArray(body) ? body : Object.values(body ?? {}).find(Array.isArray) ?? [];
    return items.map((item) => item?.id ?? item?.code).filter((id) => typeof id === "string").slice(0, SAMPLED);
  };
  const expand = async (template) => {
    let paths = [""];
    for (const part of template.split("/").slice(1)) {
      if (!part.startsWith("{")) paths = paths.map((path) => `${path}/${part}`);
      else if (part === "{projectId}") paths = paths.map((path) => `${path}/proj_dev`);
      else paths = (await Promise.all(paths.map(async (path) => (await idsIn(path)).map((id) => `${path}/${encodeURIComponent(id)}`)))).flat();
    }
    return paths;
  };
  const found = [];
  for (const [template, { get }] of Object.entries(description.paths)) {
    if (!get || LEFT_OUT.some((left) => template === left || (left.endsWith("/") && template.startsWith(left)))) continue;
    const headers = template.startsWith("/client/") ? pageOf(names) : undefined;
    for (const path of await expand(template)) found.push({ template, method: "GET", path: `${path}${queryOf(get)}`, headers });
  }
  return [...found, ...LISTS.map((path) => ({ template: path.split("?")[0], method: "GET", path }))];
}

/** The headers of a page with the key that the shop has made. */
const pageOf = ({ client_id, client_token }) => ({ "x-client-application-id": client_id, "x-client-token": client_token, origin: "http://localhost:3000" });

/** Returns the query for a page of a hundred, where a list has one, and for the present days of a report. */
function queryOf({ parameters = [] }) {
  const has = (name) => parameters.some((parameter) => parameter.name === name && parameter.in === "query");
  const day = (more) => new Date(Date.now() + more * 86_400_000).toISOString().slice(0, 10);
  const query = [has("limit") ? "limit=100" : "", has("resolution") ? `start_date=${day(-1)}&end_date=${day(1)}&resolution=day` : "", has("code") && has("amount") ? "code=TEN&amount=1000" : ""].filter(Boolean);
  return query.length > 0 ? `?${query.join("&")}` : "";
}

/** Returns decisions that write nothing, and requests that were answered before under a key. */
export function decisions(names) {
  const { tier, stack } = names;
  const people = ["anna", "bert", "emil", "stranger"];
  const codes = ["TEN", "FIVE", "FIXED", "ONCE", "LATE", "PAST", "OFF", "GOLDEN", "LOOM", "DAILY", "HOURS", "CARD", "OPEN300", "ANNAS", "GONE"];
  const items = [{ source_id: "shirt-m", related_object: "sku", quantity: 2 }, { source_id: "mug", related_object: "product", quantity: 1 }, { source_id: "thing-1", related_object: "product", quantity: 3 }];
  const post = (path, body, headers) => ({ template: path, method: "POST", path, body, headers });
  const of = (source_id) => ({ customer: { source_id } });
  const voucher = (id) => ({ object: "voucher", id });
  return [
    ...codes.flatMap((code) => people.map((name) => post("/v1/validations", { redeemables: [voucher(code)], ...of(name), order: { items } }))),
    post("/v1/validations", { redeemables: [voucher("TEN"), voucher("FIVE"), voucher("LOOM"), { object: "promotion_tier", id: tier }], ...of("anna"), order: { items }, options: { expand: ["order", "redeemable"] } }),
    post("/v1/validations", { redeemables: [{ object: "promotion_stack", id: stack }], ...of("bert"), order: { amount: 20_000 } }),
    post("/v1/validations", { redeemables: [voucher("FIVE")], order: { amount: 20_000 }, session: { key: "cart-1" } }),
    ...people.flatMap((name) => ["ALL", "CUSTOMER_WALLET", "AUDIENCE_ONLY", "PRODUCTS"].map((scenario) => post("/v1/qualifications", { scenario, ...of(name), order: { items } }))),
    post("/v1/promotions/validation", { ...of("anna"), order: { amount: 9_000 } }),
    post("/v2/loyalties/examine/rewards", { customer_identification: { type: "customer_source_id", customer_source_id: "anna" } }),
    post("/client/v1/validations", { redeemables: [voucher("TEN")], ...of("anna"), order: { amount: 9_000 } }, pageOf(names)),
    ...[1, 2].map((number) => post("/v1/redemptions", { redeemables: [voucher("TEN")], order: { amount: 100 * number } }, { "idempotency-key": `key-${number}` })),
  ];
}

/** Returns changes of the data, in their order, and reads that show what they brought about; all are marked by `isAfter`. */
export async function changes(call, { program, member }) {
  const read = async (path) => (await call("GET", path)).body;
  const { redemptions } = await read("/v1/redemptions?limit=100&order=created_at&result=SUCCESS");
  const single = redemptions.find((one) => one.object === "redemption" && one.voucher?.code === "TEN" && one.customer?.source_id === "bert" && !one.redemption);
  const stacked = redemptions.find((one) => one.related_object_type === "redemption" && one.status !== "ROLLED_BACK" && one.object === "redemption");
  const { vouchers: [spring] } = await read("/v1/vouchers?campaign=Spring&limit=1&order=-code");
  const { data: [bought] } = await read(`/v2/loyalties/programs/${program}/members/${member}/rewards/purchases`);
  const redeem = (id, name, more, rest) => change("POST", "/v1/redemptions", { redeemables: [{ object: "voucher", id, ...more }], order: { amount: 4_000 }, customer: { source_id: name }, ...rest });
  const change = (method, path, body = {}) => ({ template: path.split("?")[0], method, path, body, isAfter: true });
  const look = (...paths) => paths.map((path) => ({ ...change("GET", path), body: undefined }));
  return [
    redeem("TEN", "anna"), redeem("DAILY", "emil"), redeem("DAILY", "bert"), redeem(spring.code, "dora"), redeem("CARD", "anna", { gift: { credits: 250 } }),
    redeem("FIVE", "anna", {}, { session: { key: "cart-1" } }),
    change("POST", `/v1/redemptions/${single.id}/rollback`),
    ...(stacked ? [change("POST", `/v1/redemptions/${stacked.id}/rollbacks`)] : []),
    change("PUT", "/v1/orders/earned-anna", { status: "CANCELED" }),
    change("PUT", "/v1/orders/club-1", { status: "CANCELED" }),
    change("PUT", "/v1/orders/paid-with-points", { status: "PAID" }),
    change("POST", "/v1/orders", { source_id: "new", status: "PAID", amount: 8_000, customer: { source_id: "bert" } }),
    change("POST", "/v1/loyalties/members/CLUB-2/balance", { points: 10 }),
    ...(bought ? [change("POST", `/v2/loyalties/programs/${program}/members/${member}/rewards/purchases`, { reward_id: bought.details?.reward?.id ?? bought.reward_id })] : []),
    change("PUT", "/v1/vouchers/FIXED", { metadata: { late: true } }),
    change("PUT", "/v1/customers/anna", { metadata: { level: "gold" } }),
    change("POST", "/v1/publications", { campaign: { name: "Spring" }, customer: { source_id: "emil" } }),
    change("POST", "/v1/events", { event: "viewed", customer: { source_id: "bert" } }),
    change("DELETE", "/v1/vouchers/LATE"),
    ...look("/v1/vouchers/TEN", "/v1/vouchers/CARD", "/v1/vouchers/FIVE", "/v1/customers/anna", "/v1/customers/bert", "/v1/loyalties/members/CLUB-1", "/v1/loyalties/members/CLUB-2", "/v1/campaigns/Spring/summary",
      `/v2/loyalties/programs/${program}/members/${member}`, "/v1/vouchers?limit=5&filters[type][conditions][$is]=DISCOUNT_VOUCHER", "/v1/redemptions?limit=20", "/v1/orders?limit=20&order=-updated_at", "/v1/vouchers?limit=20&order=-updated_at&filters[type][conditions][$is]=DISCOUNT_VOUCHER", "/v1/trash-bin?limit=10"),
    ...["TEN", "DAILY", "FIXED", spring.code].map((id) => change("POST", "/v1/validations", { redeemables: [{ object: "voucher", id }], order: { amount: 4_000 }, customer: { source_id: "emil" } })),
  ];
}

/** The address of a service on this machine, also where it is stored. */
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/g;

/** Makes a request; returns the status and the answer, in which the addresses of services have a name. */
export async function ask(url, { method, path, body, headers }) {
  const keys = path.startsWith("/management/") ? managementHeaders : serverHeaders;
  const own = path.startsWith("/client/") ? { "content-type": "application/json" } : keys;
  const reply = await fetch(`${url}${path}`, { method, headers: { ...own, ...headers }, body: body && JSON.stringify(body) });
  const text = (await reply.text()).replaceAll(ADDRESS, "$url");
  return { status: reply.status, answer: reply.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text };
}

/** Returns the places at which two answers differ, as `[[pointer, old, new]]`. The places of `masked` are left out. */
export function compare(old, present, masked = new Set(), pointer = "") {
  if (masked.has(pointer)) return [];
  const isTree = (value) => value !== null && typeof value === "object";
  if (!isTree(old) || !isTree(present) || Array.isArray(old) !== Array.isArray(present)) return Object.is(old, present) ? [] : [[pointer, old, present]];
  const [before, now] = [old, present].map(withoutIds);
  const keys = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...keys].flatMap((key) => compare(before[key], now[key], masked, `${pointer}/${key}`));
}

/** Returns the values of an object whose keys are ids as a list: each call draws others. */
const withoutIds = (value) => {
  const keys = Object.keys(value);
  return !Array.isArray(value) && keys.length > 0 && keys.every((key) => /^[a-z]+_[0-9A-Za-z]{12,}$/.test(key)) ? Object.values(value) : value;
};

/** Packs the files of a folder, and unpacks them. */
export function pack(folder, file) {
  const tar = execFileSync("tar", ["--create", "--sort=name", "--mtime=@0", "--owner=0", "--group=0", "--numeric-owner", "--directory", folder, "."], { maxBuffer: 1 << 28 });
  writeFileSync(file, squeeze(tar));
}

export function unpack(file, folder) {
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["--extract", "--directory", folder], { input: brotliDecompressSync(readFileSync(file)) });
}

const squeeze = (bytes) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_LGWIN]: 24, [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } });

/** Writes and reads JSON, compressed. */
export const writeJson = (file, value) => writeFileSync(file, squeeze(Buffer.from(JSON.stringify(value))));
export const readJson = (file) => JSON.parse(brotliDecompressSync(readFileSync(file)).toString());
