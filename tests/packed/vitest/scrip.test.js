import { writeFileSync } from "node:fs";
import * as scrip from "@scrip-edge/page";
import { expect, test } from "vitest";
import basket from "./basket.json";
import { scenario } from "./scenario.mjs";

test("the package decides in Vitest", async () => {
  const result = await scenario(scrip, basket);
  expect(result.hash).toHaveLength(64);
  writeFileSync("result.json", JSON.stringify(result));
});
