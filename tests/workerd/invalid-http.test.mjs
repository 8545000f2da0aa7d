// Tests requests that are not quite HTTP: smuggled lengths, broken chunks, CONNECT, bodies that do not come. They are written byte by byte.
// Each gets one answer, the connection ends, and no following byte is taken for a request.
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { root } from "../../worker/tools/console.mjs";
import { send } from "./raw_socket.mjs";
import { boot, bootChanged, caller, pageHeaders } from "./harness.mjs";
import { redeem, redeemedOf, standalone } from "./redemption_fixtures.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("raw");
const BODY = '{"redeemables":[{"object":"voucher","id":"NOCODE"}]}';
const KEYS = "Host: scrip\r\nX-App-Id: dev-app\r\nX-App-Token: dev-token\r\nContent-Type: application/json\r\n";
const NEXT = `GET /v1/smuggled HTTP/1.1\r\nHost: scrip\r\n\r\n`;
const CHUNKED = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\n\r\n`;
const undo = [];
let service;

before(async () => {
  service = await boot({ bare: false });
  undo.push(() => service.stop());
});
after(async () => {
  for (const act of undo.reverse()) await act();
});

const post = (lines, body) => `POST /v1/validations HTTP/1.1\r\n${KEYS}${lines}\r\n\r\n${body}`;
const LENGTH = `Content-Length: ${BODY.length}`;

const WRONG = {
  "CONNECT to a host": "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
  "CONNECT to a path": "CONNECT /v1/vouchers HTTP/1.1\r\nHost: scrip\r\n\r\n",
  "CONNECT with a body": "CONNECT example.com:443 HTTP/1.1\r\nHost: scrip\r\nContent-Length: 3\r\n\r\nabc",
  "two lengths": post(`${LENGTH}\r\nContent-Length: 5`, BODY),
  "the same length twice": post(`${LENGTH}\r\n${LENGTH}`, BODY),
  "a list of lengths": post(`${LENGTH}, ${BODY.length}`, BODY),
  "two lengths without a body": `GET /v1/vouchers HTTP/1.1\r\n${KEYS}Content-Length: 0\r\nContent-Length: 5\r\n\r\nabcde`,
  "a length, then chunks": post("Content-Length: 4\r\nTransfer-Encoding: chunked", CHUNKED),
  "chunks, then a length": post("Transfer-Encoding: chunked\r\nContent-Length: 4", CHUNKED),
  "no number": post("Content-Length: abc", BODY),
  "a negative length": post("Content-Length: -5", BODY),
  "a length with a plus": post(`Content-Length: +${BODY.length}`, BODY),
  "a hexadecimal length": post("Content-Length: 0x34", BODY),
  "a number and more": post(`${LENGTH}abc`, BODY),
  "an empty length": post("Content-Length:", BODY),
  "a length beyond 64 bits": post("Content-Length: 18446744073709551668", BODY),
  "a length on the next line": post(`Content-Length:\r\n ${BODY.length}`, BODY),
  "another encoding before chunks": post("Transfer-Encoding: gzip, chunked", CHUNKED),
  "the encoding identity": post(`Transfer-Encoding: identity\r\n${LENGTH}`, BODY),
  "two encodings": post("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", CHUNKED),
  "an encoding with a control character": post(`Transfer-Encoding: \x0bchunked\r\n${LENGTH}`, BODY),
  "a space before the colon": post("Transfer-Encoding : chunked", CHUNKED),
  "chunks in HTTP/1.0": post("Transfer-Encoding: chunked", CHUNKED).replace("HTTP/1.1", "HTTP/1.0"),
  "a chunk without a length": post("Transfer-Encoding: chunked", `zz\r\n${BODY}\r\n0\r\n\r\n`),
  "a chunk with a negative length": post("Transfer-Encoding: chunked", `-5\r\n${BODY}\r\n0\r\n\r\n`),
  "a chunk beyond 64 bits": post("Transfer-Encoding: chunked", `ffffffffffffffff1\r\n${BODY}\r\n0\r\n\r\n`),
  "a head without a host": "GET /health HTTP/1.1\r\n\r\n",
  "a target on another host": "GET http://example.com/health HTTP/1.1\r\nHost: scrip\r\n\r\n",
  "a target that is a star": "OPTIONS * HTTP/1.1\r\nHost: scrip\r\n\r\n",
  "no HTTP at all": "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
};

for (const [name, bytes] of Object.entries(WRONG)) {
  check(`${name} is 400, and the end of the connection`, async () => {
    const { statuses, text, ended } = await send(service.url, bytes + NEXT);
    assert.deepEqual(statuses, [400], text);
    assert.equal(ended, true, "the connection is left open");
    assert.doesNotMatch(text, /smuggled|stack|\bat /);
  });
}

check("valid requests are served, one after the other on one connection", async () => {
  const right = post(LENGTH, BODY) + post("Transfer-Encoding: chunked", CHUNKED) + post("transfer-encoding: Chunked", CHUNKED);
  const { statuses } = await send(service.url, right + NEXT, 2_000);
  assert.deepEqual(statuses, [200, 200, 200, 404]);
});

check("a body stays a body, with any method and any framing", async () => {
  const inner = "GET /v1/smuggled HTTP/1.1\r\nHost: scrip\r\n\r\n";
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
  const counted = `Content-Length: ${inner.length}\r\n\r\n${inner}`;
  const last = `GET /health/live HTTP/1.1\r\nHost: scrip\r\n\r\n`;
  for (const [method, path] of [["GET", "/v1/vouchers"], ["HEAD", "/v1/vouchers"], ["DELETE", "/v1/vouchers/NOCODE"], ["OPTIONS", "/v1/vouchers"], ["POST", "/v1/vouchers/NOCODE/enable"]]) {
    for (const body of [chunked, counted]) {
      const { statuses, text } = await send(service.url, `${method} ${path} HTTP/1.1\r\n${KEYS}${body}${last}`, 1_000);
      assert.equal(statuses.length, 2, `${method}: ${text}`);
      assert.equal(statuses[1], 200, `${method}: ${text}`);
      assert.doesNotMatch(text, /smuggled/);
    }
  }
  // All callers share the connections after the proxy.
  for (let tries = 0; tries < 10; tries += 1) assert.equal((await caller(service.url)("GET", "/v1/vouchers")).status, 200);
});

check("a wrong request after one that is being answered breaks the connection off, and is not taken for its answer", async () => {
  const call = caller(service.url);
  const code = await standalone(call, { quantity: 5 });
  const body = JSON.stringify({ redeemables: [{ object: "voucher", id: code }], order: { amount: 10_000 } });
  const bytes = `POST /v1/redemptions HTTP/1.1\r\n${KEYS}Content-Length: ${body.length}\r\n\r\n${body}`;
  for (let round = 0; round < 3; round += 1) {
    const { statuses } = await send(service.url, bytes + WRONG["two lengths"]);
    assert.ok(statuses.length === 0 || statuses[0] === 200, String(statuses));
  }
  assert.ok((await redeemedOf(call, code)) <= 3);
});

check("large bodies pass the proxy both ways, and one that is too large gets 413", async () => {
  const call = caller(service.url);
  const large = await call("POST", "/v1/validations", { redeemables: [{ object: "voucher", id: "NOCODE" }], metadata: { text: "x".repeat(9_000_000) } });
  assert.equal(large.status, 400);
  assert.match(large.body.details, /20000 characters/);
  const larger = await call("POST", "/v1/validations", { metadata: { text: "x".repeat(12_000_000) } });
  assert.equal(larger.status, 413);
  const head = await fetch(`${service.url}/v1/vouchers`, { headers: { "x-app-id": "y".repeat(20_000) } });
  assert.equal(head.status, 400);
  assert.equal((await head.json()).key, "header_too_large");
});

check("the description passes the proxy complete, as it is committed", async () => {
  const description = await fetch(`${service.url}/openapi.json`);
  assert.equal(description.headers.get("content-type"), "application/json");
  assert.match(description.headers.get("x-request-id"), /^v-[0-9a-f]{18}$/);
  assert.ok((await description.text()) === (await readFile(join(root, "worker/openapi.json"), "utf8")), "the description is as it is committed");
  const head = await fetch(`${service.url}/openapi.json`, { method: "HEAD" });
  assert.deepEqual([head.status, head.headers.get("content-type"), await head.text()], [200, "application/json", ""]);
});

check("none of these is in the log as a stack", async () => {
  const log = await readFile(service.log, "utf8");
  assert.doesNotMatch(log, /^stack: |^ +at /m);
});

check("a fault that the Worker itself can see is 400 without the proxy as well", async () => {
  const bare = await boot();
  undo.push(() => bare.stop());
  for (const name of ["a length, then chunks", "chunks, then a length", "a chunk without a length", "a chunk with a negative length", "a chunk beyond 64 bits"]) {
    const { statuses, text } = await send(bare.url, WRONG[name], 2_000);
    assert.deepEqual(statuses, [400], `${name}: ${text}`);
  }
});

check("a body that does not come is 408, and nothing is written", async () => {
  const call = caller(service.url);
  const code = await standalone(call, { quantity: 5 });
  const body = JSON.stringify({ redeemables: [{ object: "voucher", id: code }], order: { amount: 10_000 } });
  const { statuses, text } = await send(service.url, `POST /v1/redemptions HTTP/1.1\r\n${KEYS}Content-Length: ${body.length + 1}\r\n\r\n${body}`, 24_000);
  assert.deepEqual(statuses, [408], text);
  assert.match(text, /the body did not arrive in time/);
  assert.equal(await redeemedOf(call, code), 0);
  assert.equal((await redeem(call, code)).status, 200);
});

check("a request that the entry gives up is one line in the log", async () => {
  const folder = await mkdtemp(join(tmpdir(), "scrip-late-"));
  const silent = createServer(() => {});
  await new Promise((listening) => silent.listen(0, "127.0.0.1", listening));
  const address = `127.0.0.1:${silent.address().port}`;
  const late = await bootChanged(folder, (config) => config.replace('(name = "kv", worker = .kv)', `(name = "kv", external = (address = "${address}", http = ()))`), {
    SCRIP_SETUP: JSON.stringify({ projects: [{ id: "proj", keys: [
      { class: "server", id: "dev-app", token: "dev-token" }, { class: "client", id: "dev-client", token: "dev-client-token" },
    ] }] }),
    SCRIP_METRICS_TOKEN: "operator",
  });
  undo.push(() => silent.close(), () => rm(folder, { recursive: true, force: true }), () => late.stop());
  const slow = await answerToSlowBody(late.url, 8_000);
  assert.deepEqual(slow.statuses, [500]);
  assert.ok(slow.took > 24_000 && slow.took < 30_000, `${slow.took} ms from the arrival to the answer`);
  await sleep(200);
  const offset = late.output().length;
  const answer = await caller(late.url)("GET", "/v1/vouchers/SECRET-CODE");
  assert.equal(answer.status, 500);
  assert.equal(answer.body.key, "internal_error");
  await sleep(200);
  const lines = late.output().slice(offset).trim().split("\n");
  assert.equal(lines.length, 1, lines.join("\n"));
  const { at, ...line } = JSON.parse(lines[0]);
  const { request_id } = answer.body;
  const error = "there was no answer within 25000 ms";
  assert.deepEqual(line, { level: "error", event: "request_failed", request_id, route: "GET /v1/vouchers/{code}", status: 500, error });
  assert.ok(!Number.isNaN(Date.parse(at)));
  const metrics = await (await fetch(`${late.url}/metrics`, { headers: { authorization: "Bearer operator" } })).text();
  assert.match(metrics, /^scrip_requests_total\{route="\/v1\/vouchers\/\{code\}",method="GET",status="500"\} 1$/m);
}, { timeout: 400_000 });

/** Sends a validation of a page whose body begins to arrive after a while. */
function answerToSlowBody(url, ms) {
  const lines = Object.entries({ host: "scrip", connection: "close", "content-length": BODY.length, ...pageHeaders });
  const head = `POST /client/v1/validations HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;
  return send(url, head, 60_000, { bytes: BODY, ms });
}
