// Formats the results: a few lines in README.md and all tables in benches/README.md, each between two markers. Every absolute value is next
// to the value with which it is compared.
import { readFileSync, writeFileSync } from "node:fs";

const NAMES = {
  floor: "hand-written Rust, request read beforehand (**floor**)",
  "floor-text": "hand-written Rust, JSON text in and out",
  engine: "Scrip, native, request read beforehand",
  "engine-text": "Scrip, native, JSON text in and out",
  "js-object": "hand-written JavaScript, objects",
  "js-text": "hand-written JavaScript, JSON text in and out",
  "js-same": "hand-written JavaScript, JSON text in, the same answer out",
  "wasm-text": "Scrip, wasm, JSON text in and out",
  "wasm-bytes": "Scrip, wasm, UTF-8 bytes in and out",
  "wasm-object": "Scrip, wasm, objects in and out",
  "find-floor": "hand-written Rust, request read beforehand (**floor**)",
  "find-floor-text": "hand-written Rust, JSON text in and out",
  "find-engine": "Scrip, native, request read beforehand",
  "find-engine-text": "Scrip, native, JSON text in, a page of five with their orders out",
  "find-tree": "rules as JSON trees, interpreted one by one in Rust",
  "find-js-object": "hand-written JavaScript, objects",
  "find-js-text": "hand-written JavaScript, JSON text in and out",
  "find-js-same": "hand-written JavaScript, JSON text in, the same page out",
  "find-js-tree": "rules as JSON trees, interpreted one by one in JavaScript",
  "find-wasm-text": "Scrip, wasm, JSON text in, a page of five with their orders out",
  "find-wasm-bytes": "Scrip, wasm, UTF-8 bytes in, a page of five with their orders out",
};
const TITLES = { w1: "W1: one coupon, ten lines", w2: "W2: thirty coupons, five of them stacked, ten lines",
  w3: "W3: which of a thousand promotions qualify, a hundred lines",
  w4: "W4: thirty coupons, all of them stacked, 500 lines" };
const IN_A_PAGE = { w1: "in a page, JSON in and out: one coupon, ten lines", w2: "thirty coupons, five of them stacked",
  w3: "which of a thousand promotions qualify, a hundred lines" };

const number = (value) => Math.round(value).toLocaleString("en-US");
const times = (ratio) => ratio.toPrecision(ratio < 10 ? 2 : 3).replace(/\.0+$/, "");
const spread = ({ median, least, most }) => `${times(median)} (${times(least)}..${times(most)})`;
const micros = (ns) => `${Math.round(ns / 1_000)} µs`;
const kilobytes = (bytes) => `${(bytes / 1000).toFixed(1)} kB`;

const MARKS = ["<!-- bench -->", "<!-- /bench -->"];

/** Writes the few lines of README.md and all tables of benches/README.md. */
export function writeTables(results) {
  fill("../README.md", summary(results));
  fill("README.md", tables(results));
}

function fill(file, lines) {
  const path = new URL(file, import.meta.url);
  const text = readFileSync(path, "utf8");
  const [start, end] = MARKS.map((mark) => text.indexOf(mark));
  if (start < 0 || end < start) throw new Error(`${file} has no place between \`${MARKS.join("` and `")}\``);
  writeFileSync(path, `${text.slice(0, start)}${MARKS[0]}\n${lines}\n${text.slice(end)}`);
}

/** Returns the headline figures, each with the ratio that qualifies it. */
export function summary({ machine, workloads, package: sizes, edge, cost }) {
  const found = (name, contender) => workloads[name].find((row) => row.contender === contender);
  const page = ([name, what]) => {
    const { ns, to_js_same: comparison } = found(name, "wasm-text") ?? found(name, "find-wasm-text");
    return `| ${what} | ${micros(ns)} | ${times(comparison.median)} × JavaScript by hand with the same answer |`;
  };
  const trees = found("w3", "find-tree").ns / found("w3", "find-engine").ns;
  const served = edge.rows.filter(({ name }) => !name.startsWith("bare"));
  return [
    "| | | |", "|---|---:|---|",
    ...Object.entries(IN_A_PAGE).map(page),
    `| the same promotions natively, request read beforehand | ${micros(found("w3", "find-engine").ns)} | `
    + `${times(trees)} × as fast as rules as JSON trees, one by one |`,
    `| the package, compressed | ${kilobytes(sizes.whole.brotli)} | the wasm is ${kilobytes(sizes.wasm.brotli)} of it |`,
    ...served.map((row) => `| on \`workerd\`: ${row.name} | ${number(row.median)} a second | ${times(row.to_increment)} × a bare increment |`),
    ...(cost ? [rowsOfRedemptions(cost)] : []),
    "",
    `Medians on ${machine.cores} cores of ${machine.cpu}: read the ratios.`,
  ].join("\n");
}

