// Tests that today's Worker serves the data of earlier versions: it migrates their folders, also after a sudden end in the middle, and answers
// each list and a sample of decisions as the version did that wrote them. `old-data/make.mjs` has made the folders.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";
import { waitUntil } from "../wait.mjs";
import { ask, compare, readJson, unpack } from "./old-data/answers.mjs";
import { bootShifted } from "./old-data/boot.mjs";
import { differences } from "./old-data/differences.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("old data");
const here = fileURLToPath(new URL("old-data/", import.meta.url));
const versions = readdirSync(here).filter((name) => name.endsWith(".tar.br")).map((name) => name.slice(0, -".tar.br".length));
const newest = Number(readFileSync(new URL("../../worker/src/store/schema/version.txt", import.meta.url), "utf8"));
const folders = [];
const services = [];
after(async () => {
  for (const service of services) await service.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Returns a copy of the folder of a version. */
function copyOf(version) {
  const folder = mkdtempSync(join(tmpdir(), "scrip-old-"));
  folders.push(folder);
  unpack(join(here, `${version}.tar.br`), folder);
  return folder;
}

/** Starts today's Worker over a folder, at the time when the answers were recorded; `more` are further settings of `front.mjs`. */
async function bootAt(folder, at, more) {
  const service = await bootShifted(folder, Date.parse(at), { more });
  services.push(service);
  return { ...service, state: async () => (await fetch(`${service.url}/state`)).json() };
}

/** Returns the undocumented differences between an answer and the recorded one, as text. */
function differing({ template, method, path, status, answer, masked, isAfter }, present) {
  if (present.status !== status) return [`${method} ${path}: ${status} became ${present.status} ${JSON.stringify(present.answer)}`];
  const found = compare(answer, present.answer, new Set(masked)).map(([pointer, old, value]) => ({ member: pointer.replaceAll(/\/\d+/g, "/*"), pointer, old, value }));
  const unknown = found.filter((place) => !differences.some((known) => known.covers({ template, path, isAfter, ...place })));
  return unknown.map(({ pointer, old, value }) => `${method} ${path} ${pointer}: ${JSON.stringify(old)} became ${JSON.stringify(value)}`);
}

/** Makes the recorded requests, some of them at the same time, and returns all undocumented differences. */
async function differencesOf(url, requests, together) {
  const left = [...requests];
  const found = [];
  await Promise.all(Array.from({ length: together }, async () => {
    for (let request = left.shift(); request; request = left.shift()) found.push(...differing(request, await ask(url, request)));
  }));
  return found;
}

assert.ok(versions.length > 0, "there are no folders of earlier versions");
for (const version of versions) {
  const { at, recorded } = readJson(join(here, `${version}.answers.json.br`));
  const lists = recorded.filter(({ method, isAfter }) => method === "GET" && !isAfter);

  check(`${version}: each list and a sample of decisions have the answers of then, from the first moment on`, async () => {
    const service = await bootAt(copyOf(version), at);
    // The first of them migrates the project while the others wait.
    assert.deepEqual(await differencesOf(service.url, lists, 16), []);
    assert.deepEqual(await differencesOf(service.url, recorded, 1), []);
    assert.equal((await service.state()).version, newest);
    await service.stop();
  });

  check(`${version}: a migration that a sudden end interrupts goes on at the next start`, async () => {
    const [first] = lists.filter(({ path }) => path.startsWith("/v1/vouchers?"));
    const whole = await bootAt(copyOf(version), at, { holdsAlarms: true });
    const before = await whole.state();
    assert.ok(before.version < newest && before.statements === 0, "nothing but a call of the project migrates it");
    await ask(whole.url, first);
    const { statements } = await whole.state();
    await whole.stop();
    const folder = copyOf(version);
    for (const share of [0.02, 0.2, 0.5, 0.8, 0.95]) {
      const service = await bootAt(folder, at, { holdsAlarms: true, stopAt: Math.ceil(statements * share) });
      const cut = assert.rejects(ask(service.url, first), "the process ends before it answers");
      await waitUntil(() => service.output().includes("stopped at a statement"), "the statement is not reached");
      await service.stop();
      await cut;
    }
    const service = await bootAt(folder, at);
    assert.deepEqual(await differencesOf(service.url, recorded, 1), []);
    assert.equal((await service.state()).version, newest);
    await service.stop();
  });
}
