// Runs as the process that a soak kills: it supervises workerd as `npm start` does, and sends the process id of workerd to its parent.
import { createWriteStream } from "node:fs";
import { serve } from "../../worker/tools/serve.mjs";

const { built, port, data, log } = JSON.parse(process.argv[2]);
const REPORT_MS = 50;
/** A soak kills workerd any number of times in a row, which a supervisor otherwise takes for a service that cannot start. */
const pausesMs = Array(10_000).fill(0);

const service = await serve({ built, port, data, log: createWriteStream(log, { flags: "a" }), pausesMs });
let reportedPid;
const reportPid = () => {
  if (service.pid !== reportedPid) process.send({ pid: (reportedPid = service.pid) });
};
reportPid();
setInterval(reportPid, REPORT_MS);
// Without its parent no process would end it.
process.on("disconnect", () => process.exit(0));
process.on("message", async () => {
  await service.stop();
  process.exit(0);
});
