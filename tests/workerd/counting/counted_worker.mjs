// Runs the released Worker on plain workerd behind the module that counts, and counts requests.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { builtFolder } from "../../../worker/tools/build.mjs";
import { developmentText } from "../../../worker/tools/setup.mjs";
import { waitUntil } from "../../wait.mjs";
import { bootChanged, caller, inFront } from "../harness.mjs";

/** Background work that is due later than this does not belong to the requests before it, such as a sweep in an hour. */
const SOON_MS = 60_000;
const built = builtFolder(false);
const front = inFront(built, ["front.mjs", "wasm_calls.mjs"].map((name) => fileURLToPath(new URL(name, import.meta.url))));

/** Starts the Worker with an empty folder. Returns `{ call, pid, count(send), stop() }`. */
export async function bootCounted() {
  const folder = await mkdtemp(join(tmpdir(), "scrip-counted-"));
  const service = await bootChanged(folder, front, { SCRIP_SETUP: developmentText() }, { built });
  const { url } = service;
  const read = async (path) => (await fetch(`${url}${path}`)).json();

  /** Waits until no alarm runs and none is due soon. */
  const settle = () => waitUntil(async () => {
    const { running, next } = await read("/counts/waiting");
    return running === 0 && next > SOON_MS;
  }, "background work does not end");

  return {
    call: caller(url),
    pid: service.pid,
    settle,
    /** Returns the counts of what `send` does and of all background work that follows. */
    async count(send) {
      await settle();
      await read("/counts");
      await send();
      await settle();
      return read("/counts");
    },
    async stop() {
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