/** Returns the rows of redemptions, which are what the platform bills, as a line of the headline figures. */
function rowsOfRedemptions({ rows }) {
  const written = ["plain", "customer", "campaign, customer and limit"].map((kind) => rows.find(({ name }) => name === `redemption, ${kind}`).written);
  const dollars = written.map((count) => `$${count}`).join(" / ");
  return `| rows written by a redemption: plain / with a customer / of a campaign, with a customer and a limit | ${written.join(" / ")} | ${dollars} a million redemptions, at a dollar a million rows |`;
}

/** Returns the time of the largest basket in milliseconds, next to that of the small one's amounts. */
function largest(rows, small) {
  const floor = small.find(({ contender }) => contender === "floor").ns;
  const times = ["engine-text", "wasm-bytes", "wasm-text"].map((name) => {
    const { ns } = rows.find(({ contender }) => contender === name);
    return `${NAMES[name]}: ${(ns / 1e6).toFixed(1)} ms, ${number(ns / floor)} × the floor of W2`;
  });
  return `${times.join("; ")}. The answer contains all 500 lines 31 times.\n`;
}

export function tables({ machine, method, workloads = {}, package: ofPackage, verification, worker, edge, cost, replays, cold, polls, goods, fetch, open, scale, bulk }) {
  const workload = ([name, rows]) => [
    `**${TITLES[name]}**`, "",
    "| contender | ns | × floor (min..max) | × JavaScript on text | × JavaScript, same answer |", "|---|---:|---:|---:|---:|",
    ...rows.map((row) => (
      `| ${NAMES[row.contender]} | ${number(row.ns)} | ${spread(row.to_floor)} | ${times(row.to_js_text.median)} | `
      + `${times(row.to_js_same.median)} |`)),
    "",
    ...(name === "w4" ? [largest(rows, workloads.w2)] : []),
  ];
  return [
    `Medians of ${method.rounds} shuffled rounds, ratios within a round, on ${machine.cores} cores of ${machine.cpu}, `
    + `Node ${machine.node}, load ${machine.load} when it ended. The hand-written contenders answer amounts and `
    + "statuses only; Scrip's answer also carries reasons, a snapshot of the order after each code, and checks of "
    + "validity, counts and bounds. Where it says \"the same\", JavaScript by hand answers all that Scrip does, byte for byte.", "",
    ...Object.entries(workloads).flatMap(workload),
    ...(ofPackage ? sizeTable("Package", ofPackage) : []),
    ...(verification ? verificationText(verification) : []),
    ...(worker ? sizeTable("Worker", worker) : []),
    ...(edge ? edgeTable(edge) : []),
    ...(cost ? costTable(cost) : []),
    ...(replays ? replaysText(replays) : []),
    ...(cold ? coldTable(cold) : []),
    ...(polls ? pollsTable(polls) : []),
    ...(goods ? goodsText(goods) : []),
    ...(fetch ? fetchTable(fetch) : []),
    ...(open ? openText(open) : []),
    ...(scale ? scaleTable(scale) : []),
    ...(bulk ? bulkTable(bulk) : []),
  ].join("\n");
}

function sizeTable(title, sizes) {
  return [
    `**${title}**`, "",
    "| | raw | gzip | brotli |", "|---|---:|---:|---:|",
    ...Object.entries(sizes).map(([part, size]) => (
      `| ${part} | ${kilobytes(size.raw)} | ${kilobytes(size.gzip)} | ${kilobytes(size.brotli)} |`)),
    "",
  ];
}

const verificationText = ({ signature_ms: signature, core_ms: core }) => [
  `A bundle is proven in wasm: the signature of a head of 1 kB in ${signature.toFixed(2)} ms (at most 1), the hash of a core of 512 kB in `
  + `${core.toFixed(1)} ms.`, "",
];

function edgeTable({ connections, rows }) {
  return [
    `**On \`workerd\`, one process, ${connections} connections**`, "",
    "| request | per second (min..max) | × bare increment | CPU, ms | × its CPU |", "|---|---:|---:|---:|---:|",
    ...rows.map((row) => (
      `| ${row.name} | ${number(row.median)} (${number(row.least)}..${number(row.most)}) | ${times(row.to_increment)} | ${cpu(row)} |`)),
    "",
  ];
}

/** CPU time is missing where the system does not count it. */
const cpu = ({ cpu_ms: ms, cpu_to_increment: ratio }) => (Number.isFinite(ms) ? `${ms.toFixed(2)} | ${times(ratio)}` : "|");

function costTable({ rows, disk_bytes: disk }) {
  return [
    "**What a request costs: exact counts on `workerd`, with all background work that follows it**", "",
    "| request | rows written | rows read | statements | alarms set | calls of wasm | $ a million, at a dollar a million rows |",
    "|---|---:|---:|---:|---:|---:|---:|",
    ...rows.map((row) => `| ${row.name} | ${[row.written, row.read, row.statements, row.alarms, row.calls, row.written].map((count) => count.toLocaleString("en-US")).join(" | ")} |`),
    "",
    ...(disk === undefined ? [] : [`A redemption of ten lines writes ${kilobytes(disk)} to the disk.`, ""]),
  ];
}

