// Implements `npm start`: install missing packages, build, serve on plain workerd, seed, print the addresses.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { main, print, Remedy, root, step } from "./console.mjs";
import { ensureToolchain } from "./toolchain.mjs";

await main(async () => {
  const port = readPort(process.env.PORT ?? "8787");
  const data = resolve(root, process.env.SCRIP_DATA ?? ".scrip");
  refuseUnreadableSetup(process.env.SCRIP_SETUP);
  await ensureToolchain();
  const { buildAll } = await import("./build.mjs");
  const built = await buildAll();
  const { serve } = await import("./serve.mjs");
  const { developmentMetricsToken } = await import("./setup.mjs");
  const own = process.env.SCRIP_SETUP === undefined ? developmentMetricsToken : undefined;
  const metricsToken = process.env.SCRIP_METRICS_TOKEN ?? own;
  const local = process.env.SCRIP_LOCAL !== "false";
  const service = await step("starting", () => serve({ built, port, data: join(data, "objects"), metricsToken, local }));
  endOnSignal(service);
  await seedOnce(service.url, data);
  await printWelcome(service.url, data);
  throw await service.failed;
});

function readPort(text) {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Remedy(`PORT is \`${text}\`: it must be a whole number from 1 to 65535`);
}

/** Refuses a setup that is not JSON before the build. The service itself checks the contents when it starts, and names the error. */
function refuseUnreadableSetup(text) {
  if (text === undefined) return;
  const otherwise = "write projects and keys as in worker/tools/setup.mjs, or unset it for the development project";
  if (text.trim() === "") throw new Remedy(`SCRIP_SETUP is empty: ${otherwise}`);
  try {
    JSON.parse(text);
  } catch (error) {
    throw new Remedy(`SCRIP_SETUP is not JSON (${error.message}): ${otherwise}`);
  }
}

/** Ends workerd on Ctrl-C and SIGTERM; a second signal does not wait for it. */
function endOnSignal(service) {
  let ending = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, async () => {
      if (ending) await service.kill9();
      else {
        ending = true;
        print("ending");
        await service.stop();
      }
      process.exit(0);
    });
  }
}

/** Seeds the demo once for each data folder; not with credentials of the operator's own. */
async function seedOnce(url, data) {
  if (process.env.SCRIP_SETUP) return;
  const { SEEDED, seed } = await import("./seed.mjs");
  const mark = join(data, "seeded");
  if (existsSync(mark) && readFileSync(mark, "utf8").trim() === SEEDED) return;
  await step("making the demo's campaigns and its points program", () => seed(url));
  mkdirSync(data, { recursive: true });
  writeFileSync(mark, `${SEEDED}\n`);
}

async function printWelcome(url, data) {
  const { credentials, developmentMetricsToken } = await import("./setup.mjs");
  const { server, client, management } = credentials;
  console.log(`
  Scrip is ready

    demo        ${url}/             a member's card: ${url}/member.html
    API         ${url}/v1/...       interface: ${url}/openapi.json
    data        ${data}
`);
  if (process.env.SCRIP_SETUP) return;
  console.log(`  Development credentials (project proj_dev), for this machine only

    server      X-App-Id: ${server.id}                     X-App-Token: ${server.token}
    page        X-Client-Application-Id: ${client.id}   X-Client-Token: ${client.token}
    management  X-Management-Id: ${management.id}       X-Management-Token: ${management.token}
    metrics     ${url}/metrics with Authorization: Bearer ${process.env.SCRIP_METRICS_TOKEN ?? developmentMetricsToken}

  Ctrl-C ends it.
`);
}
