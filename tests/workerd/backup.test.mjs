// Tests archives that are taken under full load: an archive contains the committed state of one instant and can be served again elsewhere.
// Every write acknowledged before is present, counts and ledger agree with the documents, and alarms run. A changed archive is refused
// without any effect.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { newestSchema } from "../../worker/tools/archive.mjs";
import { backup } from "../../worker/tools/backup.mjs";
import { restore } from "../../worker/tools/restore.mjs";
import { root } from "../../worker/tools/console.mjs";
import { credentials } from "../../worker/tools/setup.mjs";
import { balanceOf, codeOf, fresh, giftCard, redeem, redeemedOf, standalone } from "./redemption_fixtures.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("backup");
const CALLERS = 16;
const ROUNDS = 5;
const AMOUNT = 1_000_000_000;
const folder = mkdtempSync(join(tmpdir(), "scrip-backup-"));
const data = join(folder, "data");
let service;
let call;
/** The result of the first test's load: an archive, and its required contents. */
let archived;

before(async () => {
  service = await boot({ data: join(data, "objects") });
  call = caller(service.url);
  // The first run compiles the copying program, for which no load should wait.
  await backup({ data, to: join(folder, "archive-idle") });
}, { timeout: 600_000 });
after(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

check(`an archive taken under load has all writes acknowledged before it, ${ROUNDS} times, and the service continues`, async (context) => {
  const code = await standalone(call, { quantity: 1_000_000 });
  const card = await giftCard(call, { amount: AMOUNT });
  const load = startLoad(code, card);
  for (let round = 1; round <= ROUNDS; round += 1) {
    await sleep(400);
    const before = load.acknowledged.size;
    const startedAt = Date.now();
    const to = join(folder, `archive-${round}`);
    const manifest = await backup({ data, to });
    const took = Date.now() - startedAt;
    archived = { to, code, card, least: [...load.acknowledged].slice(0, before) };
    assert.ok(load.acknowledged.size > before, "no call was served meanwhile");
    context.diagnostic(`${manifest.files.length} files in ${took} ms, ${load.acknowledged.size - before} requests answered meanwhile`);
    await assertComplete(archived, load.acknowledged);
  }
  await load.stop();
  assert.equal(await redeemedOf(call, code), load.of(code), "the service counts otherwise than its callers");
  assert.deepEqual(readdirSync(folder).filter((name) => name.includes("partial")), []);
}, { timeout: 400_000, counts: ROUNDS });

check("a restore over existing data keeps these, and replaces all of them", async () => {
  const place = join(folder, "over");
  const other = await boot({ data: join(place, "objects") });
  const foreign = await standalone(caller(other.url), { quantity: 5 });
  await assert.rejects(restore({ from: archived.to, data: place }), /is in use by the service with pid \d+/);
  assert.equal(await redeemedOf(caller(other.url), foreign), 0, "a refused restore changes nothing");
  await other.stop();
  const { previous } = await restore({ from: archived.to, data: place });
  assert.ok(existsSync(join(previous, "scrip-project")), "the previous data stay");
  const again = await boot({ data: join(place, "objects") });
  try {
    assert.equal((await caller(again.url)("GET", `/v1/vouchers/${foreign}`)).status, 404);
    assert.ok((await redeemedOf(caller(again.url), archived.code)) > 0);
  } finally {
    await again.stop();
  }
});

check("running jobs continue after a restore without any request", async () => {
  const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 5 }, redemption: { quantity: 1 } };
  const campaign = { name: fresh("LATE-"), campaign_type: "DISCOUNT_COUPONS", type: "AUTO_UPDATE", vouchers_count: 100_000, voucher };
  const { status, body } = await call("POST", "/v1/campaigns", campaign);
  assert.equal(status, 200, JSON.stringify(body));
  const to = join(folder, "archive-later");
  await backup({ data, to });
  // Any request to a project wakes it, so the second one gets no request for a while.
  const [atOnce, later] = [await progressOf(to, 0), await progressOf(to, 8_000)];
  assert.ok(atOnce < 100, "the work was over too soon to prove anything");
  assert.ok(later > atOnce, `${later} % after a while, and ${atOnce} % at once`);
});

