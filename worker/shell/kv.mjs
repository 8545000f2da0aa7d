// Implements a KV namespace for plain workerd. The runtime turns every KV call into an HTTP request to this service, which stores the pairs
// in the SQLite database of one Durable Object. Cloudflare and `wrangler dev` do not use it.
import { DurableObject } from "cloudflare:workers";

const LIST_MOST = 1_000;
const BULK_MOST = 100;
const TTL_LEAST = 60;
const NAME_MOST_BYTES = 512;
// SQLite in an object takes rows of at most 2 MB; Cloudflare's own KV takes values of 25 MiB.
const VALUE_MOST_BYTES = 2_000_000;
const LIVE = "(expires IS NULL OR expires > ?2)";

export class Pairs extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.sql = ctx.storage.sql;
    this.sql.exec(
      "CREATE TABLE IF NOT EXISTS pair (name TEXT PRIMARY KEY, value BLOB NOT NULL, metadata TEXT, expires INTEGER) WITHOUT ROWID");
  }

  async fetch(request) {
    const { pathname, searchParams } = new URL(request.url);
    let name;
    try {
      name = decodeURIComponent(pathname.slice(1));
    } catch {
      return refused(400, "the name is not percent-encoded text");
    }
    if (new TextEncoder().encode(name).length > NAME_MOST_BYTES) return refused(414, `a name has at most ${NAME_MOST_BYTES} bytes`);
    switch (request.method) {
      case "PUT":
        return this.put(name, searchParams, request.headers.get("CF-KV-Metadata"), await request.arrayBuffer());
      case "DELETE":
        this.sql.exec("DELETE FROM pair WHERE name = ?1", name);
        return new Response(null, { status: 204 });
      case "POST":
        return name === "bulk/get" ? this.getMany(await request.json()) : refused(404, "unknown call");
      case "GET":
        return name === "" ? this.list(searchParams) : this.get(name);
      default:
        return refused(405, "method not allowed");
    }
  }

  find(name) {
    return this.sql.exec(`SELECT value, metadata, expires FROM pair WHERE name = ?1 AND ${LIVE}`, name, now()).toArray()[0];
  }

  get(name) {
    const row = this.find(name);
    if (row === undefined) return refused(404, "not found");
    const headers = new Headers();
    if (row.metadata !== null) headers.set("CF-KV-Metadata", row.metadata);
    if (row.expires !== null) headers.set("CF-Expiration", String(row.expires));
    return new Response(row.value, { headers });
  }

  getMany({ keys, type = "text", withMetadata = false }) {
    if (!Array.isArray(keys) || keys.length < 1 || keys.length > BULK_MOST) return refused(400, `ask for 1 to ${BULK_MOST} keys`);
    const found = {};
    for (const name of keys) {
      const row = this.find(name);
      if (row === undefined) {
        found[name] = null;
        continue;
      }
      const text = new TextDecoder().decode(row.value);
      const value = type === "json" ? JSON.parse(text) : text;
      found[name] = withMetadata ? { value, metadata: row.metadata === null ? null : JSON.parse(row.metadata) } : value;
    }
    return Response.json(found);
  }

  async put(name, query, metadata, value) {
    if (name === "") return refused(400, "a name must not be empty");
    if (value.byteLength > VALUE_MOST_BYTES) return refused(413, `a value has at most ${VALUE_MOST_BYTES} bytes here`);
    const expires = expiryOf(query);
    if (expires !== null && !(expires >= now() + TTL_LEAST)) return refused(400, `a pair lives at least ${TTL_LEAST} seconds`);
    this.sql.exec("INSERT OR REPLACE INTO pair VALUES (?1, ?2, ?3, ?4)", name, value, metadata, expires);
    if (expires !== null) await this.sweepBy(expires);
    return new Response(null, { status: 204 });
  }

  list(query) {
    const most = Number(query.get("key_count_limit") ?? LIST_MOST);
    if (!Number.isInteger(most) || most < 1 || most > LIST_MOST) return refused(400, `list 1 to ${LIST_MOST} keys at once`);
    const after = decodeURIComponent(query.get("cursor") ?? "");
    const rows = this.sql.exec(
      `SELECT name, metadata, expires FROM pair WHERE name > ?1 AND ${LIVE} AND substr(name, 1, length(?3)) = ?3 ORDER BY name LIMIT ?4`,
      after, now(), query.get("prefix") ?? "", most + 1).toArray();
    const complete = rows.length <= most;
    // The runtime expects the metadata of a listed key as the text of its JSON.
    const keys = rows.slice(0, most).map(({ name, metadata, expires }) => ({
      name,
      ...(expires === null ? {} : { expiration: expires }),
      ...(metadata === null ? {} : { metadata }),
    }));
    const cursor = complete ? {} : { cursor: encodeURIComponent(keys.at(-1).name) };
    return Response.json({ keys, list_complete: complete, ...cursor, cacheStatus: null });
  }

  /** Sets the alarm for an expiration. Every read checks whether a pair has expired; the alarm only removes expired pairs. */
  async sweepBy(seconds) {
    const armed = await this.ctx.storage.getAlarm();
    if (armed === null || armed > seconds * 1000) await this.ctx.storage.setAlarm(seconds * 1000);
  }

  async alarm() {
    this.sql.exec("DELETE FROM pair WHERE expires <= ?1", now());
    const [{ next }] = this.sql.exec("SELECT min(expires) AS next FROM pair").toArray();
    if (next !== null) await this.ctx.storage.setAlarm(next * 1000);
  }
}

/** Returns the second at which a pair expires, or `null`; NaN when the query has an unreadable number. */
function expiryOf(query) {
  if (query.has("expiration_ttl")) return now() + Number(query.get("expiration_ttl"));
  return query.has("expiration") ? Number(query.get("expiration")) : null;
}

function refused(status, text) {
  return new Response(text, { status, statusText: text });
}

function now() {
  return Math.floor(Date.now() / 1000);
}

export default {
  fetch(request, env) {
    return env.PAIRS.getByName("pairs").fetch(request);
  },
};
