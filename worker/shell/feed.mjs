// The feed of a project: sends each new head of its bundle to every page that is connected. One object for each project, apart from the
// project's own, so that neither a page that connects nor one that leaves takes time from decisions.
//
// The runtime holds the connections and may evict the object meanwhile (hibernation): so all that is known of a connection is attached
// to it, and there are no timers and no alarm.
import { DurableObject } from "cloudflare:workers";

const HEAD_KEY = "head";
// Connections of one project.
const CONNECTIONS_MAX = 1_000;
// Only `ping` of a page is answered, by the runtime. Other messages wake the object, so they are few and short.
const MESSAGE_BYTES_MAX = 64;
const MESSAGES_MAX = 16;
// The key was checked when the page connected. After this time it is checked again, by the connection that the page then opens.
const LONGEST_LIFE_MS = 24 * 3_600_000;

const GOING_AWAY = 1001;
const POLICY = 1008;
const TOO_BIG = 1009;

export class Feed extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.setWebSocketAutoResponse(new WebSocketRequestResponsePair("ping", "pong"));
  }

  /**
   * Connects a page, and sends it the present head. The entry is the only caller: it has checked the key, which `scrip-key` names;
   * `scrip-until` is the end of a token.
   */
  fetch({ headers }) {
    if (this.ctx.getWebSockets().length >= CONNECTIONS_MAX) return new Response(null, { status: 503 });
    const [page, connection] = Object.values(new WebSocketPair());
    const end = Math.min(Date.now() + LONGEST_LIFE_MS, Number(headers.get("scrip-until") ?? Infinity));
    this.ctx.acceptWebSocket(connection, [headers.get("scrip-key")]);
    connection.serializeAttachment({ end, messages: 0 });
    const head = this.ctx.storage.kv.get(HEAD_KEY);
    if (head !== undefined) connection.send(head);
    const protocol = headers.get("sec-websocket-protocol");
    return new Response(null, { status: 101, webSocket: page, headers: protocol === null ? {} : { "sec-websocket-protocol": protocol } });
  }

  /** Stores a head and sends it to every page. One that is not newer than the stored head is ignored: calls may overtake each other. */
  publish(head) {
    const { kv } = this.ctx.storage;
    const stored = kv.get(HEAD_KEY);
    if (stored !== undefined && !isNewer(revisionOf(head), revisionOf(stored))) return;
    kv.put(HEAD_KEY, head);
    const now = Date.now();
    for (const connection of this.ctx.getWebSockets()) {
      try {
        connection.send(head);
        if (connection.deserializeAttachment().end <= now) connection.close(GOING_AWAY, "the key is checked anew: connect again");
      } catch {
        // It has ended without an event so far. The others get the head.
      }
    }
  }

  /** Closes the connections of some keys, named as for `scrip-key` and separated by commas: they were changed or removed. */
  close(keys) {
    for (const key of keys.split(",").filter(Boolean)) {
      for (const connection of this.ctx.getWebSockets(key)) connection.close(POLICY, "the key was changed: connect again");
    }
  }

  /** Closes all connections and drops the head, because the project was deleted. */
  async empty() {
    for (const connection of this.ctx.getWebSockets()) connection.close(POLICY, "the project was deleted");
    await this.ctx.storage.deleteAll();
  }

  webSocketMessage(connection, message) {
    // Characters, of which each has a byte at least.
    const size = typeof message === "string" ? message.length : message.byteLength;
    if (size > MESSAGE_BYTES_MAX) connection.close(TOO_BIG, `a message has at most ${MESSAGE_BYTES_MAX} bytes`);
    const { end, messages } = connection.deserializeAttachment();
    connection.serializeAttachment({ end, messages: messages + 1 });
    if (messages >= MESSAGES_MAX) connection.close(POLICY, `at most ${MESSAGES_MAX} messages are read`);
  }

  webSocketClose(connection, code) {
    // 1005 and 1006 mean a missing code, and cannot be sent.
    connection.close(code === 1005 || code === 1006 ? GOING_AWAY : code);
  }

  webSocketError(connection) {
    connection.close(GOING_AWAY);
  }
}

/** Returns the revision of a head, `[epoch, rev]`. The project has signed the head; pages prove it. */
function revisionOf(head) {
  const { epoch, rev } = JSON.parse(atob(head.split(".")[1].replaceAll("-", "+").replaceAll("_", "/")));
  return [epoch, rev];
}

const isNewer = ([epoch, rev], [storedEpoch, storedRev]) => epoch > storedEpoch || (epoch === storedEpoch && rev > storedRev);
