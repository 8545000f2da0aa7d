// Helps all flows of the official client: unused names, waiting for deferred work, files to import.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitForSuccess } from "../../wait.mjs";
import { fresh } from "../../workerd/redemption_fixtures.mjs";

export { fresh, waitForSuccess };

export const order = { amount: 20_000, items: [{ product_id: "prod_boot", quantity: 2, price: 10_000 }] };

/** Waits for an async action; returns its result. */
export async function done(server, { async_action_id: id }) {
  return waitForSuccess(async () => {
    const action = await server.asyncActions.get(id);
    assert.equal(action.status, "DONE", JSON.stringify(action));
    return action.result;
  });
}

/** Returns the path of a file with this text, for an import. */
export async function file(name, text) {
  const path = join(await mkdtemp(join(tmpdir(), "scrip-client-")), name);
  await writeFile(path, text);
  return path;
}

/** Creates a custom event that the project knows; `manage` calls with its management key. */
export async function eventNamed(manage) {
  const name = fresh("looked_around_");
  await manage("POST", "/custom-event-schemas", { name, schema: { properties: {} } });
  return name;
}
