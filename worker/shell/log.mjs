// Decides what a line of the log looks like: one JSON object, the same as `worker/src/host/log.rs` writes. It must not know what went wrong.

// What is worth keeping of a stack; an overflow brings a hundred frames of the same name.
const STACK_LINES = 12;

/** Writes a line: what happened, and what is known of it. Nothing of what was sent belongs in it. */
export function log(event, fields) {
  console.error(JSON.stringify({ at: new Date().toISOString(), level: "error", event, ...fields }));
}

/** What an error says of itself, and first what the engine did, when it was its panic. */
export function told(error) {
  const stack = String(error?.stack ?? error).split("\n").slice(0, STACK_LINES).join("\n");
  const panicked = globalThis.scripPanicked;
  globalThis.scripPanicked = undefined;
  return panicked === undefined ? stack : `${panicked}\n${stack}`;
}