const replaysText = ({ days, ratio, rows: [without, withInputs] }) => [
  `**A redemption that is kept for a replay (${days} days)** takes ${spread(ratio)} times as long as one that is not: ${number(withInputs.median)} and `
  + `${number(without.median)} a second.`, "",
];

function scaleTable({ sizes: { small, large }, filled_s, rows }) {
  const shop = ({ codes, customers }) => `${number(10 * codes + 101)} vouchers and ${number(customers)} customers`;
  const columns = (row) => (row.refused ? "refused | |" : `${row.large.toFixed(1)} | ${times(row.ratio)} |`);
  return [
    `**A project of ${shop(large)} compared with one of ${shop(small)}** (filled through the routes in ${number(filled_s)} s)`, "",
    "| request | ms, small | ms, large | large × small |", "|---|---:|---:|---:|",
    ...rows.map((row) => `| ${row.name} | ${row.refused ? "" : row.small.toFixed(1)} | ${columns(row)}`),
    "",
  ];
}

function bulkTable({ codes, webhooks }) {
  const row = (what, seconds, { alone, during, ratio }) =>
    `| ${what} | ${seconds.toFixed(1)} | ${number(alone)} | ${number(during)} | ${times(ratio)} |`;
  return [
    "**Bulk operations while 16 callers redeem**", "",
    "| | seconds | redemptions a second before | meanwhile | ratio |", "|---|---:|---:|---:|---:|",
    row(`${number(codes.codes)} codes are made (${codes.alone_s.toFixed(1)} s without callers)`, codes.beside_s, codes.redemptions),
    row(`${number(webhooks.deliveries)} webhooks are delivered`, webhooks.seconds, webhooks.redemptions),
    "",
  ];
}

function pollsTable({ products, campaigns, rows, in_head_ms: soon, build_ms: build }) {
  return [
    `**Clients that poll the bundle of ${number(products)} products and ${number(campaigns)} campaigns**`, "",
    "| polls a second | validation, p50 ms | p95 ms | p50 × without polls |", "|---:|---:|---:|---:|",
    ...rows.map((row) => `| ${row.polls} | ${row.p50_ms.toFixed(2)} | ${row.p95_ms.toFixed(2)} | ${times(row.to_alone)} |`),
    "",
    `A change of a campaign is in the head after ${soon.join(", ")} ms. A build keeps the object for ${Math.round(build)} ms on average.`, "",
  ];
}

function goodsText({ products, buckets, first_s: first, first_object_s: object, slices, slice_below_ms: longest, prices, carts }) {
  const bound = longest === undefined ? "" : `, the longest of at most ${longest} ms`;
  const fetched = carts.map(({ lines, brotli }) => `${lines} lines ${kilobytes(brotli)}`).join(", ");
  return [
    `**Goods of the bundle: ${number(products)} products with a SKU each, in ${number(buckets)} buckets**`, "",
    `The first build takes ${first.toFixed(1)} s, ${object.toFixed(1)} s of them in the object, in ${number(slices)} slices${bound}. One changed price keeps the `
    + `object for ${Math.round(prices.object_ms)} ms and is in the head after ${Math.round(prices.head_ms)} ms. A client fetches, compressed, for a cart of: ${fetched}.`, "",
  ];
}

function fetchTable(rows) {
  return [
    `**The first fetch of a page before its verdict on ${rows[0].lines} lines, ${rows[0].products} products, after brotli**`, "",
    "| campaigns of a tier and a shared rule | head and core | goods buckets | together | format 1 | requests |", "|---:|---:|---:|---:|---:|---:|",
    ...rows.map((row) => `| ${number(row.campaigns)} | ${kilobytes(row.rules)} | ${kilobytes(row.goods)} | ${kilobytes(row.whole)} | ${kilobytes(row.before)} | ${row.requests} |`),
    "",
  ];
}

const openText = ({ offers, open_ms: opened, first_ms: first, check_now: ratio }) => [
  `**A page opens a shop of ${number(offers)} offers from its store, without the service**`, "",
  `\`open\` takes ${opened.toFixed(1)} ms, and ${first.toFixed(1)} ms until the first verdict on a code. \`checkNow\` takes ${ratio.toFixed(2)} times as long as the `
  + "engine's `validate`.", "",
];

function coldTable({ rounds, listens, first, second, returned }) {
  const row = (what, ms) => `| ${what} | ${ms < 10 ? ms.toFixed(1) : Math.round(ms)} |`;
  return [
    `**First answers on \`workerd\`, medians of ${rounds} processes over the same data**`, "",
    "| | ms |", "|---|---:|",
    row("from the start of the process until it listens", listens),
    row("its first answer (`GET /v1/vouchers/{code}`)", first),
    row("its second", second),
    row("the first of an object that had left memory", returned),
    "",
  ];
}
