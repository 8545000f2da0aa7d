// Tests that the bundle of a project follows settings that are changed through the management API, although no client requests its head.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "../wait.mjs";
import { ORIGIN, openFeed } from "./feed_fixtures.mjs";
import { boot, caller } from "./harness.mjs";
import { countTests } from "./test_report.mjs";

const check = countTests("changed settings");
let service;
let call;

before(async () => {
  service = await boot();
  call = caller(service.url);
});
after(() => service?.stop());

/** Creates a project with a trusted page; returns its path, and the key of its clients. */
async function project(name) {
  const settings = { name, case_sensitive_codes: true, timezone: "UTC", currency: "PLN", client_trusted_domains: [ORIGIN] };
  const { status, body } = await call("POST", "/management/v1/projects", settings);
  assert.equal(status, 200, JSON.stringify(body));
  const { app_id: id, app_token: token } = body.client_side_key;
  return { path: `/management/v1/projects/${body.id}`, key: { id, token } };
}

const claimsOf = (head) => JSON.parse(Buffer.from(head.split(".")[1], "base64url"));
const requestHead = ({ id, token }) =>
  call("GET", "/client/v1/bundle", undefined, { "x-client-application-id": id, "x-client-token": token, origin: ORIGIN });

async function change({ path }, settings) {
  const { status, body } = await call("PUT", path, settings);
  assert.equal(status, 200, JSON.stringify(body));
}

/** Waits for a head that is sent to pages after a revision; no call requests it. Returns its claims and its core. */
async function nextHead({ key }, rev) {
  const feed = await openFeed(service.url, { protocols: ["scrip", key.id, key.token] });
  const head = await waitUntil(() => feed.messages.find((sent) => claimsOf(sent).rev > rev), "the next head");
  feed.close();
  const claims = claimsOf(head);
  const core = await fetch(`${service.url}/client/v1/bundle/${claims.iss}/${claims.core}`);
  assert.equal(core.status, 200);
  return { claims, core: await core.json() };
}

check("pages are sent a head with each changed setting, and none is requested", async () => {
  const shop = await project("Pages");
  const first = await waitUntil(async () => {
    const { status, body } = await requestHead(shop.key);
    return status === 200 && claimsOf(body);
  }, "the first head");
  await change(shop, { timezone: "Europe/Berlin" });
  const moved = await nextHead(shop, first.rev);
  assert.equal(moved.core.time_zone.name, "Europe/Berlin");
  await change(shop, { timezone: "UTC" });
  const back = await nextHead(shop, moved.claims.rev);
  assert.deepEqual([back.core.time_zone.name, back.claims.core], ["UTC", first.core]);
});

check("a change builds no bundle that no client has requested", async () => {
  const shop = await project("Server only");
  await change(shop, { timezone: "Europe/Berlin" });
  await sleep(2_000);
  const { status, body } = await requestHead(shop.key);
  assert.deepEqual([status, body.key], [503, "bundle_not_ready"]);
});
