// Callers that request large files and read nothing: their answers are not held in memory.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { boot } from "./harness.mjs";
import { waitUntil } from "../wait.mjs";

const ROUNDS = 3;
const CONNECTIONS = 4;
const REQUESTS = 50;
/** Each unread answer is a file of 2 MB: held in memory, they would be more than ten times as much. */
const GROWTH_MB = 100;
let service;

before(async () => {
  service = await boot({ bare: false });
});
after(() => service.stop());

/** Opens a connection that sends the same request several times and reads nothing. */
function openSilent(path, count) {
  const connection = connect(Number(new URL(service.url).port), "127.0.0.1");
  connection.on("error", () => {});
  connection.pause();
  connection.write(`GET ${path} HTTP/1.1\r\nHost: shop\r\n\r\n`.repeat(count));
  return connection;
}

const megabytes = () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, "utf8"))[1]) / 1_000;

test("unread answers are not held in memory, while the connections are open or when they end", async () => {
  assert.equal((await fetch(`${service.url}/openapi.json`)).status, 200);
  const first = megabytes();
  for (let round = 0; round < ROUNDS; round += 1) {
    const connections = Array.from({ length: CONNECTIONS }, () => openSilent("/openapi.json", REQUESTS));
    await sleep(1_000);
    assert.ok(megabytes() - first < GROWTH_MB, `${megabytes()} MB after ${first}`);
    connections.forEach((connection) => connection.destroy());
  }
  await sleep(500);
  assert.ok(megabytes() - first < GROWTH_MB, `${megabytes()} MB after ${first}`);
  assert.equal((await fetch(`${service.url}/health`)).status, 200);
});

test("requests sent at once over one connection are answered in their order", async () => {
  const connection = connect(Number(new URL(service.url).port), "127.0.0.1");
  const paths = ["/openapi.json", "/health/live", "/v1/none", "/openapi.json", "/health/live"];
  connection.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: shop\r\n\r\n`).join(""));
  let text = "";
  connection.on("data", (bytes) => (text += bytes.toString("latin1")));
  const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => status);
  await waitUntil(() => statuses().length >= paths.length, () => `of ${paths.length} answers there are ${statuses()}`);
  connection.destroy();
  assert.deepEqual(statuses(), ["200", "200", "404", "200", "200"]);
});
