// Runs a Worker of the benches on plain workerd, on 127.0.0.1.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../tests/workerd/harness.mjs";

/** Serves a configuration of `benches/edge` with further flags, and resolves when the Worker answers. */
export async function serve(name, flags = []) {
  const port = await freePort();
  const config = fileURLToPath(new URL(`edge/${name}.capnp`, import.meta.url));
  const workerd = createRequire(import.meta.url)("workerd").default;
  const child = spawn(workerd, ["serve", `--socket-addr=http=127.0.0.1:${port}`, ...flags, config], { stdio: ["ignore", "inherit", "inherit"] });
  const gone = new Promise((done) => child.on("exit", done));
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  const url = `http://127.0.0.1:${port}`;
  for (let tries = 0; !(await fetch(`${url}/health`).then((reply) => reply.ok, () => false)); tries++) {
    if (tries > 200 || child.exitCode !== null) throw new Error(`the Worker of ${name}.capnp does not answer`);
    await sleep(30);
  }
  return {
    url,
    pid: child.pid,
    async stop() {
      process.off("exit", kill);
      kill();
      await gone;
    },
  };
}
