// Runs every story over HTTP against the built Worker on workerd: the files that also run in process (worker/tests/stories.rs).
import assert from "node:assert/strict";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { boot } from "../workerd/harness.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));
const BEGIN = Date.parse("2026-03-01T00:00:00Z");
const PEOPLE = {
  dora: { "x-app-id": "dora-app", "x-app-token": "dora-token" },
  "dora-too": { "x-app-id": "dora-till", "x-app-token": "dora-till-token" },
  emil: { "x-app-id": "emil-app", "x-app-token": "emil-token" },
  none: {},
};

/** Returns the headers of a caller with a key of a project, as setup.json names them. */
function credentials(callerName, project) {
  if (callerName in PEOPLE) return PEOPLE[callerName];
  if (callerName.startsWith("closed-")) return credentials(callerName.slice("closed-".length), "closed");
  const origin = project === "closed" ? "https://shop.example" : "http://localhost:3000";
  if (callerName === "server") return { "x-app-id": `${project}-app`, "x-app-token": `${project}-token` };
  if (callerName === "client") return { "x-client-application-id": `${project}-client`, "x-client-token": `${project}-client-token`, origin };
  if (callerName === "management") return { "x-management-id": `${project}-management`, "x-management-token": `${project}-management-token` };
  throw new Error(`\`${callerName}\` is unknown`);
}

const skipped = [];
let ran = 0;
/** Answers to validations and qualifications of clients, by who gave them. */
const answered = { edge: 0, object: 0 };
let worker;
/** Whether a story left users in the service: they belong to the directory, which is not cleared. */
let hasUsers = false;
before(async () => {
  process.env.SCRIP_SETUP = readFileSync(join(folder, "setup.json"), "utf8");
  worker = await boot({ testHooks: true, edgeSecret: "a secret of the stories, long enough" });
});
after(async () => {
  await worker?.stop();
  const line = JSON.stringify({ kind: "stories", subject: "http", ran, skipped });
  if (process.env.SCRIP_TEST_REPORT) appendFileSync(process.env.SCRIP_TEST_REPORT, `${line}\n`);
});

for (const path of stories()) {
  const story = JSON.parse(readFileSync(join(folder, path), "utf8"));
  test(`${path}: ${story.name}`, async () => {
    if (hasUsers) {
      await worker.stop();
      worker = await boot({ testHooks: true, edgeSecret: "a secret of the stories, long enough" });
    }
    hasUsers = story.steps.some((step) => step.call?.includes("/users"));
    for (const project of new Set(["dev", "closed", story.project ?? "dev"])) {
      const headers = { ...credentials("server", project), "content-type": "application/json", "scrip-test-now": String(BEGIN) };
      const cleared = await send("POST", "/test-hooks/given", headers, "{}");
      assert.equal(cleared.status, 200, cleared.text);
    }
    await run(story, path);
    ran += 1;
  });
}

test("the entry answers validations and qualifications of clients", () => {
  console.log(`${answered.edge} answers of the entry to clients, ${answered.object} of the object`);
  assert.ok(process.env.ONLY || answered.edge > 80, `the entry has answered only ${answered.edge} requests of clients`);
});

function stories() {
  const only = process.env.ONLY ?? "";
  const areas = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const paths = areas.flatMap((area) => readdirSync(join(folder, area)).map((name) => `${area}/${name}`));
  return paths.filter((path) => path.endsWith(".json") && path.startsWith(only)).sort();
}

async function run(story, path) {
  const project = story.project ?? "dev";
  const bound = new Map();
  let now = BEGIN;
  for (const [index, step] of story.steps.entries()) {
    now = timeOf(step, now);
    if (step.wait) {
      await work(now, project);
      continue;
    }
    if (step.in_process) {
      skipped.push(`${path} step ${index + 1}: ${step.in_process}`);
      continue;
    }
    const place = `step ${index + 1} (${step.call})`;
    const isOfEntry = /client$/.test(step.as ?? "") && /^POST \/client\/v1\/(validations|qualifications)/.test(step.call);
    if (isOfEntry) await copyBundle(now, step.as.startsWith("closed-") ? "closed" : project);
    const counted = step.expect.nothing_written ? await rows(project) : undefined;
    const reply = await call(step, project, bound, now);
    if (isOfEntry && reply.headers.has("scrip-answered")) answered[reply.headers.get("scrip-answered")] += 1;
    assert.equal(reply.status, step.expect.status, `${place}: ${reply.text}`);
    const isFile = /^(text\/csv|image\/svg|application\/jose)/.test(reply.headers.get("content-type") ?? "");
    const body = reply.text === "" ? null : isFile ? reply.text : JSON.parse(reply.text);
    for (const [name, expected] of Object.entries(step.expect.headers ?? {})) fits(expected, reply.headers.get(name), bound, `${place} ${name}`);
    if (step.expect.body !== undefined) fits(step.expect.body, body, bound, place);
    if (step.expect.claims !== undefined) {
      const claims = JSON.parse(Buffer.from(reply.text.split(".")[1], "base64url").toString());
      fits(step.expect.claims, claims, bound, `${place} claims`);
    }
    for (const pointer of step.expect.absent ?? []) assert.equal(at(body, pointer), undefined, `${place}: ${pointer} should be absent`);
    if (counted !== undefined) assert.deepEqual(await rows(project), counted, `${place}: something was written`);
  }
}

