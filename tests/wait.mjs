// Waits of tests for what a service does in its own time. A wait ends as soon as its condition is true; its patience is for the slowest machine,
// so that no test depends on the speed of the one that runs it.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 120_000;

/** Repeats a probe until its result is true, and returns that; `what` names the condition, or returns its name, for a wait in vain. */
export async function waitUntil(probe, what, { pause = 50 } = {}) {
  for (const latest = Date.now() + PATIENCE_MS; ; await sleep(pause)) {
    const found = await probe();
    if (found) return found;
    assert.ok(Date.now() < latest, `not within ${PATIENCE_MS / 1_000} s: ${typeof what === "function" ? what() : what}`);
  }
}

/** Repeats a probe until it does not fail, and returns its result; after a wait in vain it fails with the last error. */
export async function waitForSuccess(probe, { pause = 100 } = {}) {
  for (const latest = Date.now() + PATIENCE_MS; ; await sleep(pause)) {
    try {
      return await probe();
    } catch (error) {
      if (Date.now() > latest) throw error;
    }
  }
}
