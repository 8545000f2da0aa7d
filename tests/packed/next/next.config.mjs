// Configures where Next.js finds itself. The package needs no setting of its own.
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// The folder whose `node_modules` contains Next.js.
const root = join(dirname(createRequire(import.meta.url).resolve("next/package.json")), "../..");

export default { turbopack: { root } };
