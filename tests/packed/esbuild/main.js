import * as scrip from "@scrip-edge/page";
import basket from "./basket.json";
import { scenario } from "./scenario.mjs";

window.result = scenario(scrip, basket);
