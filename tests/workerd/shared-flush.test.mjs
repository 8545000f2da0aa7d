// Tests that requests which wait together share one flush and nothing else. Each has its own transaction and its own failure, and an answer
// is only given when its effect is on the disk. The queue is tested separately first, then inside the built Worker.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { BatchQueue, BATCH_MS_MAX, REQUESTS_MAX, PROBED_ONE_IN } from "../../worker/shell/batch.mjs";
import { boot, caller } from "./harness.mjs";
import { fresh, redeem, redeemedOf, standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("batches");
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

/**
 * Makes a queue over an object whose clock the test moves: `{ add, batches, resume, pauses, aborted }`. A request is a name or a function.
 */
function modelled({ takesMs = 0, finish = () => {} } = {}) {
  let [time, pauses] = [0, 0];
  const held = [];
  const batches = [];
  const aborted = [];
  const queue = new BatchQueue({
    run(request) {
      time += takesMs;
      return typeof request === "function" ? request() : request;
    },
    finish(outcomes) {
      batches.push(outcomes);
      finish(outcomes);
    },
    abort: (error) => aborted.push(error),
    now: () => time,
    pause() {
      pauses += 1;
      return new Promise((done) => held.push(done));
    },
  });
  return {
    add: (request) => queue.add(request),
    batches,
    aborted,
    pauses: () => pauses,
    /** Ends the pause, and lets the next steps happen. */
    async resume() {
      held.shift()?.();
      await new Promise((done) => setImmediate(done));
    },
  };
}

check("a lone request runs at once, at any time", async () => {
  const { add, batches, pauses, resume } = modelled();
  for (const name of Array(2 * PROBED_ONE_IN).keys()) {
    const answer = add(name);
    assert.deepEqual(batches.at(-1), [name], "before any pause");
    assert.equal(await answer, name);
    await resume();
  }
  assert.equal(pauses(), 2, `one behind every ${PROBED_ONE_IN}th, for those that follow closely`);
});

check("requests that arrive meanwhile are one batch, in their order", async () => {
  const { add, batches, resume } = modelled();
  const answers = ["a", "b", "c", "d"].map(add);
  for (let turn = 0; turn < 3; turn += 1) await resume();
  assert.deepEqual(batches, [["a"], ["b", "c", "d"]]);
  assert.deepEqual(await Promise.all(answers), ["a", "b", "c", "d"]);
  const more = ["e", "f"].map(add);
  assert.equal(batches.length, 2, "after a crowd those that come together run together from the first");
  await resume();
  assert.deepEqual(batches.at(-1), ["e", "f"]);
  assert.deepEqual(await Promise.all(more), ["e", "f"]);
});

check(`a batch has at most ${REQUESTS_MAX} requests`, async () => {
  const { add, batches, resume } = modelled();
  const answers = Array.from({ length: 2 * REQUESTS_MAX + 3 }, (_, at) => add(at));
  for (let turn = 0; turn < 5; turn += 1) await resume();
  assert.deepEqual(batches.map((batch) => batch.length), [1, REQUESTS_MAX, REQUESTS_MAX, 2]);
  assert.deepEqual(await Promise.all(answers), Array.from(answers.keys()));
});

check(`a batch takes up requests for ${BATCH_MS_MAX} ms at most`, async () => {
  const { add, batches, resume } = modelled({ takesMs: 4 });
  const answers = Array.from({ length: 8 }, (_, at) => add(at));
  for (let turn = 0; turn < 5; turn += 1) await resume();
  assert.deepEqual(batches.map((batch) => batch.length), [1, 3, 3, 1]);
  assert.equal((await Promise.all(answers)).length, 8);
});

check("a failure outside of a single request answers none, and ends the object", async () => {
  const broken = modelled({
    finish: (outcomes) => {
      if (outcomes.includes("b")) throw new Error("no alarm");
    },
  });
  const first = broken.add("a");
  const rest = [...Array(REQUESTS_MAX + 5).keys(), "b"].map((request) => broken.add(request));
  assert.equal(await first, "a", "what was flushed before stays");
  const settling = Promise.allSettled(rest);
  for (let turn = 0; turn < 5; turn += 1) await broken.resume();
  const settled = await settling;
  assert.deepEqual(settled.slice(0, REQUESTS_MAX).map(({ value }) => value), Array.from(Array(REQUESTS_MAX).keys()), "a batch before");
  for (const { reason } of settled.slice(REQUESTS_MAX)) assert.equal(reason.message, "no alarm");
  assert.equal(broken.aborted.length, 1);

  const thrown = modelled();
  const lone = thrown.add(() => {
    throw new Error("the engine is lost");
  });
  await assert.rejects(lone, /the engine is lost/);
  assert.equal(thrown.aborted.length, 1);
});

/** Sends some calls together, after one that keeps the object busy, so that they wait for it together. */
function together(calls) {
  return Promise.all([call("GET", "/v1/vouchers?limit=100"), ...calls.map((send) => send())]).then(([, ...answers]) => answers);
}

check("of 32 redemptions of a code with one use, sent together, one succeeds", async () => {
  for (let round = 0; round < 10; round += 1) {
    const code = await standalone(call, { quantity: 1 });
    const answers = await together(Array.from({ length: 32 }, () => () => redeem(call, code)));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    for (const { status, body } of answers.filter((one) => one.status !== 200)) {
      assert.equal(status, 400);
      assert.equal(body.key, "quantity_exceeded");
    }
    assert.equal(await redeemedOf(call, code), 1);
  }
});

check("equal Idempotency-Keys among requests that wait together: one redemption, one answer", async () => {
  const code = await standalone(call, { quantity: 1_000 });
  const keys = Array.from({ length: 8 }, () => fresh("KEY-"));
  const answers = await together([...keys, ...keys].map((key) => () => redeem(call, code, { "idempotency-key": key })));
  for (const [at] of keys.entries()) {
    assert.equal(answers[at].status, 200, JSON.stringify(answers[at].body));
    assert.deepEqual(answers[at + keys.length].body, answers[at].body);
  }
  assert.equal(await redeemedOf(call, code), keys.length);
});

for (const fault of ["throw", "sql", "panic", "overflow"]) {
  check(`${fault} in the middle of a batch undoes only itself`, async () => {
    const code = await standalone(call, { quantity: 1_000 });
    const hurt = (at) => at % 4 === 2;
    const answers = await together(Array.from({ length: 30 }, (_, at) => () =>
      redeem(call, code, hurt(at) ? { "scrip-test-fault": fault } : { "idempotency-key": `${code}-${at}` })));
    for (const [at, { status, body }] of answers.entries()) assert.equal(status, hurt(at) ? 500 : 200, JSON.stringify(body));
    const well = answers.filter(({ status }) => status === 200).map(({ body }) => body.redemptions[0].id);
    assert.equal(await redeemedOf(call, code), well.length);
    for (const id of well) assert.equal((await call("GET", `/v1/redemptions/${id}`)).status, 200);
  });
}

check("a flush that fails keeps nothing of its request, and the next request is served", async () => {
  const code = await standalone(call, { quantity: 5 });
  assert.equal((await redeem(call, code)).status, 200);
  const failed = await redeem(call, code, { "scrip-test-fault": "flush" });
  assert.equal(failed.status, 500, JSON.stringify(failed.body));
  assert.equal(failed.body.key, "internal_error");
  assert.equal(failed.body.request_id, failed.headers.get("x-request-id"));
  assert.equal(await redeemedOf(call, code), 1);
  assert.equal((await redeem(call, code)).status, 200);
  assert.equal(await redeemedOf(call, code), 2);
});

check("a flush that fails in a batch acknowledges none of its requests, and leaves none in silence", async () => {
  let shared = 0;
  for (let round = 0; round < 5; round += 1) {
    const code = await standalone(call, { quantity: 1_000 });
    const keys = Array.from({ length: 2 * REQUESTS_MAX }, () => fresh("KEY-"));
    const answers = await together(keys.map((key, at) => () =>
      redeem(call, code, { "idempotency-key": key, ...(at === 12 ? { "scrip-test-fault": "flush" } : {}) })));
    assert.equal(answers[12].status, 500, JSON.stringify(answers[12].body));
    const acknowledged = answers.filter(({ status }) => status === 200);
    const failed = answers.filter(({ status }) => status === 500);
    assert.equal(acknowledged.length + failed.length, keys.length);
    for (const { body } of failed) assert.equal(body.key, "internal_error");
    shared += failed.length > 1 ? 1 : 0;
    // The object may end between the flush of an earlier batch and its answers: those writes are on the disk and were not acknowledged.
    const counted = await redeemedOf(call, code);
    assert.ok(counted >= acknowledged.length && counted < keys.length, `${counted} of ${keys.length} kept, ${acknowledged.length} acknowledged`);
    for (const [at, key] of keys.entries()) {
      const again = await redeem(call, code, { "idempotency-key": key });
      assert.equal(again.status, 200, JSON.stringify(again.body));
      if (answers[at].status === 200) assert.deepEqual(again.body, answers[at].body);
    }
    assert.equal(await redeemedOf(call, code), keys.length);
  }
  assert.ok(shared > 0, "in no round did another request share the flush that failed");
});
