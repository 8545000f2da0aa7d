import * as scrip from "@scrip-edge/page";
import basket from "../../basket.json";
import { scenario } from "../../scenario.mjs";

export const dynamic = "force-dynamic";

export async function GET() {
  return Response.json(await scenario(scrip, basket));
}
