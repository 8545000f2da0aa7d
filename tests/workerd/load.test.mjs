// Tests that no request occupies the object for long: the worst of each kind, one at a time on a quiet service. Clocks inside do not advance
// while an event runs, so a request is timed from outside. The CPU time of the process is taken where the system reports it, so that a busy
// machine does not fail the test. The cost of sending the same bytes is subtracted, and the best of a few tries counts. A slower machine has a
// higher bound, by what a fixed piece of work takes beside each try.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";
import { serverHeaders } from "../../worker/tools/setup.mjs";
import { boot } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { cases, writtenOut } from "./load_cases.mjs";

/** Milliseconds of the object's time that a request may take, on two cores. */
const MOST = 250;
const TRIES = 7;
/** Milliseconds of `fixedWork` on two undisturbed cores. */
const FIXED_WORK_MS = 75;

const check = countTests("load");
let service;

before(async () => {
  service = await boot();
  // The first turns compile it.
  for (let turn = 0; turn < 5; turn += 1) fixedWork();
});
after(() => service?.stop());

/** Returns the CPU milliseconds of the process, in the ticks of Linux; elsewhere the elapsed ones. */
function worked() {
  try {
    const fields = readFileSync(`/proc/${service.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return performance.now();
  }
}

/** Returns the CPU milliseconds of a fixed piece of work of this process: it parses, sorts and prints, as requests do. */
function fixedWork() {
  const startedAt = process.cpuUsage();
  for (let turn = 0; turn < 3; turn += 1) {
    const lines = Array.from({ length: 20_000 }, (_, at) => ({ id: `line_${(at * 7_919) % 20_000}`, price: at, tags: ["a", "b"] }));
    const parsed = JSON.parse(JSON.stringify(lines));
    parsed.sort((one, other) => (one.id < other.id ? -1 : 1));
  }
  const { user, system } = process.cpuUsage(startedAt);
  return (user + system) / 1_000;
}

async function send([method, target, body], headers = {}, again = 3) {
  const startedAt = worked();
  const sent = fetch(`${service.url}${target}`, { method, headers: { ...serverHeaders, ...headers }, body });
  // An idle connection may be closed at the time of its next use.
  const reply = await sent.catch((error) => (again > 0 ? undefined : Promise.reject(error)));
  if (!reply) return send([method, target, body], headers, again - 1);
  const text = await reply.text();
  return { status: reply.status, text, ms: worked() - startedAt };
}

const written = ([method, target, body]) => [method, target, body === undefined ? undefined : JSON.stringify(writtenOut(body))];

for (const { name, before: given = [], request, status, expected = "" } of cases.filter(({ name }) => name.includes(process.env.CASE ?? ""))) {
  check(name, async () => {
    for (const call of given) {
      const reply = await send(written(call));
      assert.ok(reply.status < 300, `${call[0]} ${call[1]}: ${reply.status} ${reply.text.slice(0, 300)}`);
    }
    const call = written(request);
    let least = Infinity;
    for (let tries = 0; tries < TRIES && least >= MOST; tries += 1) {
      const slowness = Math.max(1, fixedWork() / FIXED_WORK_MS);
      // Refused for its type, after it was sent to the object.
      const idle = await send(call, { accept: "text/html" });
      assert.equal(idle.status, 406);
      const reply = await send(call);
      // A deleted object is missing the second time, which takes no time.
      if (tries > 0 && reply.status !== status && reply.status < 429) break;
      assert.equal(reply.status, status, reply.text.slice(0, 400));
      assert.ok(reply.text.includes(expected), reply.text.slice(0, 400));
      least = Math.min(least, (reply.ms - idle.ms) / slowness);
    }
    if (process.env.TIMES) console.log(`${least.toFixed(1).padStart(9)} ms  ${status} ${name}`);
    assert.ok(least < MOST, `took ${least.toFixed(0)} ms of the object, at most ${MOST}`);
  });
}
