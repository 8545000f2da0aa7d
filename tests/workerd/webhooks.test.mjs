// Tests that webhook deliveries arrive: signed, at least once and in order for each entity, through kill -9. Other targets may hang, answer
// without end or redirect. Failed deliveries can be listed and sent again.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { createServer as listen } from "node:net";
import { after, afterEach, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Dispatcher } from "../../worker/shell/webhook_dispatcher.mjs";
import { webhookToken } from "../../worker/tools/setup.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";
import { waitUntil } from "../wait.mjs";

const check = countTests("webhooks");
const PATH = "/management/v1/projects/proj_dev/webhooks";
// The first try, and those after 1, 2, 4, ... minutes up to a day.
const TRIES = 13;
let service;
let call;
const receivers = [];

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());
afterEach(async () => {
  const { body } = await call("GET", PATH);
  for (const { id } of body.data) assert.equal((await call("DELETE", `${PATH}/${id}`)).status, 204);
  for (const receiver of receivers.splice(0)) receiver.close();
});

check("while all slots are taken, new deliveries wait for an outcome, and cause no commit", async () => {
  let rounds = 0;
  let answer;
  const answered = new Promise((done) => (answer = done));
  const object = {
    commitRound: ({ busy, outcomes }) => {
      rounds += 1;
      const begins = busy.length === 0;
      return { deliveries: begins ? [{ seq: 1, webhook: "wh_1", url: "/", headers: [], body: "" }] : [], next: null, full: outcomes.length === 0 };
    },
    fetch: () => answered,
    served: () => 0,
    now: () => Date.now(),
    sleep,
    after: () => () => {},
  };
  const dispatcher = new Dispatcher(object);
  const burst = dispatcher.runBurst();
  for (let count = 0; count < 20; count += 1) {
    dispatcher.wakeUp();
    await sleep(2);
  }
  assert.equal(rounds, 1, "no delivery can start");
  answer({ status: 200 });
  assert.equal(await burst, null);
  assert.equal(rounds, 2, "and the outcome is recorded");
});

check("a delivery lost with its connection is sent again at once, and once", async () => {
  for (const [answers, expected] of [
    [["Network connection lost.", { status: 200 }], [{ seq: 1, status: 200 }]],
    [["Network connection lost.", "Network connection lost."], [{ seq: 1, failure: "Network connection lost." }]],
    [["no such host", { status: 200 }], [{ seq: 1, failure: "no such host" }]],
  ]) {
    const settled = [];
    const object = {
      commitRound: ({ busy, outcomes }) => {
        settled.push(...outcomes);
        const begins = busy.length === 0;
        return { deliveries: begins ? [{ seq: 1, webhook: "wh_1", url: "/", headers: [], body: "" }] : [], next: null, full: false };
      },
      fetch: async () => {
        const answer = answers.shift();
        if (typeof answer === "string") throw new Error(answer);
        return answer;
      },
      served: () => 0,
      now: () => Date.now(),
      sleep,
      after: () => () => {},
    };
    await new Dispatcher(object).runBurst();
    assert.deepEqual(settled, expected);
  }
});

check("a receiver that closes each connection silently gets every delivery at once", async () => {
  const deliveries = [];
  const receiver = listen((socket) => {
    let text = "";
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      text += bytes;
      const end = text.indexOf("\r\n\r\n");
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (end < 0 || Buffer.byteLength(text.slice(end + 4)) < length) return;
      deliveries.push(JSON.parse(text.slice(end + 4)));
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", () => socket.destroy());
    });
  });
  await new Promise((done) => receiver.listen(0, "127.0.0.1", done));
  receivers.push(receiver);
  await webhook(`http://127.0.0.1:${receiver.address().port}/`);
  await queueDeliveries({ count: 200, entities: 10 });
  await until(() => new Set(deliveries.map((delivery) => delivery.id)).size >= 200, "200 deliveries arrive");
});

