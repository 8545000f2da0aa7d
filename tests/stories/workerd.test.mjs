// Decides that every story is true over HTTP on the built Worker, as it is in process: the same files, the same matching.
// What a story is stands in worker/tests/support/story.rs. `ONLY` runs some, by the beginning of their path.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { credentials, setupText } from "../../worker/tools/setup.mjs";
import { boot } from "../workerd/harness.mjs";
import { tally } from "../workerd/tally.mjs";

const folder = dirname(fileURLToPath(import.meta.url));
const check = tally("stories on workerd");
const FIRST_MOMENT = "2026-03-01T00:00:00.000Z";

// Beside the development's project one that is closed to pages and does not tell `ABC` from `abc`.
const closed = {
  id: "proj_closed",
  name: "Closed",
  time_zone: "UTC",
  currency: "EUR",
  case_sensitive_codes: false,
  client: { origins: ["https://shop.example"], redeem: false, publish: false },
  keys: ["server", "client", "management"].map((kind) => ({
    class: kind,
    id: `closed-${kind === "server" ? "app" : kind}`,
    token: kind === "server" ? "closed-token" : `closed-${kind}-token`,
  })),
};

const callers = {
  server: { "x-app-id": credentials.server.id, "x-app-token": credentials.server.token },
  client: {
    "x-client-application-id": credentials.client.id,
    "x-client-token": credentials.client.token,
    origin: "http://localhost:3000",
  },
  management: { "x-management-id": credentials.management.id, "x-management-token": credentials.management.token },
  "closed-server": { "x-app-id": "closed-app", "x-app-token": "closed-token" },
  "closed-client": {
    "x-client-application-id": "closed-client",
    "x-client-token": "closed-client-token",
    origin: "https://shop.example",
  },
  none: {},
};

let service;

before(async () => {
  const setup = JSON.stringify({ projects: [...JSON.parse(setupText()).projects, closed] });
  service = await boot({ setup });
});
after(() => service?.stop());

for (const path of stories()) {
  const story = JSON.parse(readFileSync(join(folder, path), "utf8"));
  check(`${path}: ${story.name}`, () => tell(story));
}

function stories() {
  const areas = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const paths = areas.flatMap((area) => readdirSync(join(folder, area)).map((name) => `${area}/${name}`));
  return paths.filter((path) => path.endsWith(".json") && path.startsWith(process.env.ONLY ?? "")).sort();
}

/** Runs the steps of a story in projects that hold nothing yet. */
async function tell(story) {
  const bound = new Map();
  let now = Date.parse(FIRST_MOMENT);
  for (const who of ["server", "closed-server"]) await rehearse("/rehearsal/given", who, now, { complete: true });
  for (const [index, step] of story.steps.entries()) {
    now = moment(step, now);
    const where = `step ${index + 1} (${step.call ?? "wait"})`;
    if (step.wait) await runDue(now);
    else await take(step, now, bound, where);
  }
}

async function take(step, now, bound, where) {
  const { expect } = step;
  const before = expect.nothing_written ? written() : undefined;
  const { reply, text } = await send(step, now, bound);
  assert.equal(reply.status, expect.status, `${where}: ${text}`);
  for (const [name, wanted] of Object.entries(expect.headers ?? {})) fits(wanted, reply.headers.get(name), bound, `${where} ${name}`, text);
  const body = text === "" ? null : JSON.parse(text);
  if (expect.body !== undefined) fits(expect.body, body, bound, where, text);
  for (const pointer of expect.absent ?? []) assert.equal(at(body, pointer), undefined, `${where}: ${pointer} should be absent in ${text}`);
  if (before !== undefined) assert.equal(written(), before, `${where}: something was written`);
}

async function send(step, now, bound) {
  const [method, target] = split(fill(step.call, bound), " ");
  const headers = { ...headersOf(step.as ?? "server", bound), "scrip-rehearsal-now": String(now) };
  let body;
  if (step.form !== undefined) {
    headers["content-type"] = "application/x-www-form-urlencoded";
    body = fill(step.form, bound);
  } else if (step.raw !== undefined || step.repeat !== undefined || step.send !== undefined) {
    headers["content-type"] = "application/json";
    body = step.raw ?? repeated(step.repeat) ?? fill(JSON.stringify(step.send), bound);
  }
  for (const [name, value] of Object.entries(step.headers ?? {})) {
    if (value === null) delete headers[name];
    else headers[name] = fill(value, bound);
  }
  // Bytes, because text would bring a content-type of its own.
  const bytes = body === undefined ? undefined : new TextEncoder().encode(body);
  const reply = await fetch(`${service.url}${target}`, { method, headers, body: bytes });
  return { reply, text: await reply.text() };
}

