// Tests that the local proxy forwards the calls of the demo's list with the server's keys, and no others. Other requests are refused and
// not forwarded. A stand-in for the service records the arriving calls.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { createServer } from "node:http";
import { CALLS, methodsOf, targetOf } from "../../www-demo/server_calls.js";
import { answerDemo, isForDemo } from "../../worker/tools/demo.mjs";
import { openProxy } from "../../worker/tools/http_proxy.mjs";
import { credentials } from "../../worker/tools/setup.mjs";
import { freePort } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("demo calls");
const names = new Proxy({}, { get: (_, name) => `${String(name)}_0a-1` });
const JSON_TYPE = { "content-type": "application/json" };
let arrived = [];
let standIn;
let proxy;
let url;

before(async () => {
  standIn = createServer(async (request, reply) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    arrived.push({ method: request.method, target: request.url, headers: request.headers, body });
    reply.writeHead(201, { "content-type": "application/json", "x-own": "stays" }).end('{"answered":true}');
  });
  await new Promise((done) => standIn.listen(0, "127.0.0.1", done));
  const service = `http://127.0.0.1:${standIn.address().port}`;
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const demo = { isFor: isForDemo, answer: (request, reply) => answerDemo(service, request, reply) };
  proxy = await openProxy({ port, socket: "/nowhere/scrip", demo });
});
after(() => {
  proxy?.close();
  standIn?.close();
  standIn?.closeAllConnections();
});

/** Calls the proxy; returns its answer with the calls that arrived at the service. */
async function callDemo(method, path, { body, headers = JSON_TYPE } = {}) {
  arrived = [];
  const reply = await fetch(url + path, { method, headers, body });
  return { status: reply.status, headers: reply.headers, body: await reply.json(), arrived };
}

async function refused(status, details, method, path, options) {
  const answer = await callDemo(method, path, options);
  assert.deepEqual([answer.status, answer.body.code], [status, status], `${method} ${path}`);
  assert.match(answer.body.details, details);
  assert.deepEqual(answer.arrived, [], `${method} ${path} went on`);
  return answer;
}

check("every call of the list arrives as it was made, with the server's keys and without the page's headers", async () => {
  for (const [name, call] of Object.entries(CALLS)) {
    const target = targetOf(call, names);
    assert.deepEqual(methodsOf(target).includes(call.method), true, name);
    const body = call.method === "GET" ? undefined : '{"a":1}';
    const headers = { ...JSON_TYPE, "idempotency-key": "once", "x-app-id": "mine", "x-management-token": "mine", cookie: "a=b" };
    const { status, body: answer, arrived: [sent, ...more] } = await callDemo(call.method, `/demo/shop${target}`, { body, headers });
    assert.deepEqual([status, answer, more], [201, { answered: true }, []], name);
    assert.deepEqual([sent.method, sent.target, sent.body], [call.method, target, body ?? ""], name);
    assert.deepEqual([sent.headers["x-app-id"], sent.headers["x-app-token"]], [credentials.server.id, credentials.server.token]);
    assert.equal(sent.headers["idempotency-key"], "once");
    assert.deepEqual([sent.headers["x-management-token"], sent.headers.cookie], [undefined, undefined]);
  }
});

check("a call without a body is forwarded without one", async () => {
  const { arrived: [sent] } = await callDemo("POST", `/demo/shop${targetOf(CALLS.activatePending, names)}`);
  assert.equal(sent.body, "");
});

check("a call outside of the list is not found, also when it is close to one", async () => {
  const none = [
    "/", "/v1/vouchers", "/v1/vouchers?limit=100", "/v1/campaigns", "/v1/customers/", "/v1/customers/anna", "/v1/customers?limit=100", "/v1/orders/",
    "/v1/orders/a/b", "/v1/orders/..%2fcampaigns", "/v1/orders/%2e%2e", "/v1/orders/a.b", "/v1/orders/a%00", `/v1/orders/${"a".repeat(101)}`,
    "/v1/vouchers?limit=10&customer=a&code=b", "/v1/vouchers?limit=10&customer=", "/v2/loyalties/programs", "/v2/loyalties/programs?limit=1",
    "/v2/loyalties/programs?limit=1&filters[name][conditions][$is]=Other", "/management/v1/projects/proj_dev/custom-event-schemas",
    "/client/v1/bundle", "/openapi.json", "//v1/orders", "/demo/shop/v1/orders", "http://127.0.0.1/v1/orders",
  ];
  for (const target of none) {
    for (const method of ["GET", "POST"]) await refused(404, /no such call/, method, `/demo/shop${target.startsWith("/") ? "" : "/"}${target}`);
  }
});

check("a call of the list by another method is not allowed, and the answer names the allowed one", async () => {
  for (const call of Object.values(CALLS)) {
    for (const method of ["GET", "POST", "PUT", "DELETE", "PATCH"].filter((each) => each !== call.method)) {
      const answer = await refused(405, /made by/, method, `/demo/shop${targetOf(call, names)}`);
      assert.equal(answer.headers.get("allow"), call.method);
    }
  }
  await refused(405, /made by POST/, "GET", "/demo/customer-token");
});

check("a body that is no JSON object, too long or of another type is refused with the reason", async () => {
  const paths = ["/demo/shop/v1/orders", "/demo/customer-token"];
  for (const path of paths) {
    await refused(400, /must be JSON$/, "POST", path, { body: "{" });
    await refused(400, /a JSON object/, "POST", path, { body: "[]" });
    await refused(400, /a JSON object/, "POST", path, { body: "null" });
    await refused(415, /application\/json/, "POST", path, { body: "{}", headers: { "content-type": "text/plain" } });
    await refused(413, /10000 bytes/, "POST", path, { body: JSON.stringify({ source_id: "a".repeat(10_000) }) });
  }
  await refused(400, /`source_id`/, "POST", "/demo/customer-token", { body: '{"source_id":5}' });
  await refused(400, /`source_id`/, "POST", "/demo/customer-token");
});

check("a path outside of the demo is not answered by it", async () => {
  for (const path of ["/demo/shop", "/demo/shopping/v1/orders", "/demo/customer-token?x=1", "/demo", "/v1/orders"]) assert.equal(isForDemo(path), false, path);
});

check("an absent service is reported", async () => {
  standIn.close();
  standIn.closeAllConnections();
  await refused(503, /started again/, "POST", "/demo/shop/v1/orders", { body: "{}" });
});
