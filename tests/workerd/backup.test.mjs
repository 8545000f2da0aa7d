// Decides that an archive is what was committed at one moment, taken while a service works as hard as it can, and that it serves again
// elsewhere: nothing acknowledged before is lost, counts and ledger agree with the documents, alarms ring. An archive that is not what
// was written is refused, and nothing is changed by it.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { newestSchema } from "../../worker/tools/archive.mjs";
import { backup } from "../../worker/tools/backup.mjs";
import { restore } from "../../worker/tools/restore.mjs";
import { root } from "../../worker/tools/say.mjs";
import { balanceOf, codeOf, fresh, giftCard, redeem, redeemedOf, standalone } from "./shop.mjs";
import { boot, caller } from "./harness.mjs";
import { tally } from "./tally.mjs";

const check = tally("backup");
const CALLERS = 16;
const ROUNDS = 5;
const AMOUNT = 1_000_000_000;
const folder = mkdtempSync(join(tmpdir(), "scrip-backup-"));
const data = join(folder, "data");
let service;
let call;
/** What the load of the first test left: an archive, and what it must have. */
let archived;

before(async () => {
  service = await boot({ data: join(data, "objects") });
  call = caller(service.url);
  // The first one compiles what copies, for which no load should wait.
  await backup({ data, to: join(folder, "archive-idle") });
}, { timeout: 600_000 });
after(async () => {
  await service?.stop();
  rmSync(folder, { recursive: true, force: true });
});

check(`an archive taken under load has all that was acknowledged before, ${ROUNDS} times, and the service goes on`, async (context) => {
  const code = await standalone(call, { quantity: 1_000_000 });
  const card = await giftCard(call, { amount: AMOUNT });
  const load = startLoad(code, card);
  for (let round = 1; round <= ROUNDS; round += 1) {
    await sleep(400);
    const before = load.acknowledged.size;
    const begun = Date.now();
    const to = join(folder, `archive-${round}`);
    const manifest = await backup({ data, to });
    const took = Date.now() - begun;
    archived = { to, code, card, least: [...load.acknowledged].slice(0, before) };
    assert.ok(load.acknowledged.size > before, "nobody was served meanwhile");
    context.diagnostic(`${manifest.files.length} files in ${took} ms, ${load.acknowledged.size - before} requests answered meanwhile`);
    await assertWhole(archived, load.acknowledged);
  }
  await load.stop();
  assert.equal(await redeemedOf(call, code), load.of(code), "the service counts otherwise than its callers");
  assert.deepEqual(readdirSync(folder).filter((name) => name.includes("partial")), []);
}, { timeout: 240_000, counts: ROUNDS });

check("a restore over data that are there keeps these beside, and takes the place of all of them", async () => {
  const place = join(folder, "over");
  const other = await boot({ data: join(place, "objects") });
  const foreign = await standalone(caller(other.url), { quantity: 5 });
  await assert.rejects(restore({ from: archived.to, data: place }), /is in use by the service with pid \d+/);
  assert.equal(await redeemedOf(caller(other.url), foreign), 0, "a refused restore hurts nobody");
  await other.stop();
  const { kept } = await restore({ from: archived.to, data: place });
  assert.ok(existsSync(join(kept, "scrip-project")), "what was there before is kept");
  const again = await boot({ data: join(place, "objects") });
  try {
    assert.equal((await caller(again.url)("GET", `/v1/vouchers/${foreign}`)).status, 404);
    assert.ok((await redeemedOf(caller(again.url), archived.code)) > 0);
  } finally {
    await again.stop();
  }
});

check("what was being done goes on after a restore, though nobody asks for it", async () => {
  const voucher = { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 5 }, redemption: { quantity: 1 } };
  const campaign = { name: fresh("LATE-"), campaign_type: "DISCOUNT_COUPONS", type: "AUTO_UPDATE", vouchers_count: 100_000, voucher };
  const { status, body } = await call("POST", "/v1/campaigns", campaign);
  assert.equal(status, 200, JSON.stringify(body));
  const to = join(folder, "archive-later");
  await backup({ data, to });
  // Any look at a project wakes it, so that the second one is left alone for a while.
  const [atOnce, later] = [await progressOf(to, 0), await progressOf(to, 8_000)];
  assert.ok(atOnce < 100, "the work was over too soon to prove anything");
  assert.ok(later > atOnce, `${later} % after a while, and ${atOnce} % at once`);
});

