// Writes lines of the log: one JSON object each, the same as `worker/src/host/log.rs` writes.

// Longer stacks are cut; an overflow brings a hundred frames of the same name.
const STACK_LINES = 12;

/** Writes a line with an event and its known fields. It contains nothing of what a caller sent. */
export function log(event, fields) {
  console.error(JSON.stringify({ at: new Date().toISOString(), level: "error", event, ...fields }));
}

/** Returns the stack of an error, preceded by the message of the engine's panic where there was one. */
export function describeError(error) {
  const stack = String(error?.stack ?? error).split("\n").slice(0, STACK_LINES).join("\n");
  const panicMessage = globalThis.scripPanicked;
  globalThis.scripPanicked = undefined;
  return panicMessage === undefined ? stack : `${panicMessage}\n${stack}`;
}
