// Starts the service for a soak, kills it and restarts it: workerd below a supervising process of Node, as under `npm start`.
import { fork } from "node:child_process";
import { mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { builtFolder } from "../../worker/tools/build.mjs";
import { root } from "../../worker/tools/console.mjs";
import { freePort } from "../workerd/harness.mjs";

const BACK_MS = 60_000;

/** Starts the released Worker. `kill(what)` kills `workerd`, `node` or `both` and returns when the service is back. */
export async function startService() {
  const port = await freePort();
  const data = await mkdtemp(join(tmpdir(), "scrip-soak-"));
  mkdirSync(join(root, "target/logs"), { recursive: true });
  const log = join(root, `target/logs/soak-${port}.log`);
  const url = `http://127.0.0.1:${port}`;
  let supervisor;
  let pid;

  async function start() {
    const started = fork(join(root, "tests/soak/process_supervisor.mjs"), [JSON.stringify({ built: builtFolder(), port, data, log })], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    supervisor = started;
    started.exited = new Promise((done) => started.once("exit", (code, signal) => done(signal ?? code)));
    const ready = new Promise((done) => started.on("message", ({ pid: reportedPid }) => done((pid = reportedPid))));
    const ended = await Promise.race([ready.then(() => undefined), started.exited]);
    if (ended !== undefined) throw new Error(`the service did not start (${ended}); see ${log}`);
  }

  const parts = {
    /** The supervisor has to notice, and to start another one. */
    async workerd() {
      const before = pid;
      end(before);
      await until(() => pid !== before, "workerd was not restarted");
      await until(() => healthy(url), "workerd was started again and is silent");
    },
    /** The remaining workerd serves for a short time without a supervisor; then it is killed too, and both are started again. */
    async node(meanwhile) {
      supervisor.kill("SIGKILL");
      await supervisor.exited;
      await meanwhile?.();
      await parts.again();
    },
    async both() {
      supervisor.kill("SIGKILL");
      end(pid);
      await supervisor.exited;
      await parts.again();
    },
    async again() {
      end(pid);
      await until(async () => !(await healthy(url)), "workerd was killed and answers still");
      await start();
    },
  };

  process.once("exit", () => {
    supervisor?.kill("SIGKILL");
    end(pid);
  });
  await start();
  return {
    url,
    log,
    kill: (what, meanwhile) => parts[what](meanwhile),
    async stop() {
      supervisor.send("stop");
      await supervisor.exited;
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

async function until(condition, otherwise) {
  const latest = Date.now() + BACK_MS;
  while (!(await condition())) {
    if (Date.now() > latest) throw new Error(otherwise);
    await sleep(20);
  }
}
