// Decides how a test gets a running Worker: the built one, on plain workerd, with a data folder of its own.
// It must not know what the test asks of it.
import { createWriteStream, existsSync, mkdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtFolder } from "../../worker/tools/build.mjs";
import { serve } from "../../worker/tools/serve.mjs";
import { root } from "../../worker/tools/say.mjs";
import { managementHeaders, serverHeaders } from "../../worker/tools/setup.mjs";

/**
 * Starts the built Worker. Gives `{ url, data, pid, stop(), kill9(), restart() }`; `stop` also removes a data folder that
 * was made here. Without `port` a free one is taken; `rehearsal` is the build that obeys the tests' headers; `setup` takes
 * the place of the development's projects and keys.
 */
export async function boot({ rehearsal = true, port, data, setup, watch = false, silentMs } = {}) {
  const built = builtFolder(rehearsal);
  if (!existsSync(join(built, "modules/index.mjs"))) {
    throw new Error(`no built Worker in ${built}: run \`npm run build${rehearsal ? " -- --rehearsal" : ""}\` first`);
  }
  const own = data === undefined;
  const folder = data ?? (await mkdtemp(join(tmpdir(), "scrip-")));
  mkdirSync(join(root, "target/logs"), { recursive: true });
  const chosen = port ?? (await freePort());
  const log = createWriteStream(join(root, `target/logs/workerd-${chosen}.log`), { flags: "a" });
  const service = await serve({ built, port: chosen, data: folder, setup, log, watch, silentMs });
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

/** A port that nobody listens on now. */
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

/** A caller with the development's keys: `call(method, path, body?, headers?)` gives `{ status, body, headers, ms }`. */
export function caller(url) {
  return async (method, path, body, headers = {}) => {
    const keys = path.startsWith("/management/") ? managementHeaders : serverHeaders;
    const begun = performance.now();
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { ...keys, ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await reply.text();
    const parsed = text === "" ? undefined : JSON.parse(text);
    return { status: reply.status, body: parsed, headers: reply.headers, ms: performance.now() - begun };
  };
}
