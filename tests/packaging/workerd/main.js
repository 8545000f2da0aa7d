import * as scrip from "@scrip-edge/page";
import basket from "./basket.json";
import { scenario } from "./scenario.mjs";

export default {
  async fetch() {
    return Response.json(await scenario(scrip, basket));
  },
};
