// Tests requests that end before any route: malformed paths and hosts. None of them is an error of the service or wakes the operator. The
// log does not contain their texts, and has only a few lines of them.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { LineFilter } from "../../worker/tools/lines.mjs";
import { send } from "./raw_socket.mjs";
import { boot } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("malformed requests");
let service;

before(async () => {
  service = await boot({ bare: false });
});
after(() => service.stop());

const get = (path, host = "Host: scrip", version = "1.1") => `GET ${path} HTTP/${version}\r\n${host}${host === "" ? "" : "\r\n"}Connection: close\r\n\r\n`;

/** Paths, and the status of each. */
const PATHS = {
  "/%zz": 404,
  "/%": 404,
  "/docs/%zz": 404,
  "/index.html%": 404,
  "/%ff.html": 404,
  "/%c0%af": 404,
  "/a%00.html": 404,
  "/a%0d%0ab.html": 404,
  "/%2e%2e/%2e%2e/etc/passwd": 404,
  "/pkg%2fLICENSE": 404,
  "/pkg%5cLICENSE": 404,
  "/pkg\\LICENSE": 404,
  "//etc/passwd": 404,
  "/pkg//LICENSE": 404,
  "/pkg": 404,
  "/v1/%zz": 404,
  "/v1/vouchers/%zz": 401,
  "/V1/vouchers": 404,
  "/v1//vouchers": 404,
  "/%2fv1/vouchers": 404,
  "/v1/%76ouchers": 404,
  "/v1/vouchers;x=1": 404,
  "/v1/vouchers%3flimit=1": 404,
  "/v1/..%2fmanagement/v1/projects": 404,
  "/client/v1/%2e%2e/%2e%2e/v1/vouchers": 404,
  "/client/v1/../../v1/vouchers": 401,
  "/.env": 404,
  "/worker/build/index.mjs": 404,
  "http://other.example/v1/vouchers": 400,
  "http://other.example@scrip/v1/vouchers": 400,
  "/index.html?x=%zz": 200,
  "/pkg/LICENSE": 200,
  [`/${"a".repeat(300)}`]: 404,
  [`/${"a".repeat(300)}.html`]: 404,
  [`/${"%C3%A4".repeat(130)}.html`]: 404,
  [`/${"a/".repeat(3_000)}b.html`]: 404,
  [`/${"a".repeat(60_000)}`]: 404,
};

/** Hosts, as lines of the head, and the status of `/health/live` with each. */
const HOSTS = {
  "Host: a b": 400,
  "Host: a,b": 400,
  "Host: user@host": 400,
  "Host: a?b": 400,
  "Host: a/b": 400,
  "Host: a#b": 400,
  "Host: a%zz": 400,
  "Host: <a>": 400,
  "Host: *": 400,
  "Host: a|b": 400,
  "Host: a^b": 400,
  "Host: [::1": 400,
  "Host: a:port": 400,
  "Host: \xe4": 400,
  "Host:": 400,
  "Host: a\r\nHost: b": 400,
  "Host: a\r\nHost: a": 400,
  [`Host: ${"a".repeat(5_000)}`]: 400,
  "": 400,
  "Host: a_b.example:8787": 200,
  "Host: [::1]:8787": 200,
  "Host: 127.0.0.1": 200,
};

check("no malformed path is an error of the service, and the log has nothing of it", async () => {
  const before = (await readFile(service.log)).length;
  for (const [path, status] of Object.entries(PATHS)) {
    const { statuses, text } = await send(service.url, get(path));
    assert.deepEqual(statuses, [status], `${path.slice(0, 80)}: ${text.slice(0, 300)}`);
  }
  await sleep(100);
  assert.equal((await readFile(service.log)).subarray(before).toString(), "");
}, { counts: Object.keys(PATHS).length });

check("a malformed Host, or two of them, get 400, and the log has nothing of them", async () => {
  const before = (await readFile(service.log)).length;
  for (const [host, status] of Object.entries(HOSTS)) {
    const { statuses, text } = await send(service.url, get("/health/live", host));
    assert.deepEqual(statuses, [status], `${host.slice(0, 80)}: ${text.slice(0, 300)}`);
  }
  await sleep(100);
  assert.equal((await readFile(service.log)).subarray(before).toString(), "");
}, { counts: Object.keys(HOSTS).length });

/** Heads that pretend to be admitted, or that two readers would read in two ways. */
const PRETENDED = {
  "scrip-caller: {\"class\":\"Server\",\"project\":\"proj_dev\",\"key_id\":\"dev-app\"}": 401,
  "scrip-part: 1": 401,
  "X_App_Id: dev-app\r\nX_App_Token: dev-token": 401,
  "X-App-Id: dev-app\r\nX-App-Token: dev-token\r\nX-App-Token: wrong": 401,
  "X-App-Id: dev-app\r\nX-App-Token: dev-token\r\nX-App-Id: dev-app\r\nX-App-Token: dev-token": 401,
  "X-App-Id: dev-app\r\n dev\r\nX-App-Token: dev-token": 400,
  "X-App-Id: dev-app\r\nX-App-Token: dev-token": 200,
};

check("no head pretends to be admitted, or has two readings", async () => {
  for (const [head, status] of Object.entries(PRETENDED)) {
    const { statuses, text } = await send(service.url, get("/v1/vouchers", `Host: scrip\r\n${head}`));
    assert.deepEqual(statuses, [status], `${head}: ${text.slice(0, 300)}`);
  }
}, { counts: Object.keys(PRETENDED).length });

check("/health is served in HTTP/1.0 without a Host, and no other path is", async () => {
  for (const [path, status] of [["/health", 200], ["/health/live", 200], ["/v1/vouchers", 400], ["/index.html", 400]]) {
    const { statuses, text } = await send(service.url, get(path, "", "1.0"));
    assert.deepEqual(statuses, [status], `${path}: ${text}`);
  }
});

check("free lines of workerd are short, have nothing of the request, and are few each second", async () => {
  const written = [];
  const lines = new LineFilter((line) => written.push(line));
  const own = '{"at":"2026-03-01T00:00:00.000Z","level":"error","event":"request_failed"}';
  lines.take(own);
  lines.take("stack: 7f00 7f01");
  lines.take("workerd/server/server.c++:5492: error: Uncaught exception: kj/compat/url.c++:453: failed: invalid hostname; host = secret b");
  lines.take(`workerd/jsg/util.c++:405: error: cannot read /secret/file; ${"x".repeat(9_000)}`);
  assert.deepEqual(written.slice(0, 2), [own, "workerd/server/server.c++:5492: error: Uncaught exception: kj/compat/url.c++:453: failed: invalid hostname; host = ..."]);
  assert.equal(written[2].length, 300);
  assert.doesNotMatch(written.join("\n"), /secret|stack/);
  for (let count = 0; count < 10_000; count += 1) lines.take(`error: ${count}`);
  lines.end();
  const free = written.filter((line) => line.startsWith("error: ")).length;
  assert.ok(free <= 60, `${free} lines`);
  const left = written.filter((line) => line.includes("lines_left_out")).reduce((sum, line) => sum + JSON.parse(line).lines, 0);
  assert.equal(free + left, 10_000);
});
