// Decides how a workerd process lives: started, waited for, watched, started again, ended. It must not know what it serves.
//
// A request that spins inside one event cannot be interrupted from within: JavaScript's timers run in the same thread, and
// plain workerd sets no limit of CPU time (Cloudflare does). So the process is watched from outside: when `/health` is
// silent for too long it is killed and started again, which loses nothing that was acknowledged.
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serveFlags, writeConfig } from "./config.mjs";
import { Remedy, root, say } from "./say.mjs";
import { setupText } from "./setup.mjs";

const START_MS = 30_000;
const GRACE_MS = 3_000;
const ASK_MS = 2_000;

/**
 * Starts workerd over a built Worker and waits until it answers.
 * Gives `{ url, stop(), kill9(), restart(), exited }`; `kill9` leaves it dead, as a power cut would.
 */
export async function serve({ built, port, data, setup = setupText(), silentMs = 15_000, log = process.stderr, watch = true }) {
  await refuseTakenPort(port);
  const config = writeConfig(built);
  const folder = resolve(data);
  mkdirSync(folder, { recursive: true });
  const url = `http://127.0.0.1:${port}`;
  const flags = serveFlags({ port, data: folder, assets: join(built, "assets") });
  mkdirSync(join(built, "assets"), { recursive: true });
  let child;
  let wanted = true;
  let spells = 0;

  async function start() {
    const env = { ...process.env, SCRIP_SETUP: setup };
    const started = spawn(workerdPath(), ["serve", ...flags, config], { cwd: root, env, stdio: ["ignore", "pipe", "pipe"] });
    child = started;
    started.stdout.pipe(log, { end: false });
    started.stderr.pipe(log, { end: false });
    started.gone = new Promise((done) => started.on("exit", (code, signal) => done(signal ?? code)));
    await waitForHealth(url, started);
  }

  async function watchOver() {
    let answered = Date.now();
    while (wanted) {
      await sleep(ASK_MS, undefined, { ref: false });
      if (!wanted) return;
      if (child.exitCode !== null || child.signalCode !== null) {
        say(`workerd ended by itself (${child.signalCode ?? child.exitCode}); starting it again`);
        // A process that dies at once again and again should not be started as fast as the machine can.
        await sleep(Math.min(1_000 * spells, 10_000), undefined, { ref: false });
        spells += 1;
        await start().catch((error) => say(error.message));
        answered = Date.now();
      } else if (await healthy(url)) {
        answered = Date.now();
        spells = 0;
      } else if (Date.now() - answered > silentMs) {
        say(`no answer for ${silentMs} ms; killing workerd and starting it again`);
        child.kill("SIGKILL");
        await child.gone;
        await start().catch((error) => say(error.message));
        answered = Date.now();
      }
    }
  }

  // Whatever ends this process, an error included, must not leave workerd behind.
  process.once("exit", () => child?.kill("SIGKILL"));
  await start();
  if (watch) watchOver();
  return {
    url,
    get pid() {
      return child.pid;
    },
    /** Asks the process to end, and makes it end when it drains for too long. */
    async stop() {
      wanted = false;
      child.kill("SIGTERM");
      const killer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
      await child.gone;
      clearTimeout(killer);
    },
    async kill9() {
      wanted = false;
      child.kill("SIGKILL");
      await child.gone;
    },
    async restart() {
      await start();
    },
  };
}

/** workerd itself; its npm package puts a JavaScript launcher in front, which signals do not pass. */
function workerdPath() {
  return createRequire(join(root, "package.json"))("workerd").default;
}

async function healthy(url) {
  return fetch(`${url}/health`, { signal: AbortSignal.timeout(ASK_MS) }).then((reply) => reply.ok, () => false);
}

async function waitForHealth(url, child) {
  const latest = Date.now() + START_MS;
  while (Date.now() < latest) {
    if (child.exitCode !== null || child.signalCode !== null) {
      throw new Remedy(`workerd ended at once (${child.signalCode ?? child.exitCode}); what it said stands above`);
    }
    if (await healthy(url)) return;
    await sleep(30);
  }
  throw new Remedy(`workerd gave no answer on ${url}/health within ${START_MS} ms`);
}

/** workerd would share the port with whoever has it and leave the caller guessing. */
function refuseTakenPort(port) {
  return new Promise((free, taken) => {
    const probe = createServer();
    probe.once("error", () => taken(new Remedy(`port ${port} is taken: end what listens there, or choose another one with PORT=...`)));
    probe.listen(port, "127.0.0.1", () => probe.close(free));
  });
}
