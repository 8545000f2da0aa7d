// Implements `npm run conform`. A public tool reads /openapi.json of the released Worker and sends valid and invalid requests for every
// operation. No answer may be a server error, have a status or a type that is not described, or have a body that does not fit. It is no
// part of `npm test`, because it takes minutes. EXAMPLES= generates that many further requests for each operation, which takes hours with
// twenty; SEED= repeats them, SECONDS= limits them.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { buildAll } from "../../worker/tools/build.mjs";
import { main, print, root, run } from "../../worker/tools/console.mjs";
import { credentials } from "../../worker/tools/setup.mjs";
import { ensureToolchain } from "../../worker/tools/toolchain.mjs";
import { boot } from "../workerd/harness.mjs";

const REQUIREMENTS = "schemathesis==4.32.5\n";
const CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance"];
const out = join(root, "target/conformance");
const venv = join(out, "venv");

/** Installs the tool where it is missing, next to the build and nowhere else. */
async function install() {
  const stamp = join(venv, "wanted.txt");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === REQUIREMENTS) return;
  rmSync(venv, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  await run(process.env.SCRIP_PYTHON ?? "python3", ["-m", "venv", venv], { stdio: "inherit" });
  await run(join(venv, "bin/python"), ["-m", "pip", "install", "-q", "--disable-pip-version-check", REQUIREMENTS.trim()], { stdio: "inherit" });
  writeFileSync(stamp, REQUIREMENTS);
}

/** Waits for the first bundle: until it is built, its route answers 503, as described. */
async function awaitBundle(url) {
  const { id, token } = credentials.client;
  const headers = { "X-Client-Application-Id": id, "X-Client-Token": token, Origin: "http://localhost:3000" };
  for (const latest = Date.now() + 30_000; ; await sleep(100)) {
    const { status } = await fetch(`${url}/client/v1/bundle`, { headers });
    if (status === 200) return;
    if (Date.now() > latest) throw new Error(`the first bundle is not there after 30 s: ${status}`);
  }
}

await main(async () => {
  await ensureToolchain();
  if (process.env.BUILT !== "1") await buildAll();
  await install();
  const service = await boot({ testHooks: false });
  const header = (name, value) => ["--header", `${name}: ${value}`];
  try {
    await awaitBundle(service.url);
    await run(join(venv, "bin/schemathesis"), [
      "run", `${service.url}/openapi.json`, "--checks", CHECKS.join(","), "--continue-on-failure", "--seed", process.env.SEED ?? "1",
      ...(process.env.EXAMPLES ? ["--phases", "examples,coverage,fuzzing", "--max-examples", process.env.EXAMPLES] : ["--phases", "examples,coverage"]),
      "--warnings", "off",
      "--suppress-health-check", "all", ...(process.env.SECONDS ? ["--max-time", process.env.SECONDS] : []),
      ...header("X-App-Id", credentials.server.id), ...header("X-App-Token", credentials.server.token),
      ...header("X-Client-Application-Id", credentials.client.id), ...header("X-Client-Token", credentials.client.token),
      ...header("X-Management-Id", credentials.management.id), ...header("X-Management-Token", credentials.management.token),
      ...header("Origin", "http://localhost:3000"), ...process.argv.slice(2),
    ], { stdio: "inherit", cwd: out });
    print("no server error, and nothing that is not described");
  } finally {
    await service.stop();
  }
});