function headersOf(who, bound) {
  if (who === "oauth") return { authorization: `Bearer ${bound.get("token")}` };
  assert.ok(who in callers, `\`${who}\` is nobody`);
  return { ...callers[who] };
}

function repeated(repeat) {
  return repeat && `${repeat.before ?? ""}${(repeat.text ?? "").repeat(repeat.times)}${repeat.behind ?? ""}`;
}

function split(text, by) {
  const at = text.indexOf(by);
  return [text.slice(0, at), text.slice(at + by.length)];
}

/** Puts bound values in place of `$names`, the longest names first. */
function fill(text, bound) {
  const names = [...bound.keys()].sort((one, other) => other.length - one.length);
  return names.reduce((filled, name) => {
    const value = bound.get(name);
    return filled.replaceAll(`$${name}`, () => (typeof value === "string" ? value : JSON.stringify(value)));
  }, text);
}

/** Bodies match as subsets, arrays element by element and in full length; `"$name"` binds at its first use. */
function fits(wanted, found, bound, where, text) {
  if (typeof wanted === "string" && wanted.length > 1 && wanted.startsWith("$")) {
    const name = wanted.slice(1);
    assert.ok(found !== null && found !== undefined, `${where} is null and cannot be ${wanted}, in ${text}`);
    if (bound.has(name)) assert.deepEqual(found, bound.get(name), `${where}, which is ${wanted}, in ${text}`);
    else bound.set(name, found);
  } else if (Array.isArray(wanted)) {
    assert.ok(Array.isArray(found), `${where} is no array in ${text}`);
    assert.equal(found.length, wanted.length, `${where} has another length in ${text}`);
    wanted.forEach((one, index) => fits(one, found[index], bound, `${where}/${index}`, text));
  } else if (wanted !== null && typeof wanted === "object") {
    assert.ok(found !== null && typeof found === "object", `${where} is no object in ${text}`);
    for (const [name, one] of Object.entries(wanted)) fits(one, found[name] ?? null, bound, `${where}/${name}`, text);
  } else assert.deepEqual(found, wanted, `${where} in ${text}`);
}

function at(body, pointer) {
  return pointer.split("/").slice(1).reduce((value, name) => value?.[name], body);
}

function moment(step, now) {
  if (step.at !== undefined) return Date.parse(/T/.test(step.at) ? step.at : `${step.at}T00:00:00Z`);
  return step.after === undefined ? now + 1 : now + durationOf(step.after);
}

/** Days, hours, minutes and seconds; what a story waits for is never longer. */
function durationOf(text) {
  const parts = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(text);
  assert.ok(parts, `\`${text}\` is no duration of days to seconds`);
  const [days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000;
}

/** Runs the work that is due at the story's moment, until nothing more is. */
async function runDue(now) {
  for (let rounds = 0; rounds < 1_000; rounds += 1) {
    const { next } = await rehearse("/rehearsal/alarm", "server", now);
    if (next === null || next === undefined || Date.parse(next) > now) return;
  }
  assert.fail("the work that is due never ends");
}

async function rehearse(path, who, now, body = {}) {
  const headers = { ...callers[who], "content-type": "application/json", "scrip-rehearsal-now": String(now) };
  const reply = await fetch(`${service.url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  assert.equal(reply.status, 200, await reply.clone().text());
  return reply.json();
}

/** A fingerprint of the projects' databases on disk: a write that is taken back would not show, any other does. */
function written() {
  const objects = join(service.data, "scrip-project");
  const hash = createHash("sha256");
  for (const name of readdirSync(objects).sort()) {
    // The index of the write-ahead log changes when it is read.
    if (!name.endsWith("-shm")) hash.update(name).update(readFileSync(join(objects, name)));
  }
  return hash.digest("hex");
}
