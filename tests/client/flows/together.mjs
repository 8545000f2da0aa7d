// Decides what all flows of the official client share: names that nobody used, waiting for what is done later, files to import.
import assert from "node:assert/strict";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fresh } from "../../workerd/shop.mjs";

export { fresh };

export const order = { amount: 20_000, items: [{ product_id: "prod_boot", quantity: 2, price: 10_000 }] };

/** Looks again until what is looked for is there. */
export async function eventually(look, patience = 30_000) {
  const latest = Date.now() + patience;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() > latest) throw error;
      await sleep(100);
    }
  }
}

/** Waits for an async action; gives its result. */
export async function done(server, { async_action_id: id }) {
  return eventually(async () => {
    const action = await server.asyncActions.get(id);
    assert.equal(action.status, "DONE", JSON.stringify(action));
    return action.result;
  });
}

/** The path of a file with this text, as shops have their imports. */
export async function file(name, text) {
  const path = join(await mkdtemp(join(tmpdir(), "scrip-client-")), name);
  await writeFile(path, text);
  return path;
}

/** A custom event that the project knows; `manage` asks with its management key. */
export async function eventNamed(manage) {
  const name = fresh("looked_around_");
  await manage("POST", "/custom-event-schemas", { name, schema: { properties: {} } });
  return name;
}
