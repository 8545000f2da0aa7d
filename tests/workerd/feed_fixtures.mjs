// Opens feeds for tests, and changes the configuration of workerd so that a test can publish to and inspect the feed's object.
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { credentials } from "../../worker/tools/setup.mjs";

export const PATH = "/client/v1/bundle/feed";
export const ORIGIN = "http://localhost:3000";
export const PROTOCOLS = ["scrip", credentials.client.id, credentials.client.token];

/**
 * Opens a feed. Returns its socket with the `messages` it got and the `closed` code, or the refusal: `{ status, headers, body }`.
 */
export async function openFeed(url, { protocols = PROTOCOLS, headers = {}, origin = ORIGIN, path = PATH } = {}) {
  const socket = new WebSocket(`${url.replace("http", "ws")}${path}`, protocols, { headers: origin ? { origin, ...headers } : headers });
  socket.messages = [];
  socket.on("message", (data, isBinary) => socket.messages.push(isBinary ? data : String(data)));
  socket.on("error", () => {});
  socket.on("close", (code, reason) => Object.assign(socket, { closed: code, reason: String(reason) }));
  const refused = once(socket, "unexpected-response").then(async ([, reply]) => {
    const body = Buffer.concat(await reply.toArray()).toString();
    return { status: reply.statusCode, headers: reply.headers, body: body.startsWith("{") ? JSON.parse(body) : body };
  });
  // What a caller does not wait for must not count as a failure of the test.
  refused.catch(() => {});
  return Promise.race([once(socket, "open").then(() => socket), refused, once(socket, "close").then(([code]) => ({ status: 0, code }))]);
}

/** Waits until a condition is true. */
export async function until(condition, what, ms = 10_000) {
  for (const latest = Date.now() + ms; !(await condition()); await sleep(20)) {
    if (Date.now() > latest) throw new Error(`within ${ms} ms: ${what}`);
  }
}

/** Makes the text of a head; only its revision is right. */
export function headOf(epoch, rev) {
  const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `${part({ alg: "EdDSA" })}.${part({ iss: "proj_dev", epoch, rev })}.${part("signature")}`;
}

/** A module before the Worker's own: it publishes what a test sends, and returns the number of the feed object's instance. */
const PROBE = `
import worker, { Feed as Built, Directory, Gate, Project } from "./index.mjs";
export { Directory, Gate, Project };
export class Feed extends Built {
  #life = crypto.randomUUID();
  async look() {
    const alarm = await this.ctx.storage.getAlarm();
    return { life: this.#life, connections: this.ctx.getWebSockets().length, head: this.ctx.storage.kv.get("head") ?? null, alarm };
  }
  age(ms) {
    for (const one of this.ctx.getWebSockets()) one.serializeAttachment({ ...one.deserializeAttachment(), end: Date.now() - ms });
  }
}
export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    if (!pathname.startsWith("/probe/")) return worker.fetch(request, env, ctx);
    const feed = env.FEED.get(env.FEED.idFromName(searchParams.get("project") ?? "proj_dev"));
    if (pathname === "/probe/publish") await feed.publish(await request.text());
    if (pathname === "/probe/age") await feed.age(1);
    return Response.json(await feed.look());
  },
};
`;

/** Changes the configuration so that the probe runs in front of the Worker. */
export const withProbe = (config) =>
  config.replace('(name = "index.mjs", esModule', `(name = "probe.mjs", esModule = ${JSON.stringify(PROBE)}),\n    (name = "index.mjs", esModule`);
