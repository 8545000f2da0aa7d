// Tests that /docs shows the description in a real browser, only from files of the service, and that a request can be sent from it.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { boot } from "../workerd/harness.mjs";
import { launch, missing } from "./chromium.mjs";
import { countTests } from "./test_report.mjs";

const why = missing();
const check = countTests("browser");
let service;
let browser;

before(async () => {
  if (why) return;
  service = await boot();
  browser = await launch({ viewport: { width: 1280, height: 900 }, locale: "en-GB" });
}, { timeout: 300_000 });

after(async () => {
  await browser?.close();
  await service?.stop();
});

check("the description is shown, and a request is sent from it", async () => {
  const page = await browser.context.newPage();
  const complaints = [];
  const foreign = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("request", (request) => {
    if (!request.url().startsWith(service.url) && !request.url().startsWith("data:")) foreign.push(request.url());
  });
  await page.goto(`${service.url}/docs`);
  const described = await (await fetch(`${service.url}/openapi.json`)).json();
  await page.locator(".opblock-tag").first().waitFor({ timeout: 60_000 });
  assert.equal(await page.locator(".opblock-tag").count(), described.tags.length, "every area has its heading");

  await page.locator("#operations-tag-Categories").click();
  const operation = page.locator("#operations-Categories-createCategory");
  await operation.locator(".opblock-summary").click();
  await operation.locator("textarea.body-param__text").fill('{ "name": "From the page", "hierarchy": 3 }');
  await operation.locator("button.execute").click();
  const answer = operation.locator(".live-responses-table .response-col_description pre").first();
  await answer.waitFor();
  assert.match(await answer.textContent(), /"name": "From the page"/);
  const headers = { "X-App-Id": "dev-app", "X-App-Token": "dev-token" };
  const { data } = await (await fetch(`${service.url}/v1/categories`, { headers })).json();
  assert.equal(data.some(({ name }) => name === "From the page"), true, "it was really made");

  assert.deepEqual(complaints, []);
  assert.deepEqual(foreign, [], "no other host is called");
}, why);