/** Returns the progress of the newest async action of an archive at its first reading, and the time since the restore. */
async function progressOf(from, afterMs) {
  const place = mkdtempSync(join(folder, "later-"));
  await restore({ from, data: place });
  const restored = await boot({ data: join(place, "objects") });
  try {
    await sleep(afterMs);
    const { status, body } = await caller(restored.url)("GET", "/v1/async-actions?limit=1");
    assert.equal(status, 200, JSON.stringify(body));
    return body.async_actions[0].progress;
  } finally {
    await restored.stop();
    rmSync(place, { recursive: true });
  }
}

check("a restore raises the epoch of bundles, and retires the keys that are named", async () => {
  const before = await bundleKeys(call);
  const { body: next } = await call("POST", `${BUNDLE_KEYS}/rotate`);
  const to = join(folder, "archive-keys");
  await backup({ data, to });
  const signing = before.data[0].kid;
  const asWas = await restored(to, [], bundleKeys);
  assert.ok(asWas.epoch > before.epoch && asWas.epoch <= Date.now(), `${asWas.epoch} after ${before.epoch}`);
  assert.deepEqual(asWas.data.map(({ kid, status }) => [kid, status]), [[next.kid, "NEXT"], [signing, "SIGNING"]]);
  assert.equal(asWas.data[0].vouched_by, next.vouched_by);
  // The next key takes the place of the retired one at once, and no key vouches for it.
  const replaced = await restored(to, [signing], bundleKeys);
  assert.deepEqual(replaced.data.map(({ kid, status, vouched_by }) => [kid, status, vouched_by]), [[next.kid, "SIGNING", null], [signing, "RETIRED", null]]);
  // Without the next key the key in force stays so.
  const single = await restored(to, [next.kid], bundleKeys);
  assert.deepEqual(single.data.map(({ kid, status, signs_until }) => [kid, status, signs_until]), [[next.kid, "RETIRED", null], [signing, "SIGNING", null]]);
  // Without either a new key is made at need.
  const renewed = await restored(to, [signing, next.kid], bundleKeys);
  assert.deepEqual(renewed.data.map(({ status }) => status), ["SIGNING", "RETIRED", "RETIRED"]);
  assert.ok(![signing, next.kid].includes(renewed.data[0].kid));
});

check("after a restore the first client requests a head of the raised epoch", async () => {
  const before = await headOf(call);
  const to = join(folder, "archive-head");
  await backup({ data, to });
  const after = await restored(to, [], async (callOther) => ({ head: await headOf(callOther), epoch: (await bundleKeys(callOther)).epoch }));
  assert.deepEqual([after.head.epoch, after.head.epoch > before.epoch], [after.epoch, true]);
});

check("a restore refuses a key that the archive does not have, and changes nothing", async () => {
  const place = mkdtempSync(join(folder, "place-"));
  cpSync(archived.to, place, { recursive: true });
  // The lock touches the folder.
  const files = () => lookOf(place).map(([name, size]) => [name, size]);
  const was = files();
  await assert.rejects(restore({ from: archived.to, data: place, retiredKeys: ["nobodys"] }), /the archive has no key `nobodys`; nothing was changed/);
  assert.deepEqual(files(), was);
  rmSync(place, { recursive: true });
});

const BUNDLE_KEYS = "/management/v1/projects/proj_dev/bundle-keys";

/** Returns the claims of the first head that a client gets. */
function headOf(callOther) {
  const { id, token } = credentials.client;
  const client = { "x-client-application-id": id, "x-client-token": token, origin: "http://localhost:3000" };
  return waitUntil(async () => {
    const { status, body } = await callOther("GET", "/client/v1/bundle", undefined, client);
    assert.ok([200, 503].includes(status), `${status} ${JSON.stringify(body)}`);
    return status === 200 && JSON.parse(Buffer.from(body.split(".")[1], "base64url"));
  }, "the first head");
}

