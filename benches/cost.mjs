// Counts what requests cost on plain workerd: rows, statements and calls of wasm, which are exact, and the bytes that a redemption writes to
// the disk.
import { Agent, request } from "node:http";
import { bootCounted } from "../tests/workerd/counting/counted_worker.mjs";
import { countRequests } from "../tests/workerd/counting/counts.mjs";
import { boot } from "../tests/workerd/harness.mjs";
import { serverHeaders } from "../worker/tools/setup.mjs";
import { requests } from "./edge.mjs";
import { writtenBytes } from "./processes.mjs";

/** Redemptions whose bytes are measured. */
const REDEMPTIONS = 1_000;

export async function measureCost() {
  const worker = await bootCounted();
  try {
    const rows = (await countRequests(worker)).map(({ by_statement, ...row }) => row);
    return { rows, disk_bytes: await diskBytes() };
  } finally {
    await worker.stop();
  }
}

/** Returns the bytes that a redemption writes to the disk; undefined where the system does not count them. */
async function diskBytes() {
  const worker = await boot({ testHooks: false });
  try {
    const [redemption] = await requests(worker.url);
    const sender = oneConnection();
    const send = () => sender.send(redemption.url, JSON.stringify(redemption.body));
    await send();
    const before = writtenBytes(worker.pid);
    if (before === undefined) return undefined;
    const answeredBefore = sender.answered();
    for (let number = 0; number < REDEMPTIONS; number += 1) await send();
    // The process counts what it writes to the connection, too.
    return (writtenBytes(worker.pid) - before - (sender.answered() - answeredBefore)) / REDEMPTIONS;
  } finally {
    await worker.stop();
  }
}

/** Sends requests over one connection, whose bytes it counts. */
function oneConnection() {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sockets = new Set();
  return {
    answered: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0),
    send: (url, body) => new Promise((done, failed) => {
      const sent = request(url, { method: "POST", headers: serverHeaders, agent }, (reply) => {
        reply.resume().on("end", () => (reply.statusCode === 200 ? done() : failed(new Error(`the redemption is answered ${reply.statusCode}`))));
      });
      sent.on("socket", (socket) => sockets.add(socket)).on("error", failed).end(body);
    }),
  };
}
