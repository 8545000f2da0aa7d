// Implements the least that a durable count can cost. An entry passes bytes to one Durable Object, which adds one in one transaction and
// answers. It has the structure of the Worker's own shell, and redemptions are measured against it.
import { DurableObject } from "cloudflare:workers";

const encoder = new TextEncoder();

export class Counter extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    this.sql = ctx.storage.sql;
    this.sql.exec("CREATE TABLE IF NOT EXISTS count (id INTEGER PRIMARY KEY, value INTEGER NOT NULL)");
    this.sql.exec("INSERT OR IGNORE INTO count VALUES (1, 0)");
  }

  /** Adds one; answers as the Worker's objects do: `[status, header lines, bytes]`. */
  serve(method, target, lines, body) {
    return this.ctx.storage.transactionSync(() => {
      const { value } = this.sql.exec("UPDATE count SET value = value + 1 WHERE id = 1 RETURNING value").one();
      return [200, "content-type\napplication/json\n", encoder.encode(JSON.stringify({ value, length: body.length }))];
    });
  }
}

export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return new Response("ok");
    const body = new Uint8Array(await request.arrayBuffer());
    const lines = [...request.headers].flat().join("\n");
    const [status, , bytes] = await env.COUNTER.get(env.COUNTER.idFromName("one")).serve(request.method, pathname, lines, body);
    return new Response(bytes, { status, headers: { "content-type": "application/json" } });
  },
};
