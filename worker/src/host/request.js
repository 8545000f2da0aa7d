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

// How long the rest of a body is waited for; the shell gives up on the whole request a little later.
const BODY_MS = 20_000;

/** The body, or in a word why there is none: `too long`, `late`, `broken`. No more than `most` bytes are ever kept. */
export async function readBody(request, most) {
  if (request.body === null) return new Uint8Array(0);
  let timer;
  const late = new Promise((done) => {
    timer = setTimeout(done, BODY_MS, "late");
  });
  try {
    return await Promise.race([collected(request, most), late]);
  } catch {
    return "broken";
  } finally {
    clearTimeout(timer);
  }
}

async function collected(request, most) {
  const promised = Number(request.headers.get("content-length") ?? NaN);
  if (promised <= most) return new Uint8Array(await request.arrayBuffer());
  if (promised > most * PATIENCE) return "too long";
  let chunks = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.byteLength;
    if (length <= most) chunks.push(chunk);
    else chunks = [];
    if (length > most * PATIENCE) return "too long";
  }
  return length > most ? "too long" : joined(chunks, length);
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

/** Whether the folder of the objects takes a new file; in the end one file of a few bytes is there. */
export async function takesWrites(disk) {
  const reply = await disk.fetch("http://disk/health", { method: "PUT", body: String(Date.now()) });
  return reply.ok;
}

/** An answer of the runtime from a status, header lines and bytes. */
export function respond(status, lines, bytes) {
  const bare = status === 204 || status === 304;
  return new Response(bare ? null : bytes, { status, headers: headersOf(lines) });
}

function headersOf(lines) {
  const parts = lines.split("\n");
  const headers = [];
  for (let at = 0; at + 1 < parts.length; at += 2) headers.push([parts[at], parts[at + 1]]);
  return headers;
}

/**
 * An answer that comes in parts: the first is there, the others its object gives one after the other, each only when the one before has
 * been read. A part that does not come breaks the answer off, so that nobody takes a piece of a file for the whole.
 */
export function respondInParts([status, lines, first], next, stub, target, asked) {
  let [part, wanted] = [first, next];
  const body = new ReadableStream({
    async pull(controller) {
      if (part === undefined) {
        const [found, told, bytes] = await stub.serve("GET", target, `${asked}scrip-part\n${wanted}\n`, undefined);
        if (found !== 200) throw new Error(`a part of the answer is gone: ${found}`);
        [part, wanted] = [bytes, headersOf(told).find(([name]) => name === "scrip-next")?.[1]];
      }
      if (part.byteLength > 0) controller.enqueue(part);
      part = undefined;
      if (wanted === undefined) controller.close();
    },
  }, { highWaterMark: 0 });
  // A stream that fails ends like one that is whole; what is shorter than its length does not.
  const headers = headersOf(lines);
  const length = Number(headers.find(([name]) => name === "content-length")?.[1]);
  const sized = new FixedLengthStream(length);
  body.pipeTo(sized.writable).catch((error) => console.error(`an answer broke off: ${error}`));
  return new Response(sized.readable, { status, headers });
}
