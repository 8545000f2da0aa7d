// Implements `npm run dev`: a build, then `wrangler dev` over the built Worker. It is slower than `npm start`, and nearer to Cloudflare's
// own simulator.
import { join } from "node:path";
import { main, root, run } from "./console.mjs";
import { ensureToolchain } from "./toolchain.mjs";

await main(async () => {
  await ensureToolchain();
  const { buildAll } = await import("./build.mjs");
  await buildAll();
  const { setupText } = await import("./setup.mjs");
  const args = ["dev", "-c", "worker/wrangler.toml", "--persist-to", ".wrangler/state", "--port", process.env.PORT ?? "8787", "--var", `SCRIP_SETUP:${setupText()}`, "--var", "SCRIP_LOCAL:true"];
  const env = { WRANGLER_SEND_METRICS: "false" };
  await run(join(root, "node_modules/.bin/wrangler"), [...args, ...process.argv.slice(2)], { stdio: "inherit", env });
});