/** How far the newest async action of an archive is when it is looked at first, so many milliseconds after it was restored. */
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

for (const [name, [spoil, told]] of Object.entries(spoilt)) {
  check(`an archive is refused when ${name}, and nothing is changed`, async () => {
    const [from, place] = [mkdtempSync(join(folder, "spoilt-")), mkdtempSync(join(folder, "place-"))];
    cpSync(archived.to, from, { recursive: true });
    cpSync(archived.to, place, { recursive: true });
    spoil(from);
    const was = lookOf(place);
    await assert.rejects(restore({ from, data: place }), told);
    assert.deepEqual(lookOf(place), was);
    rmSync(from, { recursive: true });
    rmSync(place, { recursive: true });
  });
}

check("a database that is damaged within is no archive, whatever its manifest says", async () => {
  const from = mkdtempSync(join(folder, "spoilt-"));
  cpSync(archived.to, from, { recursive: true });
  // A page in the middle of nothing but noise, and a manifest that agrees with it.
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

check("the commands say in a line what they did, and what they did not do", async () => {
  const command = (name, words, env) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, `worker/tools/${name}.mjs`), ...words], { env: { ...process.env, ...env }, encoding: "utf8" });
    return { status, said: `${stdout}${stderr}` };
  };
  const to = join(folder, "by-command");
  const made = command("backup", [to], { SCRIP_DATA: data });
  assert.equal(made.status, 0, made.said);
  assert.match(made.said, /by-command has \d+ files of [\d.]+ MB, each whole/);
  const twice = command("backup", [to], { SCRIP_DATA: data });
  assert.equal(twice.status, 1);
  assert.match(twice.said, /is there already: name a new folder/);
  assert.match(command("backup", [join(folder, "nothing")], { SCRIP_DATA: join(folder, "no-data") }).said, /there is no data in/);
  const busy = command("restore", [to], { SCRIP_DATA: data });
  assert.equal(busy.status, 1);
  assert.match(busy.said, /is in use by the service with pid/);
  const restored = command("restore", [to], { SCRIP_DATA: join(folder, "by-command-data") });
  assert.equal(restored.status, 0, restored.said);
  assert.match(restored.said, /is what it was at \d{4}-/);
});

/** Callers who redeem a code and spend from a gift card as fast as they can. */
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

/** Restores an archive elsewhere and holds what is served there to what was acknowledged. */
async function assertWhole({ to, code, card, least }, acknowledged) {
  const place = join(folder, "elsewhere");
  await restore({ from: to, data: place });
  const restored = await boot({ data: join(place, "objects") });
  const ask = caller(restored.url);
  try {
    const there = new Map([...(await listed(ask, code)), ...(await listed(ask, card))]);
    for (const [id] of least) assert.ok(there.has(id), `${id} was acknowledged before the backup began, and is lost`);
    const of = (name) => [...there.values()].filter((one) => one === name).length;
    assert.equal(await redeemedOf(ask, code), of(code), "the count and the documents");
    assert.equal(await balanceOf(ask, card), AMOUNT - 7 * of(card), "the ledger and the documents");
    const sooner = [...there.keys()].filter((id) => !acknowledged.has(id));
    assert.ok(sooner.length <= CALLERS, "what is there was asked for by somebody who waited for the answer");
    assert.equal((await redeem(ask, code)).status, 200);
    assert.equal(await redeemedOf(ask, code), of(code) + 1);
  } finally {
    await restored.stop();
    rmSync(place, { recursive: true });
  }
}

/** All redemptions of a code: pairs of id and code. */
async function listed(ask, code) {
  const found = [];
  for (let page = 1; ; page += 1) {
    const { status, body } = await ask("GET", `/v1/redemptions?limit=100&page=${page}&filters[voucher_code][conditions][$is][0]=${code}`);
    assert.equal(status, 200, JSON.stringify(body));
    found.push(...body.redemptions.map((one) => [one.id, codeOf(one)]));
    if (body.redemptions.length < 100) return found;
  }
}

/** The path of an archive's largest file: the project's. */
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

/** The names, lengths and moments of everything in a folder. */
function lookOf(place) {
  return readdirSync(place, { recursive: true }).sort().map((name) => {
    const { size, mtimeMs } = statSync(join(place, name));
    return [name, size, mtimeMs];
  });
}
