// Starts a Worker for a test: the built one, on plain workerd, with a data folder of its own.
import { spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { builtFolder } from "../../worker/tools/build.mjs";
import { serveFlags, writeConfig } from "../../worker/tools/config.mjs";
import { serve } from "../../worker/tools/serve.mjs";
import { root } from "../../worker/tools/console.mjs";
import { managementHeaders, serverHeaders } from "../../worker/tools/setup.mjs";

/**
 * Starts the built Worker. Returns `{ url, data, pid, stop(), kill9(), restart() }`; `stop` also removes a data folder that was made here.
 * Without `port` a free one is taken. `testHooks` selects the build that obeys the tests' headers. `setup` replaces the development's
 * projects and keys, and with `edgeSecret` the entry answers by copies of the rules. Unless `local` is false webhooks may go to the local machine. With `ailing` the service starts even when it is not
 * healthy. The tests and measurements use the Worker itself; with `bare: false` it runs behind the proxy of `npm start`.
 */
export async function boot({ testHooks = true, port, data, setup, metricsToken, edgeSecret, watch = false, silentMs, ailing, bare = true, local } = {}) {
  const built = builtFolder(testHooks);
  if (!existsSync(join(built, "modules/index.mjs"))) {
    throw new Error(`no built Worker in ${built}: run \`npm run build${testHooks ? " -- --test-hooks" : ""}\` first`);
  }
  const own = data === undefined;
  const folder = data ?? (await mkdtemp(join(tmpdir(), "scrip-")));
  mkdirSync(join(root, "target/logs"), { recursive: true });
  const chosen = port ?? (await freePort());
  const log = createWriteStream(join(root, `target/logs/workerd-${chosen}.log`), { flags: "a" });
  const service = await serve({ built, port: chosen, data: folder, setup, metricsToken, edgeSecret, log, watch, silentMs, ailing, bare, local });
  return {
    url: service.url,
    data: folder,
    log: log.path,
    get pid() {
      return service.pid;
    },
    kill9: () => service.kill9(),
    restart: () => service.restart(),
    async stop() {
      await service.stop();
      if (own) await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Starts plain workerd over a changed configuration of the built Worker, whose data lies in `folder`; `env` has the setups. With `local` webhooks
 * may go to the local machine. Returns `{ url, pid, output(), stop() }`; `stop` is sudden.
 */
export async function bootChanged(folder, change, env = {}, { built = builtFolder(true), local = false } = {}) {
  const config = await readFile(writeConfig(built, { local }), "utf8");
  const path = join(folder, "changed.capnp");
  await writeFile(path, change(config).replaceAll('embed "', `embed "${relative(folder, built)}/`));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const flags = serveFlags({ address: `127.0.0.1:${port}`, data: folder, assets: join(built, "assets") });
  const workerd = createRequire(join(root, "package.json"))("workerd").default;
  const child = spawn(workerd, ["serve", ...flags, path], { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const exited = new Promise((done) => child.once("exit", done));
  const stop = async () => {
    child.kill("SIGKILL");
    await exited;
  };
  for (const latest = Date.now() + 120_000; !(await fetch(`${url}/openapi.json`).then((reply) => reply.ok, () => false)); ) {
    if (Date.now() < latest && child.exitCode === null) await sleep(50);
    else throw await stop().then(() => new Error(`workerd did not start: ${output}`));
  }
  return { url, pid: child.pid, output: () => output, stop };
}

/**
 * Returns a change for `bootChanged` that puts modules in front of those of the Worker, which stay as they are: the first of `files` becomes
 * the main module. Each value of `settings` becomes a module of JSON by its name.
 */
export function inFront(built, files, settings = {}) {
  const first = '(name = "index.mjs"';
  const modules = [
    ...files.map((file) => `(name = "${basename(file)}", esModule = embed "${relative(built, file)}")`),
    ...Object.entries(settings).map(([name, value]) => `(name = "${name}.json", json = "${JSON.stringify(value).replaceAll('"', '\\"')}")`),
  ];
  return (config) => {
    if (!config.includes(first)) throw new Error("the configuration names no index.mjs");
    return config.replace(first, `${modules.map((module) => `${module},\n    `).join("")}${first}`);
  };
}

/** The headers of a page with a body, from an origin that the development's project allows. */
export const pageHeaders = {
  "content-type": "application/json", "x-client-application-id": "dev-client", "x-client-token": "dev-client-token",
  origin: "http://localhost:3000",
};

/** Moves the files of the projects' objects up in their data folder, while the service is stopped, so that none can be opened any more. */
export async function breakProjectObjects(folder) {
  const objects = join(folder, "scrip-project");
  for (const name of await readdir(objects)) {
    if (name.startsWith("metadata")) continue;
    await rename(join(objects, name), join(folder, name));
    await mkdir(join(objects, name));
  }
}

/** Returns a port without a listener. */
export function freePort() {
  return new Promise((done, failed) => {
    const probe = createServer();
    probe.once("error", failed);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => done(port));
    });
  });
}

/** Returns a caller with the development's keys: `call(method, path, body?, headers?)` gives `{ status, body, headers, ms }`. */
export function caller(url) {
  return async (method, path, body, headers = {}) => {
    const keys = path.startsWith("/management/") ? managementHeaders : serverHeaders;
    const startedAt = performance.now();
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { ...keys, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await reply.text();
    // The head of a bundle is a JWS.
    const isText = reply.headers.get("content-type")?.startsWith("application/jose");
    const parsed = text === "" ? undefined : isText ? text : JSON.parse(text);
    return { status: reply.status, body: parsed, headers: reply.headers, ms: performance.now() - startedAt };
  };
}
