// Tests that `/metrics` requires its token and follows the Prometheus format. It reports requests by their routes, decisions by their
// verdicts, durations and queue sizes.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before } from "node:test";
import { BOUNDS_MS } from "../../worker/shell/metrics.mjs";
import { developmentText, serverHeaders } from "../../worker/tools/setup.mjs";
import { boot, caller, pageHeaders } from "./harness.mjs";
import { send } from "./raw_socket.mjs";
import { fresh, redeem, standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("metrics");
const TOKEN = "only-for-the-operator";
let service;
let call;

before(async () => {
  service = await boot({ metricsToken: TOKEN });
  call = caller(service.url);
});
after(() => service?.stop());

const fetchMetrics = (headers = { authorization: `Bearer ${TOKEN}` }, method = "GET", url = service.url) => fetch(`${url}/metrics`, { headers, method });

async function scrape(url) {
  const reply = await fetchMetrics(undefined, "GET", url);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  return parse(await reply.text());
}

check("only the token opens it", async () => {
  for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: `Basic ${TOKEN}` }, { "x-app-id": "dev-app", "x-app-token": "dev-token" }]) {
    const reply = await fetchMetrics(headers);
    assert.equal(reply.status, 401);
    assert.deepEqual(await reply.json(), { code: 401, key: "unauthorized", message: "Unauthorized" });
  }
  assert.equal((await fetchMetrics(undefined, "POST")).status, 404);
  const described = await (await fetch(`${service.url}/openapi.json`)).json();
  assert.ok(!("/metrics" in described.paths));
});

check("a service without a metrics token has no such path", async () => {
  const other = await boot({ metricsToken: "" });
  try {
    for (const headers of [{}, { authorization: "Bearer " }, { authorization: `Bearer ${TOKEN}` }]) {
      const reply = await fetch(`${other.url}/metrics`, { headers });
      assert.equal(reply.status, 404);
      assert.equal((await reply.json()).key, "not_found");
    }
  } finally {
    await other.stop();
  }
});

check("the numbers match the calls", async () => {
  const code = await standalone(call, { quantity: 3 });
  const before = await scrape();
  for (let times = 0; times < 3; times += 1) assert.equal((await redeem(call, code)).status, 200);
  assert.equal((await redeem(call, code)).status, 400, "the fourth is one too many");
  await call("POST", "/v1/validations", { redeemables: [{ object: "voucher", id: code }], order: { amount: 100 } });
  await call("POST", "/v1/validations", { redeemables: [{ object: "voucher", id: "no-such-code" }], order: { amount: 100 } });
  await call("GET", `/v1/vouchers/${code}`);
  assert.equal((await call("GET", "/v1/no-such/path-of-anna")).status, 404);
  const after = await scrape();
  const gained = (name, labels) => after.value(name, labels) - before.value(name, labels);
  const redemptions = { route: "/v1/redemptions", method: "POST" };
  assert.equal(gained("scrip_requests_total", { ...redemptions, status: "200" }), 3);
  assert.equal(gained("scrip_requests_total", { ...redemptions, status: "400" }), 1);
  assert.equal(gained("scrip_requests_total", { route: "/v1/vouchers/{code}", method: "GET", status: "200" }), 1);
  assert.equal(gained("scrip_requests_total", { route: "none", method: "GET", status: "404" }), 1);
  assert.equal(gained("scrip_request_seconds_count", redemptions), 4);
  const decision = (operation, verdict, reason) => gained("scrip_decisions_total", { project: "proj_dev", operation, verdict, reason });
  assert.equal(decision("redemption", "valid", ""), 3);
  assert.equal(decision("redemption", "invalid", "quantity_exceeded"), 1);
  assert.equal(decision("validation", "invalid", "quantity_exceeded"), 1);
  assert.equal(decision("validation", "invalid", "not_found"), 1);
  assert.ok(gained("scrip_decide_seconds_count", { project: "proj_dev" }) >= 7);
  assert.ok(!after.text.includes("anna"), "a path as it was called is in no label");
});

