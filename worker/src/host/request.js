// Decides how a request and an answer of the Workers runtime look to Rust: lines of text and one array of bytes.
// It must not know routes or credentials.

/** `name`, newline, `value`, newline, for every header; neither part can hold a newline. */
export function headerLines(headers) {
  let lines = "";
  for (const [name, value] of headers) lines += `${name}\n${value}\n`;
  return lines;
}

/**
 * Whether Cloudflare's network hands the request over: then its headers can be believed. It names the data centre, beside the
 * headers, where no caller can write. Plain workerd fills `cf` as well, but knows no more there than who is at the other end.
 */
export function isOnCloudflare(request) {
  return typeof request.cf?.colo === "string";
}

/** Resolves after some milliseconds. */
export function pause(millis) {
  return new Promise((done) => setTimeout(done, millis));
}

// A caller that is refused while it still sends sees a broken connection in place of the answer; so a body that is too
// long is read on and thrown away, up to this many times the limit.
const PATIENCE = 4;

/** The body, or `null` when it is longer than `most` bytes. No more than `most` is ever kept, whatever the head promised. */
export async function readBody(request, most) {
  if (request.body === null) return new Uint8Array(0);
  const promised = Number(request.headers.get("content-length") ?? NaN);
  if (promised <= most) return new Uint8Array(await request.arrayBuffer());
  if (promised > most * PATIENCE) return null;
  let chunks = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.byteLength;
    if (length <= most) chunks.push(chunk);
    else chunks = [];
    if (length > most * PATIENCE) return null;
  }
  return length > most ? null : joined(chunks, length);
}

function joined(chunks, length) {
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

/** An answer of the runtime from a status, header lines and bytes. */
export function respond(status, lines, bytes) {
  const parts = lines.split("\n");
  const headers = [];
  for (let at = 0; at + 1 < parts.length; at += 2) headers.push([parts[at], parts[at + 1]]);
  const bare = status === 204 || status === 304;
  return new Response(bare ? null : bytes, { status, headers });
}
