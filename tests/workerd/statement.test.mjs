// Tests the texts in which rows of statements pass from a Durable Object's database to Rust: a small Worker on plain workerd runs
// `worker/src/host/statement.js` over a real database. `worker/src/store/sql_rows.rs` reads the texts of the same cases.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { root } from "../../worker/tools/console.mjs";
import { waitUntil } from "../wait.mjs";
import { freePort } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("statements");

const PROBE = `import { DurableObject } from "cloudflare:workers";
import { execute } from "./statement.js";

export class Probe extends DurableObject {
  written(statement, params) {
    const rows = execute(this.ctx.storage.sql, statement, params);
    const parts = [];
    if (rows !== undefined) do parts.push(rows.write()); while (parts.at(-1).startsWith("+"));
    return parts;
  }
}

export default {
  async fetch(request, env) {
    const { sql, params } = await request.json();
    const probe = env.PROBES.get(env.PROBES.idFromName("one"));
    return Response.json(await probe.written(sql, params ?? []).catch((error) => String(error)));
  },
};`;

const CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "probe", worker = .probe), (name = "disk", disk = (path = "disk", writable = true))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "probe")],
);
const probe :Workerd.Worker = (
  modules = [(name = "probe.mjs", esModule = embed "probe.mjs"), (name = "statement.js", esModule = embed "statement.js")],
  compatibilityDate = "2026-04-01",
  durableObjectNamespaces = [(className = "Probe", uniqueKey = "probe", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"), bindings = [(name = "PROBES", durableObjectNamespace = "Probe")],
);`;

let folder;
let child;
let url;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "scrip-statements-"));
  await mkdir(join(folder, "disk"));
  await copyFile(join(root, "worker/src/host/statement.js"), join(folder, "statement.js"));
  await writeFile(join(folder, "probe.mjs"), PROBE);
  await writeFile(join(folder, "config.capnp"), CONFIG);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const workerd = createRequire(import.meta.url)("workerd").default;
  const flags = [`--socket-addr=http=127.0.0.1:${port}`, `--directory-path=disk=${join(folder, "disk")}`];
  child = spawn(workerd, ["serve", ...flags, join(folder, "config.capnp")], { stdio: ["ignore", "inherit", "inherit"] });
  const isReady = () => written({ sql: "SELECT 1" }).then(Array.isArray, () => false);
  await waitUntil(isReady, "the Worker does not answer");
});

after(async () => {
  child?.kill("SIGKILL");
  await rm(folder, { recursive: true, force: true });
});

const written = async (statement) => (await fetch(url, { method: "POST", body: JSON.stringify(statement) })).json();

check("rows are written as Rust reads them", async () => {
  const cases = JSON.parse(await readFile(new URL("sql-rows.json", import.meta.url), "utf8"));
  for (const { about, sql, params, written: expected } of cases) assert.deepEqual(await written({ sql, params }), expected, about);
});

check("many rows come in parts, each whole and in order", async () => {
  const length = 100_000;
  const sql = `WITH RECURSIVE row(number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM row WHERE number < 23)
    SELECT number, printf('%.*c', ${length}, char(96 + number)) FROM row`;
  const parts = await written({ sql });
  const rows = Array.from({ length: 23 }, (_, place) => ({ head: `i${place + 1},${length},;`, text: String.fromCharCode(97 + place).repeat(length) }));
  const expected = [rows.slice(0, 10), rows.slice(10, 20), rows.slice(20)];
  assert.deepEqual(parts.map((part) => part.split("\n")[0]), expected.map((part, place) => (place < 2 ? "+" : "") + part.map(({ head }) => head).join("")));
  // A difference of a million characters cannot be read.
  assert.ok(parts.every((part, place) => part.split("\n")[1] === expected[place].map(({ text }) => text).join("")));
});

check("a statement that fails throws its reason", async () => {
  assert.match(await written({ sql: "SELECT absent" }), /no such column: absent/);
});
