// Decides that a page keeps deciding when the service does not answer well: the last good rules stay, and the reason is
// said. The server here is a bare HTTP server that can be made to fail in every way that matters.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before } from "node:test";
import { existsSync } from "node:fs";
import { build } from "../../pkg-template/build.mjs";
import { tally } from "../browser/tally.mjs";

const check = tally("packaging");
const pkg = new URL("../../pkg/", import.meta.url);
const key = { id: "dev-client", token: "dev-client-token" };
const RULES = { "\"one\"": "{\"complete\":true}", "\"two\"": "{\"complete\":false}" };

let scrip;
let server;
let base;
let reply;
let seen;

before(async () => {
  if (!existsSync(new URL("scrip.wasm", pkg))) await build();
  scrip = await import(new URL("node.js", pkg));
  server = createServer((request, response) => {
    seen = { url: request.url, headers: request.headers };
    reply(request, response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${server.address().port}`;
}, { timeout: 600_000 });

after(() => server.close().closeAllConnections());

const serving = (etag) => (request, response) => {
  if (request.headers["if-none-match"] === etag) return response.writeHead(304, { etag }).end();
  return response.writeHead(200, { etag }).end(RULES[etag]);
};

check("the first answer is prepared, the second is a 304 for the same rules, a new etag brings new rules", async () => {
  reply = serving("\"one\"");
  const first = await scrip.fetchBundle(`${base}/`, key);
  assert.equal(seen.url, "/client/v1/bundle");
  assert.equal(seen.headers["x-client-application-id"], "dev-client");
  assert.equal(seen.headers["x-client-token"], "dev-client-token");
  assert.equal(seen.headers["if-none-match"], undefined);
  assert.equal(first.fresh, true);
  assert.match(first.prepared.hash, /^[0-9a-f]{64}$/);
  const second = await scrip.fetchBundle(base, key, first);
  assert.equal(seen.headers["if-none-match"], "\"one\"");
  assert.equal(second.prepared, first.prepared);
  assert.equal(second.fresh, true);
  reply = serving("\"two\"");
  const third = await scrip.fetchBundle(base, key, second);
  assert.equal(third.etag, "\"two\"");
  assert.notEqual(third.prepared.hash, first.prepared.hash);
});

const failures = {
  "an error of the service": (_, response) => response.writeHead(500).end("{}"),
  "rules that cannot be read": (_, response) => response.writeHead(200, { etag: "\"bad\"" }).end("{\"vouchers\": 5"),
  "rules that are not those of their etag": (_, response) => response.writeHead(200, { etag: `"${"0".repeat(64)}"` }).end("{}"),
  "an answer cut short": (_, response) => {
    response.writeHead(200, { etag: "\"cut\"", "content-length": "1000" }).write("{");
    setTimeout(() => response.destroy(), 20);
  },
  "a connection that breaks": (request) => request.socket.destroy(),
};

for (const [name, failing] of Object.entries(failures)) {
  check(`${name}: the last good rules stay, and without any it is thrown`, async () => {
    reply = serving("\"one\"");
    const good = await scrip.fetchBundle(base, key);
    reply = failing;
    const kept = await scrip.fetchBundle(base, key, good);
    assert.equal(kept.prepared, good.prepared);
    assert.equal(kept.etag, "\"one\"");
    assert.equal(kept.fresh, false);
    assert.ok(kept.problem instanceof Error);
    await assert.rejects(scrip.fetchBundle(base, key), Error);
    reply = serving("\"one\"");
    const healed = await scrip.fetchBundle(base, key, kept);
    assert.equal(healed.fresh, true);
    assert.equal(healed.problem, undefined);
  });
}

check("rules from storage, bytes and etag alone, start without a network", async () => {
  reply = serving("\"one\"");
  const { bytes, etag } = await scrip.fetchBundle(base, key);
  reply = failures["a connection that breaks"];
  const started = await scrip.fetchBundle(base, key, { bytes, etag });
  assert.equal(started.fresh, false);
  assert.match(started.prepared.hash, /^[0-9a-f]{64}$/);
});

check("a refusal says what the service said; a server can name its origin", async () => {
  reply = (_, response) => response.writeHead(403).end("{\"code\":403,\"key\":\"forbidden\",\"message\":\"Forbidden\",\"details\":\"no\"}");
  const asked = scrip.fetchBundle(base, key, undefined, { origin: "https://shop.example" });
  await assert.rejects(asked, { status: 403, message: /answered 403 .*: Forbidden: no$/ });
  assert.equal(seen.headers.origin, "https://shop.example");
});

check("a 304 that nobody asked for is a failure", async () => {
  reply = (_, response) => response.writeHead(304).end();
  await assert.rejects(scrip.fetchBundle(base, key), /304/);
});
