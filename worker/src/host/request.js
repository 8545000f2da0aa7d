// Converts requests and answers of the Workers runtime for Rust: lines of text and one array of bytes.

/** Returns `name`, newline, `value`, newline, for every header; neither part can contain a newline. */
export function headerLines(headers) {
  let lines = "";
  // The runtime takes twice as long for its iterator.
  headers.forEach((value, name) => {
    lines += `${name}\n${value}\n`;
  });
  return lines;
}

/**
 * Returns whether Cloudflare's network delivered the request, so that its headers are trustworthy. The network names the data centre
 * outside of the headers, where no caller can write. Plain workerd fills `cf` as well, but knows only the peer there.
 */
export function isOnCloudflare(request) {
  return typeof request.cf?.colo === "string";
}

/** Resolves after some milliseconds. */
export function pause(millis) {
  return new Promise((done) => setTimeout(done, millis));
}

/** Returns the value of a name in KV, as text or as bytes, or null without one. It fails when KV fails or does not answer in time. */
export async function readKv(kv, name, type, millis) {
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Error(`KV did not answer within ${millis} ms`)), millis);
  });
  try {
    const value = await Promise.race([kv.get(name, type), late]);
    return type === "arrayBuffer" && value !== null ? new Uint8Array(value) : value;
  } finally {
    clearTimeout(timer);
  }
}

// A caller that is refused while it still sends gets a broken connection instead of the answer. So a body that is too long is read and
// discarded, up to this many times the limit.
const PATIENCE = 4;

/** The time limit for the rest of a body in milliseconds; the shell ends the request a little later. */
export const BODY_MS = 20_000;

/** Returns the body, or the reason why there is none: `too long`, `late`, `broken`. At most `most` bytes are held in memory. */
export function readBody(request, most) {
  return new Promise((done) => {
    const timer = setTimeout(done, BODY_MS, "late");
    const end = (body) => {
      clearTimeout(timer);
      done(body);
    };
    collect(request, most).then(end, () => end("broken"));
  });
}

async function collect(request, most) {
  const declared = Number(request.headers.get("content-length") ?? NaN);
  if (declared <= most) return new Uint8Array(await request.arrayBuffer());
  if (request.body === null) return new Uint8Array(0);
  if (declared > most * PATIENCE) return "too long";
  let chunks = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.byteLength;
    if (length <= most) chunks.push(chunk);
    else chunks = [];
    if (length > most * PATIENCE) return "too long";
  }
  return length > most ? "too long" : join(chunks, length);
}

function join(chunks, length) {
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.byteLength;
  }
  return body;
}

/**
 * Returns whether the folder of the objects is there. It checks for that of the directory, which has just answered. Nothing is written: any
 * caller may ask.
 */
export async function hasFolder(disk) {
  const reply = await disk.fetch("http://disk/scrip-directory", { method: "HEAD" });
  return reply.ok;
}

/** Makes an answer of the runtime from a status, header lines and bytes. */
export function respond(status, lines, bytes) {
  const isEmpty = status === 204 || status === 304;
  const response = new Response(isEmpty ? null : bytes, { status });
  // The runtime takes twice as long to copy headers that were made before the response, and longer for a list of pairs.
  const { headers } = response;
  for (const [name, value] of headersOf(lines)) headers.append(name, value);
  headers.append("date", dateText());
  return response;
}

let dateSecond;
let dateOfSecond;

/** Returns the time for the header of the answer: a caller's clock may be wrong, and not every runtime writes it. */
function dateText() {
  const second = Math.floor(Date.now() / 1_000);
  if (second !== dateSecond) [dateSecond, dateOfSecond] = [second, new Date(second * 1_000).toUTCString()];
  return dateOfSecond;
}

function headersOf(lines) {
  const parts = lines.split("\n");
  const headers = [];
  for (let at = 0; at + 1 < parts.length; at += 2) headers.push([parts[at], parts[at + 1]]);
  return headers;
}

/** Opens a connection to a feed, which closes it after `until`. Returns the feed's response. */
export function openFeed(feed, key, until, protocol) {
  const headers = new Headers({ upgrade: "websocket", "scrip-key": key });
  if (until !== undefined) headers.set("scrip-until", String(until));
  if (protocol !== undefined) headers.set("sec-websocket-protocol", protocol);
  return feed.fetch("http://feed/", { headers });
}

/**
 * Makes an answer that arrives in parts. The first is present; the object gives each further part only when the one before has been read. A
 * part that fails breaks the answer off, so that no caller takes an incomplete file for a complete one.
 */
export function respondInParts([status, lines, first], next, stub, target, requestLines) {
  let [part, nextPart] = [first, next];
  const body = new ReadableStream({
    async pull(controller) {
      if (part === undefined) {
        const [partStatus, partLines, bytes] = await stub.serve("GET", target, `${requestLines}scrip-part\n${nextPart}\n`, undefined);
        if (partStatus !== 200) throw new Error(`a part of the answer is gone: ${partStatus}`);
        [part, nextPart] = [bytes, headersOf(partLines).find(([name]) => name === "scrip-next")?.[1]];
      }
      if (part.byteLength > 0) controller.enqueue(part);
      part = undefined;
      if (nextPart === undefined) controller.close();
    },
  }, { highWaterMark: 0 });
  // A stream that fails ends like a complete one; an answer shorter than its length does not.
  const headers = [...headersOf(lines), ["date", dateText()]];
  const length = Number(headers.find(([name]) => name === "content-length")?.[1]);
  const sized = new FixedLengthStream(length);
  body.pipeTo(sized.writable).catch((error) => console.error(`an answer broke off: ${error}`));
  return new Response(sized.readable, { status, headers });
}
