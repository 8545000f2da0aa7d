// Supervises a service: starts it, waits for it, watches it, restarts it and ends it.
//
// A request that spins inside one event cannot be interrupted from within. JavaScript's timers run in the same thread, and plain workerd
// sets no limit of CPU time (Cloudflare does). So the process is watched from outside: when `/health/live` is silent for too long it is
// killed and restarted, which loses no acknowledged write. The answer of `/health` has no influence on that, because a new process does not
// free a full disk.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { serveFlags, writeConfig } from "./config.mjs";
import { answerDemo, isForDemo } from "./demo.mjs";
import { openProxy } from "./http_proxy.mjs";
import { lockFolder } from "./data_lock.mjs";
import { print, Remedy } from "./console.mjs";
import { developmentText, setupText } from "./setup.mjs";
import { launch } from "./workerd.mjs";

const START_MS = 30_000;
const GRACE_MS = 3_000;
const PROBE_MS = 2_000;
/** The pauses before each restart of a workerd that ended soon; after the last one the service is given up. */
const PAUSES_MS = [0, 1_000, 2_000, 5_000, 10_000];
/** A workerd that runs this long does not count as one that ended soon. */
const LASTING_MS = 60_000;

/**
 * Starts workerd over a built Worker, behind the proxy or `bare`, and waits until it is healthy; with `ailing` only until it answers.
 * Unless `local` is false webhooks may go to the local machine. When workerd dies again and again, the promise `failed` of the service
 * resolves to the error.
 */
export async function serve({
  built, port, data, setup = setupText(), metricsToken = process.env.SCRIP_METRICS_TOKEN, edgeSecret = process.env.SCRIP_EDGE_SECRET, silentMs = 15_000, log = process.stderr, watch = true,
  ailing = false, bare = false, pausesMs = PAUSES_MS, local = true,
}) {
  const folder = resolve(data);
  const lock = await lockFolder(folder, port);
  const service = new Service({ built, port, folder, setup, metricsToken, edgeSecret, silentMs, log, bare, pausesMs, lock, local });
  await service.open(ailing);
  service.failed = watch ? service.watchOver() : new Promise(() => {});
  return service;
}