check("deliveries arrive once each, signed, and in order for each entity", async (context) => {
  const receiver = await receive();
  await webhook(receiver.url);
  const startedAt = performance.now();
  await queueDeliveries({ count: 2_000, entities: 50 });
  await until(() => receiver.got.length >= 2_000, "2,000 deliveries arrive");
  context.diagnostic(`2,000 deliveries in ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  await sleep(300);
  assert.equal(receiver.got.length, 2_000, "nothing is sent twice without a crash");
  inOrder(receiver.got);
  for (const { headers, text, at } of receiver.got) {
    assert.equal(headers["x-voucherify-signature"], seal(text));
    const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers["scrip-signature"]);
    assert.equal(v1, seal(`${t}.${text}`));
    assert.ok(Math.abs(Number(t) - at / 1_000) < 60, `signed at ${t}, received at ${at}`);
    assert.equal(headers["content-type"], "application/json");
    assert.equal(JSON.stringify(JSON.parse(text)), text, "compact JSON");
  }
}, { timeout: 400_000 });

check("deliveries are sent again after kill -9, in order", async (context) => {
  const receiver = await receive({ answer: (_, reply) => setTimeout(() => reply.writeHead(204).end(), 3) });
  await webhook(receiver.url);
  await queueDeliveries({ count: 600, entities: 20 });
  for (let round = 1; round <= 3; round += 1) {
    await until(() => new Set(receiver.got.map(({ body }) => body.id)).size >= round * 120, "some arrive");
    await service.kill9();
    await service.restart();
    // Any call wakes the object.
    await call("GET", PATH);
  }
  await until(() => new Set(receiver.got.map(({ body }) => body.id)).size === 600, "all arrive");
  context.diagnostic(`${receiver.got.length} deliveries of 600 events`);
  const firsts = new Set();
  inOrder(receiver.got.filter(({ body }) => !firsts.has(body.id) && firsts.add(body.id)));
}, { timeout: 400_000 });

check("a target that hangs delays neither other deliveries nor jobs", async () => {
  let ended = 0;
  const hanging = await receive({ answer: (_, reply) => reply.on("close", () => { ended += 1; }) });
  const other = await receive();
  await webhook(hanging.url);
  await webhook(other.url);
  await queueDeliveries({ count: 100, entities: 100 });
  const campaign = {
    name: `Beside-${Date.now()}`, type: "AUTO_UPDATE", vouchers_count: 500,
    voucher: { type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 500 }, redemption: { quantity: 1 } },
  };
  const made = await call("POST", "/v1/campaigns", campaign);
  assert.equal(made.status, 200, JSON.stringify(made.body));
  await until(() => other.got.length === 100, "all for the other arrive");
  await until(async () => (await call("GET", `/v1/campaigns/${made.body.id}`)).body.vouchers_generation_status === "DONE", "codes are made");
  assert.equal(ended, 0, "the ones that hang were waited for");
  assert.ok(hanging.got.length >= 1 && hanging.got.length <= 6, `${hanging.got.length} deliveries hang`);
}, { timeout: 400_000 });

check("an answer without end costs nothing", async () => {
  let written = 0;
  const chunk = Buffer.alloc(1 << 16, "x");
  const endless = await receive({
    answer: (request, reply) => {
      reply.writeHead(200, { "content-type": "text/plain" });
      const more = () => {
        while (!reply.destroyed && reply.write(chunk)) written += chunk.length;
        written += chunk.length;
      };
      reply.on("drain", more).on("error", () => {});
      more();
    },
  });
  const { id } = await webhook(endless.url);
  await queueDeliveries({ count: 3, entities: 1 });
  await until(() => endless.got.length === 3, "each arrives, as those before it have been settled");
  await sleep(1_000);
  assert.equal(endless.got.length, 3);
  assert.ok(written < 100_000_000, `${written} bytes were taken`);
  assert.equal((await call("PUT", `${PATH}/${id}`, { target_url: endless.url, events: ["customer.created"], active: false })).status, 200);
  assert.deepEqual((await dead(id)).data, [], "nothing waits");
}, { timeout: 400_000 });

check("a redirection is not followed; after a day there are dead letters, and they are sent again", async () => {
  const inner = await receive();
  const outer = await receive({ answer: (_, reply) => reply.writeHead(302, { location: inner.url }).end() });
  const { id } = await webhook(outer.url);
  await queueDeliveries({ count: 3, entities: 2 });
  const arrived = (entity) => outer.got.filter(({ body }) => body.entity === entity).length;
  for (let tries = 1; tries < TRIES; tries += 1) {
    await until(() => arrived("thing_0") >= tries && arrived("thing_1") >= tries, `try ${tries}`);
    await sleep(150);
    assert.deepEqual([arrived("thing_0"), arrived("thing_1")], [tries, tries], "nothing is tried again before its time");
    // A delivery arrives shortly before its outcome is recorded, and only then waits for its next attempt.
    let hastened = 0;
    await until(async () => (hastened += (await call("POST", "/test-hooks/hasten")).body.count) >= 2, `both fail at try ${tries}`);
    assert.equal(hastened, 2);
  }
  await until(async () => (await call("GET", `${PATH}/${id}`)).body.active === false, "the webhook is disabled");
  assert.equal(inner.got.length, 0, "the redirection was followed");
  const { data } = await dead(id);
  assert.deepEqual(data.map(({ body }) => [body.entity, body.place]), [["thing_0", 0], ["thing_1", 1], ["thing_0", 2]]);
  // The first of the two that fails for the last time disables the webhook, while the other is in flight.
  const attempts = data.slice(0, 2).map((letter) => letter.attempts);
  assert.equal(Math.max(...attempts), TRIES);
  assert.ok(Math.min(...attempts) >= TRIES - 1, `${attempts}`);
  assert.equal(data[attempts.indexOf(TRIES)].failure, "the answer had the status 302");
  assert.equal(data[2].attempts, 0, "what waited behind it was never tried");
  assert.equal((await call("PUT", `${PATH}/${id}`, { target_url: inner.url, events: ["customer.created"], active: true })).status, 200);
  const again = await call("POST", `${PATH}/${id}/dead-letters/resend`, {});
  assert.deepEqual([again.status, again.body], [200, { count: 3 }]);
  await until(() => inner.got.length === 3, "they arrive");
  inOrder(inner.got);
  assert.deepEqual((await dead(id)).data, []);
}, { timeout: 400_000 });

check("an event is queued in the commit of its cause", async () => {
  const receiver = await receive();
  await webhook(receiver.url, ["customer.created", "redemption.succeeded"]);
  const { body } = await call("POST", "/v1/customers", { source_id: `event-${Date.now()}` });
  await until(() => receiver.got.length === 1, "the event arrives");
  const event = receiver.got[0].body;
  assert.deepEqual([event.type, event.data.customer.id, event.event.entity_id, event.project_id], ["customer.created", body.id, body.id, "proj_dev"]);
}, { timeout: 400_000 });

check("a rotated secret signs the next delivery", async () => {
  const receiver = await receive();
  const project = await call("POST", "/management/v1/projects", { name: "Signed", currency: "EUR", timezone: "UTC", case_sensitive_codes: true });
  assert.equal(project.status, 200, JSON.stringify(project.body));
  const of = `/management/v1/projects/${project.body.id}`;
  const { app_id, app_token } = project.body.server_side_key;
  const shop = { "content-type": "application/json", "x-app-id": app_id, "x-app-token": app_token };
  assert.equal((await call("POST", `${of}/webhooks`, { target_url: receiver.url, events: ["customer.created"] })).status, 200);
  const secrets = [project.body.webhook_token];
  for (const round of [1, 2, 3]) {
    const made = await call("POST", "/v1/customers", { source_id: `signed-${round}` }, shop);
    assert.equal(made.status, 200, JSON.stringify(made.body));
    await until(() => receiver.got.length === round, "the event arrives");
    const { headers, text } = receiver.got.at(-1);
    assert.equal(headers["x-voucherify-signature"], seal(text, secrets.at(-1)), `delivery ${round}`);
    const drawn = await call("POST", `${of}/webhook-token`);
    assert.equal(drawn.status, 200, JSON.stringify(drawn.body));
    secrets.push(drawn.body.webhook_token);
  }
  assert.equal(new Set(secrets).size, 4);
  assert.equal((await call("PUT", "/internal/webhook-token", { project: project.body.id, signing: { token: "mine", since_ms: 9e15 } }, shop)).status, 404);
}, { timeout: 400_000 });

check("outside of development, webhooks go into the open network only", async () => {
  const open = await boot({ local: false });
  try {
    const callOpen = caller(open.url);
    for (const target_url of ["http://hooks.shop.example/", "https://127.0.0.1/", "https://localhost/", "https://[::ffff:127.0.0.1]/", "https://10.0.0.1/"]) {
      const { status, body } = await callOpen("POST", PATH, { target_url, events: ["customer.created"] });
      assert.deepEqual([status, body.key], [400, "invalid_payload"], target_url);
    }
    assert.equal((await callOpen("POST", PATH, { target_url: "https://hooks.shop.example/", events: ["customer.created"] })).status, 200);
  } finally {
    await open.stop();
  }
}, { timeout: 400_000 });

/** Starts a receiver on a port of its own, which records requests with their times; it answers 200 unless `answer` does otherwise. */
async function receive({ answer = (_, reply) => reply.end("ok") } = {}) {
  const got = [];
  const server = createServer((request, reply) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const text = Buffer.concat(chunks).toString();
      got.push({ headers: request.headers, text, body: JSON.parse(text), at: Date.now() });
      answer(request, reply);
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  const receiver = { url: `http://127.0.0.1:${server.address().port}/in`, got, close };
  receivers.push(receiver);
  return receiver;
}

async function webhook(target_url, events = ["customer.created"]) {
  const { status, body } = await call("POST", PATH, { target_url, events });
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

async function queueDeliveries(queued) {
  const { status, body } = await call("POST", "/test-hooks/deliveries", queued);
  assert.equal(status, 200, JSON.stringify(body));
}

async function dead(id) {
  const { status, body } = await call("GET", `${PATH}/${id}/dead-letters?limit=100`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

function seal(text, secret = webhookToken) {
  return createHmac("sha256", secret).update(text).digest("hex");
}

/** Checks that the events of each entity arrived in the order in which they happened. */
function inOrder(got) {
  const last = new Map();
  for (const { body } of got) {
    assert.ok(body.place > (last.get(body.entity) ?? -1), `${body.entity}: ${body.place} after ${last.get(body.entity)}`);
    last.set(body.entity, body.place);
  }
}

const until = (condition, what) => waitUntil(condition, what, { pause: 20 });
