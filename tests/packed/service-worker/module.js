import * as scrip from "./node_modules/@scrip-edge/page/browser.js";
import { scenario } from "./scenario.mjs";

self.addEventListener("message", (event) => {
  const decided = fetch("/basket.json").then((reply) => reply.json()).then((basket) => scenario(scrip, basket));
  event.waitUntil(decided.then((result) => event.source.postMessage({ result }), (error) => event.source.postMessage({ error: error.message })));
});
