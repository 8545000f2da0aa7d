// Serves the Worker with test hooks as `npm start` does after its build, as a process of its own that a test may kill. Prints `ready` and the id
// of workerd.
//
// node process_supervisor.mjs {port} {folder} {pauses in ms, with commas}
import { builtFolder } from "../../worker/tools/build.mjs";
import { main } from "../../worker/tools/console.mjs";
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
