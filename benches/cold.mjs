// Measures the first answers of the built Worker: of a process that has just been started, and of an object that had left memory.
// Everything is on 127.0.0.1 and ends by itself.
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../tests/workerd/harness.mjs";
import { builtFolder } from "../worker/tools/build.mjs";
import { serveFlags, writeConfig } from "../worker/tools/config.mjs";
import { developmentText, serverHeaders } from "../worker/tools/setup.mjs";
import { launch } from "../worker/tools/workerd.mjs";

/** workerd drops an object after ten seconds without a request. */
const LEFT_MS = 12_000;
const START_MS = 20_000;
const CODE = "COLD";

/** Returns medians in milliseconds: until a new process listens, its first answer, its second, and the first of an object that had left. */
export async function measureCold({ rounds }) {
  const data = mkdtempSync(join(tmpdir(), "scrip-cold-"));
  try {
    await lived(data, async (sendOne) => {
      const voucher = { type: "GIFT_VOUCHER", gift: { amount: 10_000 } };
      const { status, text } = await sendOne("POST", `/v1/vouchers/${CODE}`, JSON.stringify(voucher));
      if (status !== 200) throw new Error(`no voucher to read: ${status} ${text}`);
    });
    const measured = [];
    for (let round = 0; round < rounds; round++) {
      measured.push(await lived(data, observe));
      console.log(`cold, round ${round + 1} of ${rounds}`);
    }
    const median = (name) => measured.map((one) => one[name]).sort((a, b) => a - b)[measured.length >> 1];
    return { rounds, ...Object.fromEntries(["listens", "first", "second", "returned"].map((name) => [name, median(name)])) };
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

async function observe(sendOne, listens) {
  const read = async () => {
    const { status, text, ms } = await sendOne("GET", `/v1/vouchers/${CODE}`);
    if (status !== 200) throw new Error(`the voucher is not read: ${status} ${text}`);
    return ms;
  };
  const [first, second] = [await read(), await read()];
  await sleep(LEFT_MS);
  return { listens, first, second, returned: await read() };
}

/** Starts a process over the data, and ends it after `use`, which receives a caller and the time until the process listened. */
async function lived(data, use) {
  const built = builtFolder();
  const port = await freePort();
  const flags = serveFlags({ address: `127.0.0.1:${port}`, data, assets: join(built, "assets") });
  const config = writeConfig(built);
  const startedAt = performance.now();
  const child = launch({ flags, config, variables: { SCRIP_SETUP: developmentText() }, onLine: () => {} });
  const agent = new Agent({ keepAlive: true });
  try {
    while (!(await listens(port))) {
      if (child.exitCode !== null || performance.now() - startedAt > START_MS) throw new Error("workerd does not listen");
      await sleep(2);
    }
    return await use((method, path, body) => send({ agent, port, method, path, body }), performance.now() - startedAt);
  } finally {
    agent.destroy();
    child.kill("SIGKILL");
    await child.ended;
  }
}

async function listens(port) {
  const socket = connect(port, "127.0.0.1");
  const is = await once(socket, "connect").then(() => true, () => false);
  socket.destroy();
  return is;
}

/** Sends one request over an open connection; returns its answer and duration. */
async function send({ agent, port, method, path, body }) {
  const startedAt = performance.now();
  const sent = request({ agent, port, host: "127.0.0.1", method, path, headers: { ...serverHeaders, "content-type": "application/json" } });
  sent.end(body);
  const [reply] = await once(sent, "response");
  let text = "";
  for await (const chunk of reply) text += chunk;
  return { status: reply.statusCode, text, ms: performance.now() - startedAt };
}
