// Makes the calls that only a shop's own server may make: through the local proxy, by the calls of the list, each recorded as curl.
import { CALLS, targetOf } from "./server_calls.js";
import { SERVICE } from "./config.js";
import { Failure, once, patience, readable } from "./service.js";

const listeners = [];

/** Calls `listener` with every call as it is answered: `{ method, target, body, status }`; the status is undefined without an answer. */
export function onCall(listener) {
  listeners.push(listener);
}

/** Makes a call of the list; returns the answer of the service. */
export async function call(name, names = {}, body = undefined) {
  const { method } = CALLS[name];
  const target = targetOf(CALLS[name], names);
  const text = body && JSON.stringify(body);
  if (method === "GET") return send({ method, target });
  return once(`${method} ${target} ${text}`, (key) => send({ method, target, text, key }));
}

async function send({ method, target, text, key }) {
  const headers = { "Content-Type": "application/json", ...(key && { "Idempotency-Key": key }) };
  const note = (status) => listeners.forEach((listener) => listener({ method, target, body: text, status }));
  const response = await fetch(`${SERVICE}/demo/shop${target}`, { method, headers, body: text, signal: patience() }).catch(() => {
    note(undefined);
    throw new Failure({});
  });
  note(response.status);
  const answer = readable(await response.arrayBuffer());
  if (!response.ok) throw new Failure({ status: response.status, body: answer });
  return answer;
}

/** Formats a call for a shell, with the keys in two variables. */
export function curl({ method, target, body }, origin) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const verb = method === "GET" ? "" : ` -X ${method}`;
  const parts = [`curl -sg${verb} ${quoted(origin + target)}`, '-H "X-App-Id: $SCRIP_ID" -H "X-App-Token: $SCRIP_TOKEN"'];
  if (body) parts.push(`-H 'Content-Type: application/json' -d ${quoted(body)}`);
  return parts.join(" \\\n  ");
}
