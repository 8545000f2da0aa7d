// Decides how the demo's page proves its customer on a local start: whoever is typed there gets a token, of the development project alone,
// whose keys are public anyway. A shop does this on a server of its own, for the customer who has logged in.
import { serverHeaders } from "./setup.mjs";

/** Where the page asks. */
export const PATH = "/demo/customer-token";
const BODY_BYTES_MAX = 2_000;

/** Answers the page: `{ "source_id" }` in, what `POST /v1/customer-tokens` says out. */
export async function answerDemo(url, request, reply) {
  const [status, body] = request.method === "POST" ? await makeToken(url, request) : [405, refusal(405, "a token is made by POST")];
  reply.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" });
  reply.end(body);
}

async function makeToken(url, request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) return [413, refusal(413, `the body has at most ${BODY_BYTES_MAX} bytes`)];
    chunks.push(chunk);
  }
  const customer = { source_id: sourceIdOf(Buffer.concat(chunks).toString()) };
  if (customer.source_id === undefined) return [400, refusal(400, "the body must be JSON with the text `source_id`")];
  const made = await fetch(`${url}/v1/customer-tokens`, { method: "POST", headers: serverHeaders, body: JSON.stringify({ customer }) });
  return [made.status, await made.text()];
}

function sourceIdOf(text) {
  try {
    const { source_id: sourceId } = JSON.parse(text);
    return typeof sourceId === "string" ? sourceId : undefined;
  } catch {
    return undefined;
  }
}

function refusal(code, details) {
  return JSON.stringify({ code, message: "Bad Request", details });
}
