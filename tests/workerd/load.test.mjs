// Decides that no request holds the object for long: the worst of each kind, each alone on a quiet service. Clocks inside stand still
// while an event runs, so that a request is timed from outside: by the time that the process was given, where the system tells it, so
// that a busy machine does not fail it, without what it takes to send the same bytes for nothing; the best of a few tries counts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before } from "node:test";
import { serverHeaders } from "../../worker/tools/setup.mjs";
import { boot } from "./harness.mjs";
import { tally } from "./tally.mjs";
import { cases, writtenOut } from "./worst.mjs";

/** Milliseconds of the object's time that a request may take, on two cores. */
const MOST = 250;
const TRIES = 7;

const check = tally("load");
let service;

before(async () => {
  service = await boot();
});
after(() => service?.stop());

/** Milliseconds of work that the process has done, in the ticks of Linux; elsewhere those that have passed. */
function worked() {
  try {
    const fields = readFileSync(`/proc/${service.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return performance.now();
  }
}

async function send([method, target, body], headers = {}, again = 3) {
  const begun = worked();
  const sent = fetch(`${service.url}${target}`, { method, headers: { ...serverHeaders, ...headers }, body });
  // A connection that was kept open may be closed in the very moment in which it is used again.
  const reply = await sent.catch((error) => (again > 0 ? undefined : Promise.reject(error)));
  if (!reply) return send([method, target, body], headers, again - 1);
  const text = await reply.text();
  return { status: reply.status, text, ms: worked() - begun };
}

const written = ([method, target, body]) => [method, target, body === undefined ? undefined : JSON.stringify(writtenOut(body))];

for (const { name, before: given = [], request, status, says = "" } of cases.filter(({ name }) => name.includes(process.env.CASE ?? ""))) {
  check(name, async () => {
    for (const call of given) {
      const reply = await send(written(call));
      assert.ok(reply.status < 300, `${call[0]} ${call[1]}: ${reply.status} ${reply.text.slice(0, 300)}`);
    }
    const call = written(request);
    let least = Infinity;
    for (let tries = 0; tries < TRIES && least >= MOST; tries += 1) {
      // Refused for its type, after it was sent to the object.
      const idle = await send(call, { accept: "text/html" });
      assert.equal(idle.status, 406);
      const reply = await send(call);
      // What was deleted is gone the second time, which takes no time.
      if (tries > 0 && reply.status !== status) break;
      assert.equal(reply.status, status, reply.text.slice(0, 400));
      assert.ok(reply.text.includes(says), reply.text.slice(0, 400));
      least = Math.min(least, reply.ms - idle.ms);
    }
    if (process.env.TIMES) console.log(`${least.toFixed(1).padStart(9)} ms  ${status} ${name}`);
    assert.ok(least < MOST, `took ${least.toFixed(0)} ms of the object, at most ${MOST}`);
  });
}
