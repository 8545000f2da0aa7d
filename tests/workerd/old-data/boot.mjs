// Starts a Worker that lives at another time than the machine.
import { fileURLToPath } from "node:url";
import { builtFolder } from "../../../worker/tools/build.mjs";
import { developmentText } from "../../../worker/tools/setup.mjs";
import { bootChanged, inFront } from "../harness.mjs";

const FRONT = ["front.mjs", "shifted_clock.mjs"].map((name) => fileURLToPath(new URL(name, import.meta.url)));

/** Starts the released Worker of `built` over a folder at a moment in milliseconds; `more` are further settings of `front.mjs`. */
export function bootShifted(folder, moment, { built = builtFolder(false), local = false, more = {} } = {}) {
  const settings = { offset: moment - Date.now(), ...more };
  return bootChanged(folder, inFront(built, FRONT, { settings }), { SCRIP_SETUP: developmentText() }, { built, local });
}