/** Returns the list of the keys of bundles, with the epoch. */
async function bundleKeys(callOther) {
  const { status, body } = await callOther("GET", BUNDLE_KEYS);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Restores an archive elsewhere without some keys, and returns what `read` finds there. */
async function restored(from, retiredKeys, read) {
  const place = mkdtempSync(join(folder, "keys-"));
  await restore({ from, data: place, retiredKeys });
  const service = await boot({ data: join(place, "objects") });
  try {
    return await read(caller(service.url));
  } finally {
    await service.stop();
    rmSync(place, { recursive: true });
  }
}

const spoilt = {
  "a file is cut short": [(at) => truncateSync(largest(at), statSync(largest(at)).size - 4_096), /has \d+ bytes and not \d+; nothing was changed/],
  "a byte is changed": [flipByte, /was changed: its SHA-256 is another one; nothing was changed/],
  "a file is missing": [(at) => rmSync(largest(at)), /is missing; nothing was changed/],
  "a file is too many": [(at) => writeFileSync(join(at, "objects/more.sqlite"), ""), /`objects\/more.sqlite` is no part of it; nothing was changed/],
  "the manifest is cut short": [(at) => truncateSync(join(at, "manifest.json"), 100), /its manifest.json cannot be read; nothing was changed/],
  "the manifest is missing": [(at) => rmSync(join(at, "manifest.json")), /is no archive: it has no manifest.json/],
  "the manifest names what lies outside": [(at) => changeManifest(at, (manifest) => (manifest.files[0].path = "../data/objects/service.json")), /is no part of it|is missing/],
  "a later version wrote it": [(at) => changeManifest(at, (manifest) => (manifest.schema = newestSchema() + 1)), /is newer than this version: .* schema step/],
  "its format is a later one": [(at) => changeManifest(at, (manifest) => (manifest.format = 2)), /its manifest has format `2`, this version reads 1/],
};

for (const [name, [spoil, message]] of Object.entries(spoilt)) {
  check(`an archive is refused when ${name}, and nothing is changed`, async () => {
    const [from, place] = [mkdtempSync(join(folder, "spoilt-")), mkdtempSync(join(folder, "place-"))];
    cpSync(archived.to, from, { recursive: true });
    cpSync(archived.to, place, { recursive: true });
    spoil(from);
    const was = lookOf(place);
    await assert.rejects(restore({ from, data: place }), message);
    assert.deepEqual(lookOf(place), was);
    rmSync(from, { recursive: true });
    rmSync(place, { recursive: true });
  });
}

check("a database that is damaged within is no archive, even under a matching manifest", async () => {
  const from = mkdtempSync(join(folder, "spoilt-"));
  cpSync(archived.to, from, { recursive: true });
  // A page of noise in the middle, and a manifest that agrees with it.
  const bytes = readFileSync(largest(from));
  bytes.fill(0xaa, 4_096 * 3, 4_096 * 6);
  writeFileSync(largest(from), bytes);
  const { sha256Of } = await import("../../worker/tools/archive.mjs");
  const digest = await sha256Of(largest(from));
  changeManifest(from, (manifest) => {
    for (const file of manifest.files) if (join(from, file.path) === largest(from)) file.sha256 = digest;
  });
  await assert.rejects(restore({ from, data: join(folder, "damaged") }), /damaged|malformed/);
  assert.ok(!existsSync(join(folder, "damaged")));
});

check("the commands print their result in a line, also when they did nothing", async () => {
  const command = (name, args, env) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, `worker/tools/${name}.mjs`), ...args], { env: { ...process.env, ...env }, encoding: "utf8" });
    return { status, output: `${stdout}${stderr}` };
  };
  const to = join(folder, "by-command");
  const made = command("backup", [to], { SCRIP_DATA: data });
  assert.equal(made.status, 0, made.output);
  assert.match(made.output, /by-command has \d+ files of [\d.]+ MB, each whole/);
  const twice = command("backup", [to], { SCRIP_DATA: data });
  assert.equal(twice.status, 1);
  assert.match(twice.output, /is there already: name a new folder/);
  assert.match(command("backup", [join(folder, "nothing")], { SCRIP_DATA: join(folder, "no-data") }).output, /there is no data in/);
  const busy = command("restore", [to], { SCRIP_DATA: data });
  assert.equal(busy.status, 1);
  assert.match(busy.output, /is in use by the service with pid/);
  const restored = command("restore", [to], { SCRIP_DATA: join(folder, "by-command-data") });
  assert.equal(restored.status, 0, restored.output);
  assert.match(restored.output, /is what it was at \d{4}-/);
  const unknown = command("restore", [to, "--retired-key=nobodys"], { SCRIP_DATA: join(folder, "by-command-data") });
  assert.equal(unknown.status, 1);
  assert.match(unknown.output, /the archive has no key `nobodys`; nothing was changed/);
  const misspelt = command("restore", [to, "--retire-key=nobodys"], { SCRIP_DATA: join(folder, "by-command-data") });
  assert.equal(misspelt.status, 1);
  assert.match(misspelt.output, /--retire-key/);
});