class Service {
  #options;
  #proxy;
  #child;
  #isRunning = true;
  /** The error about the setup that workerd logged. */
  #setupError;
  /** The folder of the socket on which only the proxy reaches workerd. */
  #socketFolder;
  #end = () => {
    this.#child?.kill("SIGKILL");
    this.#cleanUp();
  };

  constructor(options) {
    this.#options = options;
    this.url = `http://127.0.0.1:${options.port}`;
    if (!options.bare) this.#socketFolder = mkdtempSync(join(tmpdir(), "scrip-"));
  }

  get pid() {
    return this.#child.pid;
  }

  async open(ailing) {
    const { port, bare } = this.#options;
    // The end of this process, also by an error, must also end workerd.
    process.once("exit", this.#end);
    try {
      if (bare) await refuseTakenPort(port);
      else this.#proxy = await openProxy({ port, socket: this.#socket(), demo: this.#demo() });
      await this.#start();
      if (!ailing) await this.#requireHealth();
    } catch (error) {
      this.#end();
      await this.#child?.ended;
      throw error;
    }
  }

  /** Returns the server side of the demo's pages, where the project is the development's. */
  #demo() {
    if (this.#options.setup !== developmentText()) return undefined;
    return { isFor: isForDemo, answer: (request, reply) => answerDemo(this.url, request, reply) };
  }

  /** Restarts workerd when it ends; returns the error when that is of no use. */
  async watchOver() {
    const { pausesMs } = this.#options;
    for (let failures = 0; ; ) {
      const startedAt = Date.now();
      const end = await this.#waitForEnd(this.#child);
      if (!this.#isRunning) return new Promise(() => {});
      failures = Date.now() - startedAt > LASTING_MS ? 1 : failures + 1;
      const pause = pausesMs[failures - 1];
      if (pause === undefined) return new Remedy(`workerd ${end}, ${failures} times in a row; what it said stands above`);
      print(`workerd ${end}; starting it again${pause > 0 ? ` in ${pause} ms` : ""}`);
      await sleep(pause);
      if (this.#isRunning) await this.#start().catch((error) => print(error.message));
    }
  }

  /** Signals the process to end, and kills it when it drains for too long. */
  async stop() {
    this.#isRunning = false;
    this.#child.kill("SIGTERM");
    const killer = setTimeout(() => this.#child.kill("SIGKILL"), GRACE_MS);
    await this.#child.ended;
    clearTimeout(killer);
    process.off("exit", this.#end);
    this.#cleanUp();
  }

  /** Kills workerd, as a power cut would. */
  async kill9() {
    this.#isRunning = false;
    this.#child.kill("SIGKILL");
    await this.#child.ended;
  }

  async restart() {
    await this.#start();
  }

  async #start() {
    const { built, folder, setup, metricsToken, edgeSecret, log, lock, port, bare, local } = this.#options;
    const assets = join(built, "assets");
    mkdirSync(assets, { recursive: true });
    if (!bare) rmSync(this.#socket(), { force: true });
    const address = bare ? `127.0.0.1:${port}` : `unix:${this.#socket()}`;
    const onLine = (line) => {
      this.#setupError = setupErrorIn(line) ?? this.#setupError;
      log.write(`${line}\n`);
    };
    const variables = { SCRIP_SETUP: setup, SCRIP_METRICS_TOKEN: metricsToken, SCRIP_EDGE_SECRET: edgeSecret };
    this.#child = launch({ flags: serveFlags({ address, data: folder, assets }), config: writeConfig(built, { local }), variables, onLine });
    lock.note(this.#child.pid);
    await waitUntilLive(this.url, this.#child);
  }

  /** Waits for the end of a process, and kills it when it is silent for too long; returns the cause. */
  async #waitForEnd(child) {
    const { silentMs, lock } = this.#options;
    for (let answered = Date.now(); ; ) {
      const end = await Promise.race([child.ended, sleep(PROBE_MS, undefined, { ref: false })]);
      if (end !== undefined || !this.#isRunning) return `ended by itself (${end})`;
      lock.touch();
      if (await isLive(this.url)) answered = Date.now();
      else if (Date.now() - answered > silentMs) {
        child.kill("SIGKILL");
        await child.ended;
        return `gave no answer for ${silentMs} ms and was killed`;
      }
    }
  }

  /** Throws unless the service is healthy: an unhealthy one does not start. */
  async #requireHealth() {
    const reply = await fetch(`${this.url}/health`);
    if (reply.ok) return;
    const { details } = await reply.json();
    // The log comes through another pipe than the answer.
    for (let tries = 0; tries < 20 && this.#setupError === undefined && /SCRIP_SETUP/.test(details); tries += 1) await sleep(20);
    throw new Remedy(`the service cannot do its work: ${this.#setupError ?? details}`);
  }

  #socket() {
    return join(this.#socketFolder, "http");
  }

  #cleanUp() {
    this.#proxy?.close();
    if (this.#socketFolder) rmSync(this.#socketFolder, { recursive: true, force: true });
    this.#options.lock.release();
  }
}

/** Returns the error about the setup in a line of the log, if any. */
function setupErrorIn(line) {
  if (!line.includes("SCRIP_SETUP cannot be used")) return undefined;
  try {
    return /SCRIP_SETUP cannot be used: .*/.exec(JSON.parse(line).error)?.[0];
  } catch {
    return undefined;
  }
}

async function isLive(url) {
  return fetch(`${url}/health/live`, { signal: AbortSignal.timeout(PROBE_MS) }).then((reply) => reply.ok, () => false);
}

async function waitUntilLive(url, child) {
  const latest = Date.now() + START_MS;
  while (Date.now() < latest) {
    if (await isLive(url)) return;
    const end = await Promise.race([child.ended, sleep(30)]);
    if (end !== undefined) throw new Remedy(`workerd ended at once (${end}); what it said stands above`);
  }
  throw new Remedy(`workerd gave no answer on ${url}/health/live within ${START_MS} ms`);
}

/** Throws when a port is taken: workerd would share it with the other process, and callers would reach either. */
function refuseTakenPort(port) {
  return new Promise((free, taken) => {
    const probe = createServer();
    probe.once("error", () => taken(new Remedy(`port ${port} is taken: end what listens there, or choose another one with PORT=...`)));
    probe.listen(port, "127.0.0.1", () => probe.close(free));
  });
}
