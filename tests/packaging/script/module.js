import * as scrip from "./node_modules/@scrip-edge/page/browser.js";
import { scenario } from "./scenario.mjs";

window.result = fetch("basket.json").then((reply) => reply.json()).then((basket) => scenario(scrip, basket));
