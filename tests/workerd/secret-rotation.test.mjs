// Tests that a new secret works at once. An old one ends with the start of the new setup, or within a minute where the old setup still runs
// somewhere. On Cloudflare the entry and the objects change over one after the other.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, bootChanged } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("rotation");
const BEGUN = Date.now();
const running = new Set();
let data;

before(async () => {
  data = await mkdtemp(join(tmpdir(), "scrip-rotation-"));
});
after(async () => {
  for (const stop of running) await stop();
  await rm(data, { recursive: true, force: true });
});

/** Returns a setup of one project whose one server key, always the same, has this secret. */
function setupOf(token) {
  const key = { class: "server", id: "shop", token };
  return JSON.stringify({ projects: [{ id: "proj", currency: "EUR", client: { origins: [] }, keys: [key] }] });
}

/** Returns the status of a call with a secret, and the seconds since this file began. */
async function statusOf(url, token, seconds = 0) {
  const now = new Date(BEGUN + seconds * 1_000).toISOString();
  const headers = { "x-app-id": "shop", "x-app-token": token, "scrip-test-now": now };
  return (await fetch(`${url}/v1/vouchers`, { headers })).status;
}

async function bearerOf(url, token) {
  const headers = { "x-app-id": "shop", "x-app-token": token };
  const reply = await fetch(`${url}/v1/oauth/token?grant_type=client_credentials&scope=api`, { method: "POST", headers });
  assert.equal(reply.status, 200);
  return (await reply.json()).access_token;
}

async function statusOfBearer(url, bearer) {
  return (await fetch(`${url}/v1/vouchers`, { headers: { authorization: `Bearer ${bearer}` } })).status;
}

async function booted(folder, token) {
  const service = await boot({ data: folder, setup: setupOf(token) });
  const stop = async () => {
    running.delete(stop);
    await service.stop();
  };
  running.add(stop);
  return { url: service.url, stop };
}

check("after a restart with another secret the new one works at once, and the old one and its tokens have ended", async () => {
  const folder = join(data, "restarted");
  const old = await booted(folder, "first");
  assert.equal(await statusOf(old.url, "first"), 200);
  const bearer = await bearerOf(old.url, "first");
  assert.equal(await statusOfBearer(old.url, bearer), 200);
  await old.stop();

  for (const round of ["at the first start", "at the next one"]) {
    const service = await booted(folder, "second");
    assert.equal(await statusOf(service.url, "second"), 200, `the new secret ${round}`);
    assert.equal(await statusOf(service.url, "first"), 401, `the old secret ${round}`);
    assert.equal(await statusOfBearer(service.url, bearer), 401, `a token of the old secret ${round}`);
    await service.stop();
  }
  // A change back to the old setup works as well.
  const back = await booted(folder, "first");
  assert.equal(await statusOf(back.url, "first"), 200);
  assert.equal(await statusOf(back.url, "second"), 401);
  await back.stop();
});

check("an entry that has the new setup before the objects accepts the old secret no longer than a minute, and the new one at once", async () => {
  const folder = join(data, "staggered");
  await mkdir(folder);
  const setups = { objects: setupOf("first"), entry: setupOf("second") };
  let service = await bootApart(folder, setups);
  assert.equal(await statusOf(service.url, "second"), 401, "it is not known yet");
  assert.equal(await statusOf(service.url, "first"), 200);
  await service.stop();

  // The objects follow; in KV the entry finds their earlier records.
  service = await bootApart(folder, { ...setups, objects: setups.entry });
  assert.equal(await statusOf(service.url, "first", 1), 200, "it ends within the minute, and not before a request");
  assert.equal(await statusOf(service.url, "second", 1), 200, "the new secret");
  assert.equal(await statusOf(service.url, "first", 1), 401, "the old secret, once the new one was seen");
  await service.stop();
});

check("a cached record ends a minute after its object wrote it, regardless of restarts", async () => {
  const folder = join(data, "minute");
  await mkdir(folder);
  const setups = { objects: setupOf("first"), entry: setupOf("second") };
  let service = await bootApart(folder, setups);
  assert.equal(await statusOf(service.url, "first"), 200);
  await service.stop();
  for (const [seconds, status] of [[20, 200], [59, 200], [60, 401]]) {
    service = await bootApart(folder, { ...setups, objects: setups.entry });
    assert.equal(await statusOf(service.url, "first", seconds), status, `after ${seconds} seconds`);
    await service.stop();
  }
});

check("a record from a clock that was ahead is not accepted until that clock is right", async () => {
  const folder = join(data, "ahead");
  await mkdir(folder);
  const setups = { objects: setupOf("first"), entry: setupOf("second") };
  let service = await bootApart(folder, setups);
  assert.equal(await statusOf(service.url, "first", 600), 200);
  await service.stop();
  service = await bootApart(folder, { ...setups, objects: setups.entry });
  assert.equal(await statusOf(service.url, "first"), 401);
  await service.stop();
});

/** The service with two setups: one for the entry, and one for the objects. */
async function bootApart(folder, setups) {
  const apart = (config) => {
    const scrip = /const scrip [^]*?\n\);\n/.exec(config)[0];
    const edge = scrip
      .replace("const scrip", "const edge")
      .replace(/ {2}durableObjectNamespaces = [^]*?\n {2}durableObjectStorage = .*\n/, "")
      .replaceAll(/durableObjectNamespace = "(\w+)"/g, 'durableObjectNamespace = (className = "$1", serviceName = "scrip")')
      .replace('fromEnvironment = "SCRIP_SETUP"', 'fromEnvironment = "EDGE_SETUP"');
    return edge + config
      .replace('(name = "scrip", worker = .scrip),', '(name = "scrip", worker = .scrip), (name = "edge", worker = .edge),')
      .replace('service = "scrip")]', 'service = "edge")]');
  };
  const service = await bootChanged(folder, apart, { SCRIP_SETUP: setups.objects, EDGE_SETUP: setups.entry });
  const stop = async () => {
    // No request waits for its record to be in KV.
    await sleep(200);
    running.delete(stop);
    await service.stop();
  };
  running.add(stop);
  return { url: service.url, stop };
}