/** Redeems a code and spends from a gift card as fast as the callers can. */
function startLoad(code, card) {
  let running = true;
  const acknowledged = new Map();
  const callers = Array.from({ length: CALLERS }, async (_, at) => {
    while (running) {
      const isCard = at % 2 === 1;
      const { status, body } = await redeem(call, isCard ? card : code, {}, isCard ? { gift: { credits: 7 } } : {});
      assert.equal(status, 200, JSON.stringify(body));
      acknowledged.set(body.redemptions[0].id, isCard ? card : code);
    }
  });
  return {
    acknowledged,
    of: (name) => [...acknowledged.values()].filter((one) => one === name).length,
    async stop() {
      running = false;
      await Promise.all(callers);
    },
  };
}

/** Restores an archive elsewhere and compares the served data with the acknowledged writes. */
async function assertComplete({ to, code, card, least }, acknowledged) {
  const place = join(folder, "elsewhere");
  await restore({ from: to, data: place });
  const restored = await boot({ data: join(place, "objects") });
  const callOther = caller(restored.url);
  try {
    const there = new Map([...(await listed(callOther, code)), ...(await listed(callOther, card))]);
    for (const [id] of least) assert.ok(there.has(id), `${id} was acknowledged before the backup began, and is lost`);
    const of = (name) => [...there.values()].filter((one) => one === name).length;
    assert.equal(await redeemedOf(callOther, code), of(code), "the count and the documents");
    assert.equal(await balanceOf(callOther, card), AMOUNT - 7 * of(card), "the ledger and the documents");
    const sooner = [...there.keys()].filter((id) => !acknowledged.has(id));
    assert.ok(sooner.length <= CALLERS, "every further redemption belongs to a caller that waited for its answer");
    assert.equal((await redeem(callOther, code)).status, 200);
    assert.equal(await redeemedOf(callOther, code), of(code) + 1);
  } finally {
    await restored.stop();
    rmSync(place, { recursive: true });
  }
}

/** Returns all redemptions of a code: pairs of id and code. */
async function listed(callOther, code) {
  const found = [];
  for (let page = 1; ; page += 1) {
    const { status, body } = await callOther("GET", `/v1/redemptions?limit=100&page=${page}&filters[voucher_code][conditions][$is][0]=${code}`);
    assert.equal(status, 200, JSON.stringify(body));
    found.push(...body.redemptions.map((one) => [one.id, codeOf(one)]));
    if (body.redemptions.length < 100) return found;
  }
}

/** Returns the path of an archive's largest file: the project's. */
function largest(archive) {
  const { files } = JSON.parse(readFileSync(join(archive, "manifest.json"), "utf8"));
  return join(archive, files.reduce((one, other) => (other.bytes > one.bytes ? other : one)).path);
}

function flipByte(archive) {
  const bytes = readFileSync(largest(archive));
  bytes[Math.floor(bytes.length / 2)] ^= 1;
  writeFileSync(largest(archive), bytes);
}

function changeManifest(archive, change) {
  const path = join(archive, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8"));
  change(manifest);
  writeFileSync(path, JSON.stringify(manifest));
}

/** Returns the names, lengths and times of all files in a folder. */
function lookOf(place) {
  return readdirSync(place, { recursive: true }).sort().map((name) => {
    const { size, mtimeMs } = statSync(join(place, name));
    return [name, size, mtimeMs];
  });
}
