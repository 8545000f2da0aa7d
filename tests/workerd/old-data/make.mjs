// Makes the data folder of an earlier version, once: `node tests/workerd/old-data/make.mjs CLONE`, with the folder of a built clone of that version.
// It runs the Worker of the clone, fills a project over its routes, and records answers. Both files are written beside this one, named after
// the commit of the clone.
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { caller } from "../harness.mjs";
import { ask, compare, decisions, listPaths, pack, writeJson } from "./answers.mjs";
import { fill } from "./shop.mjs";

const clone = resolve(process.argv[2]);
const version = execFileSync("git", ["-C", clone, "rev-parse", "--short=8", "HEAD"], { encoding: "utf8" }).trim();
const { boot } = await import(pathToFileURL(join(clone, "tests/workerd/harness.mjs")));
const folder = mkdtempSync(join(tmpdir(), "scrip-old-"));
const beside = (name) => new URL(name, import.meta.url).pathname;

/** Receives webhooks and accepts or refuses them by their path. */
const receiver = createServer((request, reply) => {
  request.resume();
  reply.writeHead(request.url === "/accepting" ? 200 : 500).end();
});
await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
const hook = (path) => `http://127.0.0.1:${receiver.address().port}/${path}`;

// An earlier version calls the build with test hooks by another name.
const service = await boot({ data: folder, testHooks: false, rehearsal: false });
try {
  const call = caller(service.url);
  const names = await fill(call, { accepting: hook("accepting"), refusing: hook("refusing") });
  names.anna = (await call("GET", "/v1/customers/anna")).body.id;
  const description = JSON.parse(readFileSync(join(clone, "worker/openapi.json"), "utf8"));
  const requests = [...(await listPaths(call, description, names)), ...decisions(names)];
  const first = [];
  for (const request of requests) first.push(await ask(service.url, request));
  const recorded = [];
  for (const [at, request] of requests.entries()) {
    const { status, answer } = await ask(service.url, request);
    // A member that differs between two equal requests is drawn anew by each.
    const masked = compare(first[at].answer, answer).map(([pointer]) => pointer);
    recorded.push({ ...request, status, answer, ...(masked.length > 0 ? { masked } : {}) });
  }
  writeJson(beside(`${version}.answers.json.br`), { version, at: new Date().toISOString(), recorded });
  console.log(`${recorded.length} answers, ${recorded.filter(({ status }) => status >= 400).length} of them errors`);
} finally {
  await service.stop();
  receiver.close();
}
pack(folder, beside(`${version}.tar.br`));
rmSync(folder, { recursive: true, force: true });
for (const name of [`${version}.tar.br`, `${version}.answers.json.br`]) console.log(`${name}: ${statSync(beside(name)).size} bytes`);
