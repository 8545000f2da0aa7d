// Combines workerd, the Worker and its configuration into one program:
//   worker/build/scrip-server --directory-path=objects=<folder> --directory-path=assets=worker/build/assets
// with SCRIP_SETUP in its environment. It serves the same code as `npm start`, without Node. It has no supervisor, no lock of its folder
// and no strict HTTP proxy before it.
import { spawn } from "node:child_process";
import { chmodSync, createWriteStream } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { writeConfig } from "./config.mjs";
import { print, Remedy, root } from "./console.mjs";

export async function writeExecutable(built) {
  const path = join(built, "scrip-server");
  const workerd = createRequire(join(root, "package.json"))("workerd").default;
  const child = spawn(workerd, ["compile", writeConfig(built)], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise((done) => child.on("close", done));
  await pipeline(child.stdout, createWriteStream(path));
  const code = await ended;
  if (code !== 0) throw new Remedy(`workerd compile ended with ${code}`);
  chmodSync(path, 0o755);
  print(`${path} is ready`);
}
