// Decides how long a service lives: started, waited for, watched, started again, ended. It must not know what it serves.
//
// A request that spins inside one event cannot be interrupted from within: JavaScript's timers run in the same thread, and
// plain workerd sets no limit of CPU time (Cloudflare does). So the process is watched from outside: when `/health/live` is
// silent for too long it is killed and started again, which loses nothing that was acknowledged. What `/health` says does not
// matter for that: a full disk is not mended by a new process.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serveFlags, writeConfig } from "./config.mjs";
import { answerDemo, isForDemo } from "./demo.mjs";
import { openFront } from "./front.mjs";
import { lockFolder } from "./lock.mjs";
import { Remedy, say } from "./say.mjs";
import { developmentText, setupText } from "./setup.mjs";
import { launch } from "./workerd.mjs";

const START_MS = 30_000;
const GRACE_MS = 3_000;
const ASK_MS = 2_000;
/** The pauses before workerd is started again, each time that it did not last; after the last one it is given up. */
const PAUSES_MS = [0, 1_000, 2_000, 5_000, 10_000];
/** What lives so long has lasted. */
const LASTING_MS = 60_000;

/**
 * Starts workerd over a built Worker, behind a front or `bare`, and waits until it can work; with `ailing` only until it answers.
 * Unless `local` is false webhooks may go to the own machine. When workerd dies again and again, the promise `failed` of the service becomes the error.
 */
export async function serve({
  built, port, data, setup = setupText(), metricsToken = process.env.SCRIP_METRICS_TOKEN, silentMs = 15_000, log = process.stderr, watch = true,
  ailing = false, bare = false, pausesMs = PAUSES_MS, local = true,
}) {
  const folder = resolve(data);
  const lock = await lockFolder(folder, port);
  const service = new Service({ built, port, folder, setup, metricsToken, silentMs, log, bare, pausesMs, lock, local });
  await service.open(ailing);
  service.failed = watch ? service.watchOver() : new Promise(() => {});
  return service;
}

