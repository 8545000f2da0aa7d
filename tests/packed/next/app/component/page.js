import * as scrip from "@scrip-edge/page";
import basket from "../../basket.json";
import { scenario } from "../../scenario.mjs";

export const dynamic = "force-dynamic";

/** A server component: what it renders has the verdicts. */
export default async function Component() {
  const text = JSON.stringify(await scenario(scrip, basket)).replaceAll("<", "\\u003c");
  return <script type="application/json" dangerouslySetInnerHTML={{ __html: text }} />;
}
