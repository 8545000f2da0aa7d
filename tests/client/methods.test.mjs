// Tests every method of the unmodified official client whose operation exists against a local Scrip. Each is called in the flow of its
// area, and the calls are compared with the methods of the client.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { after, before } from "node:test";
import { credentials, developmentText, managementHeaders } from "../../worker/tools/setup.mjs";
import { boot } from "../workerd/harness.mjs";
import { countTests } from "../workerd/test_report.mjs";
import { collections, limits, products, project } from "./flows/catalogue.mjs";
import { campaigns, distributions, vouchers } from "./flows/vouchers.mjs";
import { decisions, promotions, rules } from "./flows/decisions.mjs";
import { loyalties, rewards } from "./flows/loyalty.mjs";
import { page } from "./flows/client_side.mjs";
import { consents, customers, orders, segments } from "./flows/customers.mjs";
import { methodsOf, recorded } from "./recorder.mjs";

const { VoucherifyClientSide, VoucherifyServerSide } = createRequire(import.meta.url)("@voucherify/sdk");

/** Methods that name an operation which the API does not have. */
const ABSENT = new Map([
  ["loyalties.getMemberActivities", "GET /loyalties/{id}/members/{id}/activities is no operation of the interface; `activity` is"],
  ["validationRules.validate", "POST /validation-rules/{id}/validation is no operation of the interface"],
  ["apiLimitsHandler.getLastResponseHeadersFromController", "no call of the service"],
]);

const check = countTests("methods of the client");
const answered = { server: new Set(), page: new Set() };
let service;
let plain;
let server;
let client;

before(async () => {
  // Limits that are never reached here; every answer reports the rest of them.
  const setup = JSON.parse(developmentText());
  const plenty = { api_calls: { key: { calls: 100_000, seconds: 60 } }, bulk_api_calls: { key: { calls: 100_000, seconds: 60 } } };
  setup.projects[0].rate_limits = { server: plenty, client: plenty };
  service = await boot({ testHooks: false, setup: JSON.stringify(setup) });
  plain = {
    server: VoucherifyServerSide({
      apiUrl: service.url, applicationId: credentials.server.id, secretKey: credentials.server.token, exposeResponseHeaders: true,
    }),
    page: VoucherifyClientSide({
      apiUrl: service.url, clientApplicationId: credentials.client.id, clientSecretKey: credentials.client.token,
      origin: "http://localhost:3000", trackingId: "shopper-1",
    }),
  };
  server = recorded(plain.server, answered.server);
  client = recorded(plain.page, answered.page);
});
after(() => service?.stop());

async function manage(method, path, body) {
  const reply = await fetch(`${service.url}/management/v1/projects/proj_dev${path}`, { method, headers: managementHeaders, body: JSON.stringify(body) });
  assert.equal(reply.status, 200, await reply.clone().text());
  return reply.json();
}

for (const flow of [campaigns, vouchers, distributions, decisions, promotions, rules, customers, consents, segments, orders, products, collections, loyalties, rewards]) {
  check(`the server's ${flow.name}`, () => flow(server, manage));
}
check("the server's project", () => project(server, manage));
check("the server's limits", () => limits(server));
check("the page", () => page(client, server, manage));

for (const side of ["server", "page"]) {
  check(`every method of the ${side} was answered`, () => {
    // The same group under two names.
    const asCalled = (name) => name.replace(/^validations\.promotions\./, "promotions.");
    const missing = methodsOf(plain[side]).filter((name) => !answered[side].has(asCalled(name)) && !ABSENT.has(name));
    assert.deepEqual(missing, []);
    const stale = [...ABSENT.keys()].filter((name) => answered[side].has(name));
    assert.deepEqual(stale, [], "what is called is not absent");
  });
}
