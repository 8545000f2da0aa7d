// Tests the installed package in an ES module.
import { readFileSync } from "node:fs";
import * as scrip from "@scrip-edge/page";
import { scenario } from "./scenario.mjs";

const basket = JSON.parse(readFileSync(new URL("./basket.json", import.meta.url), "utf8"));
console.log(JSON.stringify(await scenario(scrip, basket)));
