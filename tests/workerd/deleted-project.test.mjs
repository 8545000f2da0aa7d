// Tests that the access to a project ends with it: keys, recently accepted tokens, and the object with its data.
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before } from "node:test";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("projects that end");
let worker;
let call;
before(async () => {
  worker = await boot({ testHooks: false });
  call = caller(worker.url);
});
after(() => worker?.stop());

/** Creates a project; returns it with its server key. */
async function project(name) {
  const made = await call("POST", "/management/v1/projects", { name, case_sensitive_codes: true, timezone: "UTC", currency: "PLN" });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { app_id: id, app_token: token } = made.body.server_side_key;
  return { id: made.body.id, headers: { "x-app-id": id, "x-app-token": token } };
}

async function bearer(headers) {
  const made = await call("POST", "/v1/oauth/token", { grant_type: "client_credentials", scope: "api" }, { "content-type": "application/json", ...headers });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  return { authorization: `Bearer ${made.body.access_token}` };
}

const callService = (headers, method = "GET", path = "/v1/customers", body) =>
  fetch(`${worker.url}${path}`, { method, headers: { "content-type": "application/json", ...headers }, body: body && JSON.stringify(body) });

check("tokens end with their key, at once where that is deleted", async () => {
  const shop = await project("Keys");
  const made = await call("POST", `/management/v1/projects/${shop.id}/keys`, { class: "server", name: "till" });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const { id, app_id, app_token } = made.body;
  const key = { "x-app-id": app_id, "x-app-token": app_token };
  const token = await bearer(key);
  assert.equal((await callService(token)).status, 200);
  assert.equal((await call("DELETE", `/management/v1/projects/${shop.id}/keys/${id}`)).status, 204);
  assert.equal((await callService(key)).status, 401);
  assert.equal((await callService(token)).status, 401);
  assert.equal((await callService(shop.headers)).status, 200);
});

check("no caller can write into a deleted project, also after a restart of the service", async () => {
  const shop = await project("Gone");
  const token = await bearer(shop.headers);
  assert.equal((await callService(token, "POST", "/v1/customers", { source_id: "before", name: "Zenobia Before" })).status, 200);
  assert.equal((await call("DELETE", `/management/v1/projects/${shop.id}`)).status, 204);
  for (const headers of [token, shop.headers]) {
    assert.equal((await callService(headers, "POST", "/v1/customers", { source_id: "after", name: "Zenobia After" })).status, 401);
    assert.equal((await callService(headers)).status, 401);
  }
  assert.equal((await call("DELETE", `/management/v1/projects/${shop.id}`)).status, 204);
  await worker.kill9();
  await worker.restart();
  assert.equal((await callService(token, "POST", "/v1/customers", { source_id: "after", name: "Zenobia After" })).status, 401);
  const files = (await readdir(worker.data, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  for (const file of files) {
    const bytes = await readFile(join(file.parentPath ?? file.path, file.name));
    assert.ok(!bytes.includes("Zenobia After"), `${file.name} holds what was written after the end`);
  }
});

check("requests that wait while their project is deleted are all answered, and later ones write nothing", async () => {
  const shop = await project("Busy");
  const write = (at) => callService(shop.headers, "POST", "/v1/customers", { source_id: `busy-${at}`, name: "Balthazar Busy" });
  const calls = Array.from({ length: 80 }, (_, at) => (at === 20 ? call("DELETE", `/management/v1/projects/${shop.id}`) : write(at)));
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  assert.equal(statuses[20], 204);
  for (const status of statuses) assert.ok([200, 204, 401].includes(status), `${status}`);
  assert.equal((await write("after")).status, 401);
  await worker.kill9();
  await worker.restart();
  assert.equal((await write("after a start")).status, 401);
});
