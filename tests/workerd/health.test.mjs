// Tests that `/health` reports whether the service can do its work, and `/health/live` only whether the process answers. A disk that is
// full or missing and an unreadable setup are reported without internals, and the supervisor kills nothing.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, existsSync } from "node:fs";
import { mkdtemp, readFile, rm, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { boot, caller } from "./harness.mjs";
import { standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("health");
const STORAGE = "the storage takes no writes: it may be full, read-only or gone";
const SETUP = "the setup `SCRIP_SETUP` is missing or cannot be read: the log says where it is wrong";
const undo = [];

after(async () => {
  for (const act of undo.reverse()) await act();
});

async function booted(options) {
  const service = await boot(options);
  undo.push(() => service.stop());
  return service;
}

async function fetchHealth(service, path) {
  const reply = await fetch(`${service.url}${path}`);
  return { status: reply.status, body: await reply.json() };
}

/** Returns the health of now, and not that of a second ago. */
async function healthOf(service) {
  await sleep(1_050);
  return fetchHealth(service, "/health");
}

function assertAiling({ status, body }, details) {
  const { request_id, ...error } = body;
  assert.deepEqual(error, { code: 503, key: "service_unavailable", message: "The service cannot do its work", details });
  assert.match(request_id, /^v-[0-9a-f]{18}$/);
  assert.equal(status, 503);
}

check("a healthy service reports it, to a hundred calls at once", async () => {
  const service = await booted();
  const all = await Promise.all(Array.from({ length: 100 }, () => fetchHealth(service, "/health")));
  for (const one of all) assert.deepEqual(one, { status: 200, body: { status: "ok" } });
  assert.deepEqual(await fetchHealth(service, "/health/live"), { status: 200, body: { status: "ok" } });
  assert.equal(existsSync(join(service.data, "health")), false, "no file is written");
});

for (const [name, setup] of [["empty", ""], ["cut short", '{"projects":[{"id":"secret-project"'], ["without a key", '{"projects":[]}']]) {
  check(`a setup that is ${name} is reported to all callers, and its details only to the log`, async () => {
    const service = await booted({ setup, ailing: true });
    assertAiling(await healthOf(service), SETUP);
    assert.equal((await fetchHealth(service, "/health/live")).status, 200);
    const log = (await readFile(service.log, "utf8")).trim().split("\n").filter((line) => line.includes("is not healthy"));
    const { event, request_id, error } = JSON.parse(log.at(-1));
    assert.equal(event, "noted");
    assert.match(request_id, /^v-[0-9a-f]{18}$/);
    assert.match(error, /^is not healthy: SCRIP_SETUP cannot be used: /);
  });
}

check("a full disk is reported, harms no counts, and is over when there is room again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "scrip-full-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=16m", "none", folder]);
  assert.equal(mounted.status, 0, String(mounted.stderr));
  undo.push(() => rm(folder, { recursive: true, force: true }), () => spawnSync("umount", [folder]));
  const service = await booted({ data: folder, watch: true, silentMs: 1_000 });
  const { pid } = service;
  const call = caller(service.url);
  await standalone(call, { quantity: 5 });
  // Long-lived databases have free pages for their writes; this one gets some.
  for (let more = 0; more < 20; more += 1) await standalone(call, { quantity: 5 });
  const ballast = join(folder, "ballast");
  assert.throws(() => {
    for (;;) appendFileSync(ballast, Buffer.alloc(4_096));
  }, { code: "ENOSPC" });
  assertAiling(await healthOf(service), STORAGE);
  assert.equal((await fetchHealth(service, "/health/live")).status, 200);
  // The supervisor has probed a few times by then.
  await sleep(6_000);
  assert.equal(service.pid, pid, "a full disk is not mended by a new process");
  await unlink(ballast);
  assert.deepEqual(await healthOf(service), { status: 200, body: { status: "ok" } });
  await standalone(call, { quantity: 5 });
}, { skip: process.getuid?.() !== 0 && "only root can make a small disk" });

check("a missing data folder is reported", async () => {
  const folder = await mkdtemp(join(tmpdir(), "scrip-gone-"));
  const service = await booted({ data: folder });
  assert.equal((await fetchHealth(service, "/health")).status, 200);
  await rm(folder, { recursive: true });
  assertAiling(await healthOf(service), STORAGE);
  assert.equal((await fetchHealth(service, "/health/live")).status, 200);
});
