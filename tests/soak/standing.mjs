// Decides how a soak starts the service, kills it and gets it back: workerd below a process of Node that watches it, as under
// `npm start`. It must not know what is asked of the service.
import { fork } from "node:child_process";
import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { builtFolder } from "../../worker/tools/build.mjs";
import { root } from "../../worker/tools/say.mjs";
import { freePort } from "../workerd/harness.mjs";

const BACK_MS = 60_000;

/** Starts the released Worker. `kill(what)` kills `workerd`, `node` or `both` and returns when the service is back. */
export async function stand() {
  const port = await freePort();
  const data = await mkdtemp(join(tmpdir(), "scrip-soak-"));
  mkdirSync(join(root, "target/logs"), { recursive: true });
  const log = join(root, `target/logs/soak-${port}.log`);
  const url = `http://127.0.0.1:${port}`;
  let keeper;
  let pid;

  async function start() {
    const started = fork(join(root, "tests/soak/keeper.mjs"), [JSON.stringify({ built: builtFolder(), port, data, log })], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    keeper = started;
    started.gone = new Promise((done) => started.once("exit", (code, signal) => done(signal ?? code)));
    const ready = new Promise((done) => started.on("message", (told) => done((pid = told.pid))));
    const ended = await Promise.race([ready.then(() => undefined), started.gone]);
    if (ended !== undefined) throw new Error(`the service did not start (${ended}); see ${log}`);
  }

  const parts = {
    /** The watcher has to notice, and to start another one. */
    async workerd() {
      const before = pid;
      end(before);
      await until(() => pid !== before, "nobody started workerd again");
      await until(() => healthy(url), "workerd was started again and is silent");
    },
    /** What is left of the service serves on for a moment, unwatched; then it goes too, and all is started anew. */
    async node(meanwhile) {
      keeper.kill("SIGKILL");
      await keeper.gone;
      await meanwhile?.();
      await parts.again();
    },
    async both() {
      keeper.kill("SIGKILL");
      end(pid);
      await keeper.gone;
      await parts.again();
    },
    async again() {
      end(pid);
      await until(async () => !(await healthy(url)), "workerd was killed and answers still");
      await start();
    },
  };

  process.once("exit", () => {
    keeper?.kill("SIGKILL");
    end(pid);
  });
  await start();
  return {
    url,
    log,
    kill: (what, meanwhile) => parts[what](meanwhile),
    async stop() {
      keeper.send("stop");
      await keeper.gone;
      await rm(data, { recursive: true, force: true });
    },
  };
}

/** Kills a process that may be dead already. */
function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

const healthy = (url) => fetch(`${url}/health`, { signal: AbortSignal.timeout(2_000) }).then((reply) => reply.ok, () => false);

async function until(holds, otherwise) {
  const latest = Date.now() + BACK_MS;
  while (!(await holds())) {
    if (Date.now() > latest) throw new Error(otherwise);
    await sleep(20);
  }
}
