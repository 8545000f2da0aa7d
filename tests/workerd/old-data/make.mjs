// Makes the data folder of an earlier version, once: `node tests/workerd/old-data/make.mjs CLONE`, with the folder of a built clone of that version.
// It runs the Worker of the clone on several days of the last weeks, fills a project over its routes, and records answers. Both files are
// written into this folder, named after the commit of the clone.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { caller } from "../harness.mjs";
import { ask, changes, compare, decisions, listPaths, pack, writeJson } from "./answers.mjs";
import { bootShifted } from "./boot.mjs";
import { begin, end, visit } from "./shop.mjs";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** A webhook that refuses is tried for about a day: a start each two hours gives each try its time. */
const TRIES_FROM_HOUR = 34;
const TRY_MS = 1_000;

const clone = resolve(process.argv[2]);
const version = execFileSync("git", ["-C", clone, "rev-parse", "--short=8", "HEAD"], { encoding: "utf8" }).trim();
const folder = mkdtempSync(join(tmpdir(), "scrip-old-"));
const written = (name) => fileURLToPath(new URL(name, import.meta.url));

/** Receives webhooks and accepts or refuses them by their path. */
const receiver = createServer((request, reply) => {
  request.resume();
  reply.writeHead(request.url === "/accepting" ? 200 : 500).end();
});
await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
const hook = (path) => `http://127.0.0.1:${receiver.address().port}/${path}`;

/** Runs the Worker of the clone some time ago; `run` gets a caller and the address. */
async function at(ago, run, data = folder) {
  const service = await bootShifted(data, Date.now() - ago, { built: join(clone, "worker/build"), local: true });
  try {
    return await run(caller(service.url), service.url);
  } finally {
    await service.stop();
  }
}

const names = await at(40 * DAY_MS, (call) => begin(call, { accepting: hook("accepting"), refusing: hook("refusing") }));
await at(9 * DAY_MS, visit);
for (let hour = TRIES_FROM_HOUR; hour > 0; hour -= 2) {
  await at(hour * HOUR_MS, async (call) => {
    await (hour % 24 === 10 ? visit(call) : call("POST", "/v1/customers", { source_id: "carl", description: `Seen ${hour} hours ago` }));
    await sleep(TRY_MS);
  });
}
const requests = await at(0, async (call) => {
  await end(call, names);
  names.anna = (await call("GET", "/v1/customers/anna")).body.id;
  const description = JSON.parse(readFileSync(join(clone, "worker/openapi.json"), "utf8"));
  return [...(await listPaths(call, description, names)), ...decisions(names), ...(await changes(call, names))];
});
pack(folder, written(`${version}.tar.br`));
await record();
receiver.close();
rmSync(folder, { recursive: true, force: true });
for (const name of [`${version}.tar.br`, `${version}.answers.json.br`]) console.log(`${name}: ${statSync(written(name)).size} bytes`);

/** Makes the requests on two copies and records the answers. A member that differs between them is drawn anew by each request. */
async function record() {
  const moment = new Date().toISOString();
  const runs = [];
  for (const name of ["first", "second"]) {
    const copy = mkdtempSync(join(tmpdir(), `scrip-old-${name}-`));
    cpSync(folder, copy, { recursive: true });
    const answers = [];
    await at(0, async (call, url) => {
      for (const request of requests) answers.push(await ask(url, request));
    }, copy);
    runs.push(answers);
    rmSync(copy, { recursive: true, force: true });
  }
  const recorded = requests.map((request, place) => {
    const [{ answer: first }, { answer, status }] = runs.map((answers) => answers[place]);
    const masked = compare(first, answer).map(([pointer]) => pointer);
    return { ...request, status, answer, ...(masked.length > 0 ? { masked } : {}) };
  });
  writeJson(written(`${version}.answers.json.br`), { version, at: moment, recorded });
  console.log(`${recorded.length} answers, ${recorded.filter(({ status }) => status >= 400).length} of them errors`);
}
