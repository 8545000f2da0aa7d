import * as scrip from "scrip";
import basket from "./basket.json";
import { scenario } from "./scenario.mjs";

window.result = scenario(scrip, basket);