/** Has the bundle of a project built for a time and copied to KV, so that the entry can answer by it. */
async function copyBundle(now, project) {
  for (let round = 0; round < 1_000; round += 1) {
    const { text, status } = await send("POST", "/test-hooks/bundle", { ...credentials("server", project), "scrip-test-now": String(now) }, "");
    assert.equal(status, 200, text);
    if (JSON.parse(text).done) return;
    await sleep(5);
  }
  assert.fail("the bundle is not copied");
}

/** Runs the due jobs until there is none, as the alarm would. */
async function work(now, project) {
  for (let round = 0; round < 200; round += 1) {
    const { text, status } = await send("POST", "/test-hooks/alarm", { ...credentials("server", project), "scrip-test-now": String(now) }, "");
    assert.equal(status, 200, text);
    const { next } = JSON.parse(text);
    if (next === null || Date.parse(next) > now) return;
    await sleep(1);
  }
  assert.fail("the work that is due does not end");
}

async function rows(project) {
  return JSON.parse((await send("GET", "/test-hooks/rows", credentials("server", project))).text);
}

function timeOf(step, now) {
  if (step.at) return Date.parse(step.at);
  if (!step.after) return now + 1;
  const [, days, hours, minutes, seconds] = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/.exec(step.after);
  return now + (((Number(days ?? 0) * 24 + Number(hours ?? 0)) * 60 + Number(minutes ?? 0)) * 60 + Number(seconds ?? 0)) * 1000;
}

async function call(step, project, bound, now) {
  // A link in an answer leads to the host that sent it.
  const [, method, target] = /^(\S+) (?:https?:\/\/[^/]+)?(.*)$/.exec(fill(step.call, bound));
  const callerName = step.as ?? "server";
  const headers = callerName === "oauth" ? { authorization: `Bearer ${bound.get("token")}` } : { ...credentials(callerName, project) };
  // Tokens live by the real clock, which the entry reads.
  if (callerName !== "oauth" && !target.startsWith("/v1/oauth/")) headers["scrip-test-now"] = String(now);
  const body = bodyOf(step, bound);
  if (body !== undefined) headers["content-type"] = step.csv !== undefined ? "text/csv" : step.form === undefined ? "application/json" : "application/x-www-form-urlencoded";
  for (const [name, value] of Object.entries(step.headers ?? {})) {
    if (value === null) delete headers[name];
    else headers[name] = fill(value, bound);
  }
  return send(method, target, headers, body);
}

function bodyOf(step, bound) {
  if (step.form !== undefined) return fill(step.form, bound);
  if (step.csv !== undefined) return fill(step.csv, bound);
  if (step.raw !== undefined) return fill(step.raw, bound);
  if (step.repeat) return `${step.repeat.before ?? ""}${step.repeat.text.repeat(step.repeat.times)}${step.repeat.behind ?? ""}`;
  return step.send === undefined ? undefined : fill(JSON.stringify(step.send), bound);
}

async function send(method, target, headers, body) {
  const sendable = method === "GET" || body === "" ? undefined : body;
  const reply = await fetch(`${worker.url}${target}`, { method, headers, body: sendable });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

/** Replaces `$names` by bound values, longer names first. */
function fill(text, bound) {
  const names = [...bound.keys()].sort((one, other) => other.length - one.length);
  const textOf = (value) => (typeof value === "object" ? JSON.stringify(value) : String(value));
  return names.reduce((filled, name) => filled.replaceAll(`$${name}`, () => textOf(bound.get(name))), text);
}

function fits(expected, found, bound, place) {
  if (typeof expected === "string" && /^\$./.test(expected)) {
    const name = expected.slice(1);
    assert.notEqual(found ?? null, null, `${place} is nothing and cannot be ${expected}`);
    if (bound.has(name)) assert.deepEqual(found, bound.get(name), place);
    else bound.set(name, found);
  } else if (Array.isArray(expected)) {
    assert.equal(found?.length, expected.length, `${place}: ${JSON.stringify(found)}`);
    expected.forEach((value, index) => fits(value, found[index], bound, `${place}/${index}`));
  } else if (expected !== null && typeof expected === "object") {
    for (const [name, value] of Object.entries(expected)) fits(value, found?.[name] ?? null, bound, `${place}/${name}`);
  } else if (typeof expected === "string" && expected.includes("$")) {
    assert.equal(found, fill(expected, bound), place);
  } else {
    assert.deepEqual(found, expected, place);
  }
}

function at(value, pointer) {
  return pointer.split("/").slice(1).reduce((found, step) => found?.[step], value);
}
