/** @jest-environment jsdom */
const { readFileSync, writeFileSync } = require("node:fs");
const util = require("node:util");
const scrip = require("@scrip-edge/page");
const { scenario } = require("./scenario.cjs");

test("the package decides in Jest with jsdom", async () => {
  expect(document.body).toBeDefined();
  // The package was loaded without these globals, and the scenario needs them.
  expect(globalThis.TextDecoder).toBeUndefined();
  Object.assign(globalThis, { TextDecoder: util.TextDecoder, TextEncoder: util.TextEncoder });
  const basket = JSON.parse(readFileSync(require.resolve("./basket.json"), "utf8"));
  writeFileSync("result.json", JSON.stringify(await scenario(scrip, basket)));
});