class Service {
  #options;
  #front;
  #child;
  #wanted = true;
  /** What workerd wrote of its setup. */
  #complaint;
  /** Where nobody but the front finds workerd. */
  #inside;
  #end = () => {
    this.#child?.kill("SIGKILL");
    this.#leave();
  };

  constructor(options) {
    this.#options = options;
    this.url = `http://127.0.0.1:${options.port}`;
    if (!options.bare) this.#inside = mkdtempSync(join(tmpdir(), "scrip-"));
  }

  get pid() {
    return this.#child.pid;
  }

  async open(ailing) {
    const { port, bare } = this.#options;
    // Whatever ends this process, an error included, must not leave workerd behind.
    process.once("exit", this.#end);
    try {
      if (bare) await refuseTakenPort(port);
      else this.#front = await openFront({ port, socket: this.#socket(), demo: this.#demo() });
      await this.#start();
      if (!ailing) await this.#demandHealth();
    } catch (error) {
      this.#end();
      await this.#child?.gone;
      throw error;
    }
  }

  /** What the demo's pages need of a server, where the project is the development's. */
  #demo() {
    if (this.#options.setup !== developmentText()) return undefined;
    return { isFor: isForDemo, answer: (request, reply) => answerDemo(this.url, request, reply) };
  }

  /** Starts workerd again whenever it ends; gives the error when that is of no use. */
  async watchOver() {
    const { pausesMs } = this.#options;
    for (let failures = 0; ; ) {
      const begun = Date.now();
      const how = await this.#endOf(this.#child);
      if (!this.#wanted) return new Promise(() => {});
      failures = Date.now() - begun > LASTING_MS ? 1 : failures + 1;
      const pause = pausesMs[failures - 1];
      if (pause === undefined) return new Remedy(`workerd ${how}, ${failures} times in a row; what it said stands above`);
      say(`workerd ${how}; starting it again${pause > 0 ? ` in ${pause} ms` : ""}`);
      await sleep(pause);
      if (this.#wanted) await this.#start().catch((error) => say(error.message));
    }
  }

  /** Asks the process to end, and makes it end when it drains for too long. */
  async stop() {
    this.#wanted = false;
    this.#child.kill("SIGTERM");
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), GRACE_MS);
    await this.#child.gone;
    clearTimeout(killer);
    process.off("exit", this.#end);
    this.#leave();
  }

  /** Leaves workerd dead, as a power cut would. */
  async kill9() {
    this.#wanted = false;
    this.#child.kill("SIGKILL");
    await this.#child.gone;
  }

  async restart() {
    await this.#start();
  }

  async #start() {
    const { built, folder, setup, metricsToken, log, lock, port, bare, local } = this.#options;
    const assets = join(built, "assets");
    mkdirSync(assets, { recursive: true });
    if (!bare) rmSync(this.#socket(), { force: true });
    const address = bare ? `127.0.0.1:${port}` : `unix:${this.#socket()}`;
    const hear = (line) => {
      this.#complaint = complaintOf(line) ?? this.#complaint;
      log.write(`${line}\n`);
    };
    const more = { SCRIP_SETUP: setup, SCRIP_METRICS_TOKEN: metricsToken };
    this.#child = launch({ flags: serveFlags({ address, data: folder, assets }), config: writeConfig(built, { local }), more, hear });
    lock.note(this.#child.pid);
    await waitForLife(this.url, this.#child);
  }

  /** Waits for the end of a process, and ends it when it is silent for too long; says how it ended. */
  async #endOf(child) {
    const { silentMs, lock } = this.#options;
    for (let answered = Date.now(); ; ) {
      const how = await Promise.race([child.gone, sleep(ASK_MS, undefined, { ref: false })]);
      if (how !== undefined || !this.#wanted) return `ended by itself (${how})`;
      lock.touch();
      if (await lives(this.url)) answered = Date.now();
      else if (Date.now() - answered > silentMs) {
        child.kill("SIGKILL");
        await child.gone;
        return `gave no answer for ${silentMs} ms and was killed`;
      }
    }
  }

  /** A service that cannot do its work does not start. */
  async #demandHealth() {
    const reply = await fetch(`${this.url}/health`);
    if (reply.ok) return;
    const { details } = await reply.json();
    // What was written comes through another pipe than the answer.
    for (let tries = 0; tries < 20 && this.#complaint === undefined && /SCRIP_SETUP/.test(details); tries += 1) await sleep(20);
    throw new Remedy(`the service cannot do its work: ${this.#complaint ?? details}`);
  }

  #socket() {
    return join(this.#inside, "http");
  }

  #leave() {
    this.#front?.close();
    if (this.#inside) rmSync(this.#inside, { recursive: true, force: true });
    this.#options.lock.release();
  }
}

/** What a line of the log says of the setup, if anything. */
function complaintOf(line) {
  if (!line.includes("SCRIP_SETUP cannot be used")) return undefined;
  try {
    return /SCRIP_SETUP cannot be used: .*/.exec(JSON.parse(line).error)?.[0];
  } catch {
    return undefined;
  }
}

async function lives(url) {
  return fetch(`${url}/health/live`, { signal: AbortSignal.timeout(ASK_MS) }).then((reply) => reply.ok, () => false);
}

async function waitForLife(url, child) {
  const latest = Date.now() + START_MS;
  while (Date.now() < latest) {
    if (await lives(url)) return;
    const how = await Promise.race([child.gone, sleep(30)]);
    if (how !== undefined) throw new Remedy(`workerd ended at once (${how}); what it said stands above`);
  }
  throw new Remedy(`workerd gave no answer on ${url}/health/live within ${START_MS} ms`);
}

/** workerd would share the port with whoever has it and leave the caller guessing. */
function refuseTakenPort(port) {
  return new Promise((free, taken) => {
    const probe = createServer();
    probe.once("error", () => taken(new Remedy(`port ${port} is taken: end what listens there, or choose another one with PORT=...`)));
    probe.listen(port, "127.0.0.1", () => probe.close(free));
  });
}
