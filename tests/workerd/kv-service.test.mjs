// Tests that the KV service of a self-hosted Scrip behaves as the binding. A small Worker on plain workerd uses `env.KV` as any Worker
// would, over `worker/shell/kv.mjs`.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../../worker/tools/console.mjs";
import { freePort } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("kv");

// Runs the text of a function with `env.KV`, so that a test reads like a Worker.
const PROBE = `export default {
  async fetch(request, env) {
    const { method, args } = await request.json();
    try {
      const answer = await env.KV[method](...args);
      return Response.json({ answer: answer instanceof Map ? Object.fromEntries(answer) : answer ?? null });
    } catch (error) {
      return Response.json({ error: String(error) });
    }
  },
};`;

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "probe", worker = .probe), (name = "kv", worker = .kv), (name = "disk", disk = (path = "disk", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "probe")],
);
const probe :Workerd.Worker = (
  modules = [(name = "probe.mjs", esModule = embed "probe.mjs")], compatibilityDate = "2026-04-01",
  bindings = [(name = "KV", kvNamespace = "kv")],
);
const kv :Workerd.Worker = (
  modules = [(name = "kv.mjs", esModule = embed "kv.mjs")], compatibilityDate = "2026-04-01",
  durableObjectNamespaces = [(className = "Pairs", uniqueKey = "kv", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"), bindings = [(name = "PAIRS", durableObjectNamespace = "Pairs")],
);`;

let folder;
let port;
let child;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "scrip-kv-"));
  await mkdir(join(folder, "disk"));
  await copyFile(join(root, "worker/shell/kv.mjs"), join(folder, "kv.mjs"));
  await writeFile(join(folder, "probe.mjs"), PROBE);
  await writeFile(join(folder, "config.capnp"), CONFIG);
  port = await freePort();
  await start();
});

after(async () => {
  child?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

async function start() {
  const workerd = createRequire(join(root, "package.json"))("workerd").default;
  const flags = [`--socket-addr=http=127.0.0.1:${port}`, `--directory-path=disk=${join(folder, "disk")}`];
  child = spawn(workerd, ["serve", ...flags, join(folder, "config.capnp")], { stdio: "ignore" });
  for (let tries = 0; tries < 200; tries += 1) {
    if (await kv("get", "ready").then(() => true, () => false)) return;
    await sleep(50);
  }
  throw new Error("workerd did not start");
}

async function kv(method, ...args) {
  const reply = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: JSON.stringify({ method, args }) });
  const { answer, error } = await reply.json();
  if (error) throw new Error(error);
  return answer;
}

check("a value is read as it was written, under any name", async () => {
  for (const name of ["plain", "key:0f", "a/b?c=d&e#f", "žluť 100%", "%2F"]) {
    await kv("put", name, `value of ${name}`);
    assert.equal(await kv("get", name), `value of ${name}`);
  }
  assert.equal(await kv("get", "never put"), null);
  await kv("put", "plain", "second");
  assert.equal(await kv("get", "plain"), "second");
});

check("many values are read at once", async () => {
  await kv("put", "many-1", "one");
  await kv("put", "many-2", "two");
  assert.deepEqual(await kv("get", ["many-1", "many-2", "many-3"]), { "many-1": "one", "many-2": "two", "many-3": null });
});

check("metadata travels with a value", async () => {
  await kv("put", "noted", "value", { metadata: { by: "test", n: 1 } });
  const { value, metadata } = await kv("getWithMetadata", "noted");
  assert.equal(value, "value");
  assert.deepEqual(metadata, { by: "test", n: 1 });
});

check("a deleted value is missing", async () => {
  await kv("put", "brief", "value");
  await kv("delete", "brief");
  assert.equal(await kv("get", "brief"), null);
});

check("keys are listed by prefix, in order, page by page", async () => {
  for (const at of ["3", "1", "2"]) await kv("put", `page:${at}`, at, { metadata: { at } });
  await kv("put", "pagf", "outside");
  const first = await kv("list", { prefix: "page:", limit: 2 });
  assert.deepEqual(first.keys, [{ name: "page:1", metadata: { at: "1" } }, { name: "page:2", metadata: { at: "2" } }]);
  assert.equal(first.list_complete, false);
  const second = await kv("list", { prefix: "page:", limit: 2, cursor: first.cursor });
  assert.deepEqual(second.keys.map(({ name }) => name), ["page:3"]);
  assert.equal(second.list_complete, true);
});

check("an expiry is stored, refused when too near, and returned in the list", async () => {
  await assert.rejects(kv("put", "hasty", "value", { expirationTtl: 10 }));
  assert.equal(await kv("get", "hasty"), null);
  const at = Math.floor(Date.now() / 1000) + 120;
  await kv("put", "later", "value", { expiration: at });
  assert.equal(await kv("get", "later"), "value");
  const { keys } = await kv("list", { prefix: "later" });
  assert.deepEqual(keys, [{ name: "later", expiration: at }]);
});

check("a stored value survives kill -9", async () => {
  await kv("put", "lasting", "value", { expirationTtl: 3600 });
  child.kill("SIGKILL");
  await new Promise((exited) => child.once("exit", exited));
  await start();
  assert.equal(await kv("get", "lasting"), "value");
});
