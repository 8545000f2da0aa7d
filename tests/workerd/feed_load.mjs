// Opens a thousand feeds through the proxy of `npm start` and prints what that costs, as JSON. `feed.test.mjs` runs it with 4,096 open
// files, of which the feeds, the proxy and the callers need 3,000.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { credentials } from "../../worker/tools/setup.mjs";
import { ORIGIN, openFeed, until } from "./feed_fixtures.mjs";
import { boot, caller } from "./harness.mjs";

const FEEDS = 1_000;
const TOKEN = "only-for-the-operator";
const IDLE_MS = 5_000;

const service = await boot({ bare: false, port: Number(process.argv[2]), metricsToken: TOKEN });
const client = { "x-client-application-id": credentials.client.id, "x-client-token": credentials.client.token, origin: ORIGIN };
const call = caller(service.url);

/** Requests the head until it is built, and is another one than `last`. */
async function getHead(last) {
  for (let left = 400; left > 0; left -= 1) {
    const reply = await fetch(`${service.url}/client/v1/bundle`, { headers: client });
    const head = await reply.text();
    if (reply.status === 200 && head !== last) return head;
    await sleep(50);
  }
  throw new Error("no newer head came within 20 s");
}

/** Returns the counts of requests, by their lines of `/metrics`. */
async function countRequests() {
  const text = await (await fetch(`${service.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })).text();
  return new Map(text.split("\n").filter((line) => /^scrip_requests_total\{/.test(line)).map((line) => line.split(" ")));
}

/** Returns the processor time of workerd in milliseconds; undefined where the system does not report it. */
function cpuMs() {
  try {
    const fields = readFileSync(`/proc/${service.pid}/stat`, "utf8").split(") ")[1].split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

try {
  const first = await getHead();
  const feeds = [];
  const began = performance.now();
  for (let opened = 0; opened < FEEDS; opened += 50) feeds.push(...await Promise.all(Array.from({ length: 50 }, () => openFeed(service.url))));
  const openedMs = Math.round(performance.now() - began);
  const open = feeds.filter(({ protocol }) => protocol === "scrip");
  await until(() => open.every(({ messages }) => messages.length === 1), "all have the present head");
  const refused = await openFeed(service.url);
  const [before, cpuBefore] = [await countRequests(), cpuMs()];
  await sleep(IDLE_MS);
  const cpuAfter = cpuMs();
  const now = await countRequests();
  const ownCalls = /route="(?:\/metrics|none)"/;
  const requestsWhileIdle = [...now].filter(([line, count]) => !ownCalls.test(line) && before.get(line) !== count);
  const stillOpen = open.filter(({ closed }) => closed === undefined).length;
  await call("POST", "/v1/products", { name: "A new product", price: 100 });
  const published = performance.now();
  const next = await getHead(first);
  await until(() => open.every(({ messages }) => messages.at(-1) === next), "all have the next head");
  const sentMs = Math.round(performance.now() - published);
  const plainCall = (await fetch(`${service.url}/client/v1/bundle`, { headers: client })).status;
  open[0].close();
  await until(() => open[0].closed !== undefined, "one has left");
  await sleep(300);
  const again = await openFeed(service.url);
  console.log(JSON.stringify({
    files: Number(execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" })), opened: open.length, openedMs,
    beyond: { status: refused.status, retryAfter: refused.headers?.["retry-after"], details: refused.body?.details }, requestsWhileIdle,
    cpuMsWhileIdle: cpuAfter - cpuBefore, idleMs: IDLE_MS, stillOpen, gotHead: open.filter(({ messages }) => messages.at(-1) === next).length, sentMs,
    plainCall, afterOneLeft: again.protocol,
  }));
} finally {
  await service.stop();
}
process.exit(0);
