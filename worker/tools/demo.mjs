// Answers the demo's pages on a local start in the place of a shop's own server. It makes a token for any name that is typed there, and
// forwards the calls of `www-demo/server_calls.js` with the server's keys. It serves the development project only, whose keys are public. A
// shop does both on its own server, for the customer who has logged in.
import { methodsOf } from "../../www-demo/server_calls.js";
import { serverHeaders } from "./setup.mjs";

const TOKEN = "/demo/customer-token";
/** The path prefix of a forwarded call; the target of the call follows it. */
const SERVER_PROXY = "/demo/shop";
const BODY_BYTES_MAX = 10_000;
const FORWARDED_HEADERS = ["idempotency-key"];

/** Returns whether a request is for this module, and not for the service. */
export const isForDemo = (target) => target === TOKEN || target.startsWith(`${SERVER_PROXY}/`);

/** Answers a page from the service at `url`. */
export async function answerDemo(url, request, reply) {
  const [status, body, headers] = await (request.url === TOKEN ? makeToken(url, request) : forward(url, request)).catch((error) => {
    if (error instanceof Refusal) return [error.status, errorBody(error.status, error.message), error.headers];
    throw error;
  });
  reply.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers });
  reply.end(body);
}

/** Reads `{ "source_id" }` and returns the answer of `POST /v1/customer-tokens`. */
async function makeToken(url, request) {
  if (request.method !== "POST") throw new Refusal(405, "a token is made by POST", { allow: "POST" });
  const body = await readJson(request);
  const customer = { source_id: body?.source_id };
  if (typeof customer.source_id !== "string") throw new Refusal(400, "the body must be JSON with the text `source_id`");
  return callService(`${url}/v1/customer-tokens`, { method: "POST", headers: serverHeaders, body: JSON.stringify({ customer }) });
}

/** Forwards a call of the list with the server's keys, without the page's own headers. */
async function forward(url, request) {
  const target = request.url.slice(SERVER_PROXY.length);
  const methods = methodsOf(target);
  if (methods.length === 0) throw new Refusal(404, "the demo's pages make no such call; www-demo/server_calls.js has the list");
  if (!methods.includes(request.method)) throw new Refusal(405, `this call is made by ${methods.join(" or ")}`, { allow: methods.join(", ") });
  const body = request.method === "GET" ? undefined : await readJson(request);
  const headers = { ...serverHeaders };
  for (const name of FORWARDED_HEADERS) if (request.headers[name] !== undefined) headers[name] = request.headers[name];
  return callService(url + target, { method: request.method, headers, body: body && JSON.stringify(body) });
}

async function callService(target, options) {
  const answer = await fetch(target, { ...options, redirect: "manual" }).catch(() => {
    throw new Refusal(503, "the service is being started again");
  });
  return [answer.status, await answer.text()];
}

/**
 * Returns the object in the body, or undefined for an empty one. A page of another origin needs a preflight to send JSON, and gets no
 * answer to it.
 */
async function readJson(request) {
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/json\s*(;|$)/i.test(type)) throw new Refusal(415, "the content-type must be application/json");
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new Refusal(413, `the body has at most ${BODY_BYTES_MAX} bytes`, { connection: "close" });
    chunks.push(chunk);
  }
  if (length === 0) return undefined;
  const value = parse(Buffer.concat(chunks).toString());
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Refusal(400, "the body must be a JSON object");
  return value;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "the body must be JSON");
  }
}

/** A request that is refused, with the reason. */
class Refusal extends Error {
  constructor(status, details, headers = {}) {
    super(details);
    Object.assign(this, { status, headers });
  }
}

function errorBody(code, details) {
  const messages = { 404: "Not Found", 405: "Method Not Allowed", 413: "Payload Too Large", 415: "Unsupported Media Type", 503: "Service unavailable" };
  return JSON.stringify({ code, message: messages[code] ?? "Bad Request", details });
}
