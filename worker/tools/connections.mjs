// Limits the open connections of a server to fewer than the process may open files. A connection that waits for its caller is closed before
// another caller is refused.
import { execFileSync } from "node:child_process";

/** Files that are not connections of callers: those of the supervisor, of the log and of workerd's data. */
const RESERVED = 256;
/** A caller's connection, and the one over which its request is forwarded. */
const FILES_EACH = 2;
const LEAST = 32;
const MOST = 50_000;
/** The share of the connections that may be feeds. The others are left for calls, so that pages with a feed do not shut out any. */
const FEEDS_SHARE = 0.6;

/** Returns the number of callers' connections for which this process has files. */
export function connectionsMax() {
  return connectionsFor(openFilesMax());
}

/** Returns the number of callers' connections for which this number of open files suffices. */
export function connectionsFor(files) {
  return Math.min(Math.max(Math.floor((files - RESERVED) / FILES_EACH), LEAST), MOST);
}

/** Returns the number of files that this process may open, as a shell inherits it. */
function openFilesMax() {
  try {
    const limit = execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();
    return limit === "unlimited" ? Infinity : Number.parseInt(limit, 10) || 0;
  } catch {
    // There is no shell, and so no such limit either.
    return Infinity;
  }
}

/** The time that a connection stays open after its last answer: its caller may still be sending, and must be able to read the answer. */
const LINGER_MS = 2_000;
/** The number of connections that may stay so. */
const LINGERING_MAX = 64;
const lingering = new Set();

/** Ends a connection with these bytes. Bytes that still arrive are discarded and are no request. */
export function closeWith(connection, answer) {
  if (lingering.has(connection) || connection.destroyed) return;
  // A listener of our own takes the bytes before the HTTP parser.
  connection.on("data", () => {});
  connection.removeAllListeners("data");
  connection.on("data", () => {});
  connection.on("error", () => {});
  connection.end(answer);
  lingering.add(connection);
  const timer = setTimeout(() => connection.destroy(), LINGER_MS);
  connection.once("close", () => {
    clearTimeout(timer);
    lingering.delete(connection);
  });
  if (lingering.size > LINGERING_MAX) lingering.values().next().value.destroy();
}

/** Returns how many of `most` connections may be feeds. */
export const feedsFor = (most) => Math.floor(most * FEEDS_SHARE);

/**
 * Limits a server to `most` connections, of which `feedsFor(most)` may be feeds. A further one replaces the connection that has waited longest
 * for its caller: one that is idle, or whose request is incomplete. Where all others are busy, `refuse` answers the further one, and its
 * requests are not read.
 *
 * Returns `{ open, takeForFeed }`. `open` has the connections except feeds in the order in which they began to wait, each with the answers to
 * its requests. `takeForFeed` counts a connection as a feed from now on, or returns false if there are too many.
 */
export function boundConnections(server, most, refuse) {
  const open = new Map();
  const feeds = new Set();
  const serve = server.listeners("connection");
  server.removeAllListeners("connection");
  server.on("connection", (connection) => {
    if (open.size + feeds.size >= most) {
      const waiting = longestWaiting(open);
      if (waiting === undefined) return refuse(connection);
      open.delete(waiting);
      waiting.destroy();
    }
    open.set(connection, new Set());
    connection.once("close", () => open.delete(connection));
    return serve.forEach((listener) => listener.call(server, connection));
  });
  const moveToEnd = (connection, change) => {
    const replies = open.get(connection);
    if (replies === undefined) return;
    change(replies);
    open.delete(connection);
    open.set(connection, replies);
  };
  server.on("request", ({ socket }, reply) => {
    moveToEnd(socket, (replies) => replies.add(reply));
    reply.once("close", () => moveToEnd(socket, (replies) => replies.delete(reply)));
  });
  const takeForFeed = (connection) => {
    if (feeds.size >= feedsFor(most)) return false;
    open.delete(connection);
    feeds.add(connection);
    connection.once("close", () => feeds.delete(connection));
    return true;
  };
  return { open, takeForFeed };
}

function longestWaiting(open) {
  for (const [connection, replies] of open) {
    if (![...replies].some((reply) => reply.req.complete || reply.headersSent)) return connection;
  }
  return undefined;
}
