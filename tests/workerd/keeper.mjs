// Serves the rehearsal Worker as `npm start` does once it has built, as a process of its own that a test may kill:
// node keeper.mjs {port} {folder} {pauses in ms, with commas}. Says `ready` and the id of workerd.
import { builtFolder } from "../../worker/tools/build.mjs";
import { main } from "../../worker/tools/say.mjs";
import { serve } from "../../worker/tools/serve.mjs";

await main(async () => {
  const [port, data, pauses] = process.argv.slice(2);
  const pausesMs = pauses.split(",").map(Number);
  const service = await serve({ built: builtFolder(true), port: Number(port), data, pausesMs });
  process.on("SIGTERM", async () => {
    await service.stop();
    process.exit(0);
  });
  console.log(`ready ${service.pid}`);
  throw await service.failed;
});
