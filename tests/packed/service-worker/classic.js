importScripts("/node_modules/@scrip-edge/page/script.js", "/scenario.js");

// The first script sets `scrip`, the second one `scenario`.

self.addEventListener("message", (event) => {
  const loaded = scrip.load("/node_modules/@scrip-edge/page/scrip.wasm");
  const decided = loaded.then(() => fetch("/basket.json")).then((reply) => reply.json()).then((basket) => scenario.scenario(scrip, basket));
  event.waitUntil(decided.then((result) => event.source.postMessage({ result }), (error) => event.source.postMessage({ error: error.message })));
});
