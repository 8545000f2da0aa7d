// Decides what the process does that a soak kills: it keeps workerd as `npm start` does, and tells its parent which process that is.
// It must not know what is asked of the service.
import { createWriteStream } from "node:fs";
import { serve } from "../../worker/tools/serve.mjs";

const { built, port, data, log } = JSON.parse(process.argv[2]);
const TELL_MS = 50;

const service = await serve({ built, port, data, log: createWriteStream(log, { flags: "a" }) });
let told;
const tell = () => {
  if (service.pid !== told) process.send({ pid: (told = service.pid) });
};
tell();
setInterval(tell, TELL_MS);
// Without its parent nobody would end it.
process.on("disconnect", () => process.exit(0));
process.on("message", async () => {
  await service.stop();
  process.exit(0);
});
