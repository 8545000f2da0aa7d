// Builds what `npm test` tests: the npm package, the Worker with test hooks and the released Worker.
import { buildAll, buildWorker } from "../worker/tools/build.mjs";

try {
  await buildAll({ testHooks: true });
  await buildWorker();
} catch (error) {
  console.error(`the build failed: ${error.message}`);
  process.exitCode = 1;
}
