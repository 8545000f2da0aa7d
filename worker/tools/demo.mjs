// Decides what the demo's pages are answered on a local start in the place of a shop's own server: a token for whoever is typed there,
// and the calls of `www-demo/calls.js` with the server's keys. It is of the development project alone, whose keys are public anyway;
// a shop does both on a server of its own, for the customer who has logged in.
import { methodsOf } from "../../www-demo/calls.js";
import { serverHeaders } from "./setup.mjs";

const TOKEN = "/demo/customer-token";
/** What follows it is the target of a call. */
const SHOP = "/demo/shop";
const BODY_BYTES_MAX = 10_000;
const SENT_ON = ["idempotency-key"];

/** Whether a request is for this file, and not for the service. */
export const isForDemo = (target) => target === TOKEN || target.startsWith(`${SHOP}/`);

/** Answers a page from the service at `url`. */
export async function answerDemo(url, request, reply) {
  const [status, body, headers] = await (request.url === TOKEN ? makeToken(url, request) : forward(url, request)).catch((error) => {
    if (error instanceof Refusal) return [error.status, told(error.status, error.message), error.headers];
    throw error;
  });
  reply.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers });
  reply.end(body);
}

/** `{ "source_id" }` in, what `POST /v1/customer-tokens` says out. */
async function makeToken(url, request) {
  if (request.method !== "POST") throw new Refusal(405, "a token is made by POST", { allow: "POST" });
  const sent = await readJson(request);
  const customer = { source_id: sent?.source_id };
  if (typeof customer.source_id !== "string") throw new Refusal(400, "the body must be JSON with the text `source_id`");
  return ask(`${url}/v1/customer-tokens`, { method: "POST", headers: serverHeaders, body: JSON.stringify({ customer }) });
}

/** A call of the list with the server's keys; the page's own headers stay behind. */
async function forward(url, request) {
  const target = request.url.slice(SHOP.length);
  const methods = methodsOf(target);
  if (methods.length === 0) throw new Refusal(404, "the demo's pages make no such call; www-demo/calls.js has the list");
  if (!methods.includes(request.method)) throw new Refusal(405, `this call is made by ${methods.join(" or ")}`, { allow: methods.join(", ") });
  const body = request.method === "GET" ? undefined : await readJson(request);
  const headers = { ...serverHeaders };
  for (const name of SENT_ON) if (request.headers[name] !== undefined) headers[name] = request.headers[name];
  return ask(url + target, { method: request.method, headers, body: body && JSON.stringify(body) });
}

async function ask(target, options) {
  const answer = await fetch(target, { ...options, redirect: "manual" }).catch(() => {
    throw new Refusal(503, "the service is being started again");
  });
  return [answer.status, await answer.text()];
}

/** The object in the body, or nothing when there is none. Whoever sends JSON across origins has to ask first, and is not answered. */
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
  const value = parsed(Buffer.concat(chunks).toString());
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw new Refusal(400, "the body must be a JSON object");
  return value;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "the body must be JSON");
  }
}

/** What is not answered, with its reason. */
class Refusal extends Error {
  constructor(status, details, headers = {}) {
    super(details);
    Object.assign(this, { status, headers });
  }
}

function told(code, details) {
  const messages = { 404: "Not Found", 405: "Method Not Allowed", 413: "Payload Too Large", 415: "Unsupported Media Type", 503: "Service unavailable" };
  return JSON.stringify({ code, message: messages[code] ?? "Bad Request", details });
}