check("inputs for a replay are counted, kept or too large", async () => {
  const setup = JSON.parse(developmentText());
  setup.projects[0].replay_days = 1;
  const other = await boot({ metricsToken: TOKEN, setup: JSON.stringify(setup) });
  try {
    const calls = caller(other.url);
    const code = await standalone(calls, { quantity: 3 });
    assert.equal((await redeem(calls, code)).status, 200);
    const text = randomBytes(6_000).toString("base64");
    const large = { redeemables: [{ object: "voucher", id: code }], order: { amount: 100, metadata: { text } } };
    assert.equal((await calls("POST", "/v1/redemptions", large)).status, 200);
    const { value } = await scrape(other.url);
    const counted = (result) => value("scrip_redemption_inputs_total", { project: "proj_dev", result });
    assert.deepEqual([counted("kept"), counted("too_large")], [1, 1]);
    assert.equal(value("scrip_decisions_total", { project: "proj_dev", operation: "redemption_input" }), 0);
  } finally {
    await other.stop();
  }
});

check("the duration of a request begins with its arrival, also where the shell reads the body first", async () => {
  const body = JSON.stringify({ redeemables: [{ object: "voucher", id: "NONE" }], order: { amount: 100 } });
  for (const [route, keys] of [["/v1/validations", serverHeaders], ["/client/v1/validations", pageHeaders]]) {
    const labels = { route, method: "POST" };
    const sum = async () => (await scrape()).value("scrip_request_seconds_sum", labels);
    const before = await sum();
    const lines = Object.entries({ host: "scrip", "content-length": body.length, connection: "close", ...keys });
    const head = `POST ${route} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
    const { statuses, text } = await send(service.url, head, 10_000, { bytes: body, ms: 700 });
    assert.deepEqual(statuses, [200], text);
    const took = (await sum()) - before;
    assert.ok(took >= 0.6 && took < 9, `${route}: ${took} s`);
  }
});

check("a request that fails is counted as such, by the entry and by its object", async () => {
  const code = await standalone(call, { quantity: 3 });
  const before = await scrape();
  assert.equal((await redeem(call, code, { "scrip-test-fault": "throw" })).status, 500);
  const after = await scrape();
  const gained = (name, labels) => after.value(name, labels) - before.value(name, labels);
  assert.equal(gained("scrip_requests_total", { route: "/v1/redemptions", method: "POST", status: "500" }), 1);
  assert.equal(gained("scrip_failures_total", { project: "proj_dev" }), 1);
  assert.equal(gained("scrip_decisions_total", { project: "proj_dev", operation: "redemption", verdict: "valid", reason: "" }), 0, "what was undone was not decided");
});

check("waiting work is reported while it waits, and commits are timed", async () => {
  const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 5 }, redemption: { quantity: 1 } };
  const campaign = { name: fresh("MANY-"), campaign_type: "DISCOUNT_COUPONS", type: "AUTO_UPDATE", vouchers_count: 20_000, voucher };
  assert.equal((await call("POST", "/v1/campaigns", campaign)).status, 200);
  const waiting = await scrape();
  assert.equal(waiting.value("scrip_queue_length", { project: "proj_dev", queue: "async_actions" }), 1);
  assert.ok(waiting.value("scrip_queue_length", { project: "proj_dev", queue: "due" }) >= 1);
  assert.ok(waiting.value("scrip_alarm_delay_seconds", { project: "proj_dev" }) < 30);
  assert.equal(waiting.value("scrip_project_up", { project: "proj_dev" }), 1);
  for (let times = 0; times < 16; times += 1) await standalone(call, { quantity: 1 });
  const later = await scrape();
  assert.ok(later.value("scrip_commit_seconds_count", { project: "proj_dev" }) - waiting.value("scrip_commit_seconds_count", { project: "proj_dev" }) >= 2);
});

check("every project of the setup is included, and buckets are those of entry and objects alike", async () => {
  const setup = JSON.parse(developmentText());
  const [first] = setup.projects;
  const keys = first.keys.map((key) => ({ ...key, id: `other-${key.id}` }));
  setup.projects.push({ ...first, id: "proj_other", name: "Other", keys });
  const other = await boot({ metricsToken: TOKEN, setup: JSON.stringify(setup) });
  try {
    await standalone(caller(other.url), { quantity: 1 });
    const reply = await fetch(`${other.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const { text, value } = parse(await reply.text());
    for (const project of ["proj_dev", "proj_other"]) assert.equal(value("scrip_project_up", { project }), 1);
    // The first metrics of a project must initialise it like a request does.
    const management = { "x-management-id": "other-dev-management", "x-management-token": "dev-management-token" };
    const rules = await (await fetch(`${other.url}/management/v1/projects/proj_other/stacking-rules`, { headers: management })).json();
    assert.equal(rules[rules.data_ref].length, 1, JSON.stringify(rules));
    assert.match(rules[rules.data_ref][0].id, /^[a-z]+_/);
    const bounds = (name) => [...text.matchAll(new RegExp(`^${name}_bucket\\{.*le="([\\d.]+)"\\} `, "gm"))].map(([, le]) => Number(le) * 1_000);
    const boundsText = BOUNDS_MS.join();
    for (const name of ["scrip_decide_seconds", "scrip_request_seconds"]) assert.equal(bounds(name).slice(0, BOUNDS_MS.length).map(Math.round).join(), boundsText);
  } finally {
    await other.stop();
  }
});

/** Parses the text format, and refuses all that Prometheus would refuse. Returns `{ text, value(name, labels) }`. */
function parse(text) {
  assert.ok(text.endsWith("\n"));
  const types = new Map();
  const samples = new Map();
  let current;
  for (const line of text.slice(0, -1).split("\n")) {
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment) {
      const [, keyword, name, rest] = comment;
      current = name;
      if (keyword === "HELP") continue;
      assert.ok(!types.has(name), `${name} is declared twice`);
      assert.match(rest, /^(counter|gauge|histogram)$/);
      types.set(name, rest);
      continue;
    }
    const sample = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\n"])*",?)*)\})? (-?\d+(?:\.\d+)?)$/.exec(line);
    assert.ok(sample, `this line does not read: ${line}`);
    const [, name, labels = "", value] = sample;
    const family = types.get(current) === "histogram" ? name.replace(/_(bucket|sum|count)$/, "") : name;
    assert.equal(family, current, `${name} stands apart from its declaration`);
    if (types.get(current) === "counter") assert.match(name, /_total$/);
    const read = [...labels.matchAll(/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g)].map(([, label, value]) => [label, value]);
    assert.equal(new Set(read.map(([label]) => label)).size, read.length, line);
    const id = idOf(name, Object.fromEntries(read));
    assert.ok(!samples.has(id), `${id} is listed twice`);
    samples.set(id, { name, labels: Object.fromEntries(read), value: Number(value) });
  }
  for (const [name, type] of types) if (type === "histogram") assertCumulative(name, [...samples.values()]);
  return { text, value: (name, labels) => samples.get(idOf(name, labels))?.value ?? 0 };
}

function idOf(name, labels) {
  return `${name}${JSON.stringify(Object.entries(labels).sort())}`;
}

/** Buckets rise, the last one is the count, and it is for everything. */
function assertCumulative(name, samples) {
  const series = new Map();
  for (const { name: sample, labels, value } of samples) {
    if (sample !== `${name}_bucket`) continue;
    const { le, ...rest } = labels;
    const id = idOf("", rest);
    series.set(id, [...(series.get(id) ?? []), { le: le === "+Inf" ? Infinity : Number(le), value, rest }]);
  }
  for (const buckets of series.values()) {
    for (const [at, bucket] of buckets.entries()) {
      assert.ok(at === 0 || (bucket.le > buckets[at - 1].le && bucket.value >= buckets[at - 1].value), name);
    }
    const { le, value, rest } = buckets.at(-1);
    assert.equal(le, Infinity);
    assert.equal(samples.find((sample) => sample.name === `${name}_count` && idOf("", sample.labels) === idOf("", rest))?.value, value);
  }
}
