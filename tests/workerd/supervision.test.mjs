// Tests that a service stays up, or reports why it does not. When workerd dies it is restarted, a killed supervisor leaves no process running,
// and two services never share a data folder. All of it uses real processes and real signals.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../../worker/tools/console.mjs";
import { freePort } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("standing");
const SUPERVISOR = join(root, "tests/workerd/process_supervisor.mjs");
const supervisors = new Set();
const folders = new Set();

after(async () => {
  for (const supervisor of supervisors) await supervisor.end("SIGTERM");
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function folderFor(name) {
  const folder = await mkdtemp(join(tmpdir(), `scrip-${name}-`));
  folders.add(folder);
  return folder;
}

/** Starts a supervisor that a test may kill: `{ url, output(), workerd(), ready, ended, end(signal) }`. */
async function startSupervisor(folder, { port, pauses = "0,0,0", env = {} } = {}) {
  const chosen = port ?? (await freePort());
  const child = spawn(process.execPath, [SUPERVISOR, String(chosen), folder, pauses], { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const ended = new Promise((done) => child.once("close", (status, signal) => done(signal ?? status)));
  const supervisor = {
    port: chosen,
    pid: child.pid,
    url: `http://127.0.0.1:${chosen}`,
    output: () => output,
    ended,
    async end(signal) {
      child.kill(signal);
      await ended;
      supervisors.delete(supervisor);
    },
    /** Returns the current workerd, by the lock. */
    workerd: async () => JSON.parse(await readFile(join(folder, "service.json"), "utf8")).workerd.pid,
  };
  supervisors.add(supervisor);
  await until(async () => output.includes("ready") || (await Promise.race([ended, sleep(1, "open")])) !== "open", "the supervisor prints something");
  return supervisor;
}

/** Waits until a probe is true; one that fails is not true yet. */
const until = (probe, what) => waitUntil(() => Promise.resolve(probe()).catch(() => false), what);

const lives = (url) => fetch(`${url}/health`).then((reply) => reply.ok, () => false);

function isThere(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

check("a workerd that dies is restarted, and the log reports it", async () => {
  const supervisor = await startSupervisor(await folderFor("dies"));
  const first = await supervisor.workerd();
  process.kill(first, "SIGKILL");
  await until(async () => (await supervisor.workerd()) !== first && (await lives(supervisor.url)), "another workerd serves");
  assert.match(supervisor.output(), /scrip: workerd ended by itself \(SIGKILL\); starting it again/);
  // An end without an error is an end as well.
  const second = await supervisor.workerd();
  process.kill(second, "SIGTERM");
  await until(async () => (await supervisor.workerd()) !== second && (await lives(supervisor.url)), "a third one serves");
  await supervisor.end("SIGTERM");
  assert.equal(await supervisor.ended, 0);
});

check("one that dies again and again is given up, with a status and a reason", async () => {
  const supervisor = await startSupervisor(await folderFor("again"), { pauses: "0,300" });
  const pids = new Set();
  while ((await Promise.race([supervisor.ended, sleep(20, "open")])) === "open") {
    const pid = await supervisor.workerd().catch(() => undefined);
    if (pid === undefined || pids.has(pid) || !(await lives(supervisor.url))) continue;
    pids.add(pid);
    process.kill(pid, "SIGKILL");
  }
  assert.equal(await supervisor.ended, 1);
  assert.equal(pids.size, 3);
  assert.match(supervisor.output(), /starting it again in 300 ms/);
  assert.match(supervisor.output(), /scrip: workerd ended by itself \(SIGKILL\), 3 times in a row/);
});

check("kill -9 of the supervisor ends workerd too, and the next start takes over", async () => {
  const folder = await folderFor("orphan");
  const first = await startSupervisor(folder);
  const workerd = await first.workerd();
  await first.end("SIGKILL");
  await until(() => !isThere(workerd), "workerd ends with its supervisor", 3_000);
  const second = await startSupervisor(folder, { port: first.port });
  assert.match(second.output(), new RegExp(`the service with pid ${first.pid} was killed and left its lock; taking over`));
  assert.equal(await lives(second.url), true);
  await second.end("SIGTERM");
});

check("a remaining workerd is found and ended by the next start", async () => {
  const folder = await folderFor("left");
  const first = await startSupervisor(folder);
  const workerd = await first.workerd();
  const guards = spawnSync("pgrep", ["-f", `scrip-guard ${workerd}$`], { encoding: "utf8" }).stdout.trim().split("\n");
  assert.equal(guards.length, 1);
  process.kill(Number(guards[0]), "SIGKILL");
  await first.end("SIGKILL");
  await sleep(300);
  assert.equal(isThere(workerd), true, "no process is left to end it");
  const second = await startSupervisor(folder, { port: first.port });
  assert.match(second.output(), new RegExp(`its workerd with pid ${workerd} is still there, without a supervisor; killing it`));
  await until(() => !isThere(workerd), "workerd is gone", 3_000);
  assert.equal(await lives(second.url), true);
  await second.end("SIGTERM");
}, { skip: spawnSync("pgrep", ["-V"]).error && "there is no pgrep" });

check("a second service on the same folder is refused, and the error names the first", async () => {
  const folder = await folderFor("twice");
  const first = await startSupervisor(folder);
  const [second, third] = await Promise.all([startSupervisor(folder), startSupervisor(folder)]);
  for (const late of [second, third]) {
    assert.equal(await late.ended, 1);
    assert.match(late.output(), new RegExp(`is in use by the service with pid ${first.pid} on port ${first.port}: end that one`));
  }
  assert.equal(await lives(first.url), true);
  await first.end("SIGTERM");
  const next = await startSupervisor(folder);
  assert.doesNotMatch(next.output(), /taking over/);
  await next.end("SIGTERM");
});

check("of many that start at once after a kill one gets the folder", async () => {
  const folder = await folderFor("race");
  await (await startSupervisor(folder)).end("SIGKILL");
  const all = await Promise.all(Array.from({ length: 5 }, () => startSupervisor(folder)));
  const serving = all.filter((supervisor) => supervisor.output().includes("ready"));
  assert.equal(serving.length, 1, all.map((supervisor) => supervisor.output()).join("---\n"));
  await serving[0].end("SIGTERM");
});

check("empty locks, and locks of processes that are not visible, do not lock the folder for ever", async () => {
  const folder = await folderFor("stale");
  const path = join(folder, "service.json");
  const old = new Date(Date.now() - 60_000);
  for (const text of ["", "{", `{"pid":${process.pid},"born":"1","place":"elsewhere"}`, `{"pid":${process.pid}}`]) {
    await writeFile(path, text);
    await utimes(path, old, old);
    const supervisor = await startSupervisor(folder);
    assert.match(supervisor.output(), /ready/, text);
    await supervisor.end("SIGTERM");
  }
  await writeFile(path, `{"pid":7,"born":"1","place":"elsewhere","port":8787}`);
  const refused = await startSupervisor(folder);
  assert.equal(await refused.ended, 1);
  assert.match(refused.output(), /pid 7 in another container or on another machine \(elsewhere\) on port 8787/);
});

check("a folder that cannot be written is a remedy", async () => {
  const folder = join(await folderFor("file"), "objects");
  await writeFile(folder, "not a folder");
  const supervisor = await startSupervisor(folder);
  assert.equal(await supervisor.ended, 1);
  assert.match(supervisor.output(), /the data folder .*objects cannot be written \(EEXIST|ENOTDIR\)/);
});

check("a setup that cannot be used stops the start and names the field", async () => {
  const key = { class: "server", id: "a", token: "t" };
  for (const [setup, message] of [
    ["", /SCRIP_SETUP cannot be used: it is empty/],
    ["{", /SCRIP_SETUP cannot be used: EOF/],
    ['{"projects":[]}', /`projects` must have a project with a key/],
    [JSON.stringify({ projects: [{ id: "one", keys: [{ ...key, token: "" }] }] }), /`projects\[0\]\.keys\[0\]\.token` \(key `a`\) is empty/],
    [JSON.stringify({ projects: [{ id: "one", keys: [key], client: { redeem: 1 } }] }), /`projects\[0\]`: `client` of the project `one`: redeem: invalid type/],
  ]) {
    const supervisor = await startSupervisor(await folderFor("setup"), { env: { SCRIP_SETUP: setup } });
    assert.equal(await supervisor.ended, 1, setup);
    assert.match(supervisor.output(), message);
    assert.match(supervisor.output(), /\nscrip: the service cannot do its work: SCRIP_SETUP cannot be used/);
    assert.equal(await lives(supervisor.url), false);
  }
});

check("`npm start` with an empty setup reports it before it builds anything", async () => {
  for (const [setup, message] of [[" ", /scrip: SCRIP_SETUP is empty: write projects and keys/], ["{", /scrip: SCRIP_SETUP is not JSON/]]) {
    const env = { ...process.env, SCRIP_SETUP: setup, PORT: String(await freePort()) };
    const { status, stderr } = spawnSync(process.execPath, [join(root, "worker/tools/start.mjs")], { env, encoding: "utf8", timeout: 120_000 });
    assert.equal(status, 1);
    assert.match(stderr, message);
  }
});
