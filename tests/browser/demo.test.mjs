// Tests the demo page in a real browser against the real service on workerd: verdicts in the page and the same bytes from the service. It
// also covers work without a network, a code that is published and redeemed, and the keyboard.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { waitUntil } from "../wait.mjs";
import { boot } from "../workerd/harness.mjs";
import { launch, missing } from "./chromium.mjs";
import { countTests } from "./test_report.mjs";

const why = missing();
const check = countTests("browser");

let service;
let browser;
let open;
let early;
let closed;
let less;
let sealed;

before(async () => {
  if (why) return;
  // Through the proxy, which makes the tokens that prove the demo's customer.
  service = await boot({ bare: false });
  const tenth = { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ORDER" };
  const five = { type: "AMOUNT", amount_off: 500, effect: "APPLY_TO_ORDER" };
  open = await campaign("Open house", "OPEN-10", tenth);
  early = await campaign("Next century", "NEXT-100", five, { start_date: "2100-01-01T00:00:00Z" });
  closed = await campaign("Another day", "OTHER-DAY-5", five, { validity_day_of_week: [(new Date().getUTCDay() + 3) % 7] });
  less = await campaign("Five off", "LESS-5", five);
  sealed = await campaign("Under seal", "SEALED-5", five, { visibility: "sealed" });
  await campaign("Members only", "MEMBER-########", five, { type: "AUTO_UPDATE" });
  await buildBundle();
  browser = await launch({ viewport: { width: 1180, height: 900 }, locale: "en-GB", colorScheme: "light" });
}, { timeout: 600_000 });

after(async () => {
  await browser?.close();
  await service?.stop();
});

/** Calls the service as a shop's server does; an answer that is an error fails the test with its text. */
async function callService(method, path, body) {
  const headers = { "X-App-Id": "dev-app", "X-App-Token": "dev-token", "Content-Type": "application/json" };
  const response = await fetch(service.url + path, { method, headers, body: body && JSON.stringify(body) });
  const text = await response.text();
  assert.ok(response.ok, `${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

/** Requests the bundle until it is built, with goods and the boxes of sealed codes: the first call of a project is answered 503, which a browser reports as an error. */
async function buildBundle() {
  const headers = { "X-Client-Application-Id": "dev-client", "X-Client-Token": "dev-client-token", Origin: service.url };
  for (let left = 600; left > 0; left -= 1) {
    const answer = await fetch(`${service.url}/client/v1/bundle`, { headers });
    const head = await answer.text();
    if (answer.status === 200) {
      const { left_out } = JSON.parse(Buffer.from(head.split(".")[1], "base64url"));
      if (!left_out.includes("codes") && !left_out.includes("goods")) return;
    } else assert.equal(answer.status, 503);
    await new Promise((done) => setTimeout(done, 50));
  }
  assert.fail("the bundle was not built within 30 s");
}

/** Creates a campaign; returns its code when it is a standalone one. Codes of other campaigns can be used once. */
async function campaign(name, pattern, discount, more = {}) {
  const type = more.type ?? "STANDALONE";
  const redemption = { quantity: type === "STANDALONE" ? null : 1 };
  const voucher = { type: "DISCOUNT_VOUCHER", discount, redemption, code_config: { pattern } };
  const { id } = await callService("POST", "/v1/campaigns", { name, type, campaign_type: "DISCOUNT_COUPONS", voucher, ...(type === "STANDALONE" ? { visibility: "public" } : {}), ...more });
  if (type !== "STANDALONE") return undefined;
  const { vouchers } = await callService("GET", "/v1/vouchers?limit=100");
  return vouchers.find((each) => each.campaign_id === id).code;
}

/** Opens the page in a new tab, ready to decide; returns it with its requests and its errors. */
async function visit(size) {
  const page = await browser.context.newPage();
  if (size) await page.setViewportSize(size);
  const requests = [];
  const complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  await page.goto(`${service.url}/`);
  await page.waitForSelector("body[data-ready=true]");
  assert.equal(await page.getAttribute("#rules", "data-state"), "done", await page.textContent("#rules"));
  const text = async (selector) => (await page.textContent(selector)).trim();
  return { page, requests, complaints, text };
}

const state = (page, code) => page.locator("#verdicts li", { hasText: code }).getAttribute("data-state");
const settled = (page, name) => page.waitForSelector(`#equality[data-state=${name}]`, { timeout: 120_000 });

check("a code is decided while it is typed, with amounts and with the time of the decision", async () => {
  const { page, complaints, text } = await visit();
  assert.equal(await text("#before"), "€104.70");
  await page.locator("#code").pressSequentially(open.slice(0, -1));
  assert.equal(await state(page, open.slice(0, -1)), "unknown");
  assert.equal(await text("#total"), "€104.70");
  await page.locator("#code").pressSequentially(open.slice(-1));
  assert.equal(await state(page, open), "applicable");
  assert.equal(await text("#total"), "€94.23");
  assert.equal(await text("#was"), "€104.70");
  assert.match(await text("#verdicts"), /−€10\.47/);
  assert.match(await text("#micros"), /^[\d.,]+$/);
  assert.deepEqual(complaints, []);
  await page.close();
}, why);

check("a sealed code is decided as soon as its box is opened", async () => {
  const { page, complaints } = await visit();
  await page.fill("#code", sealed);
  await page.waitForSelector(`#verdicts li[data-state=applicable]:has-text("${sealed}")`, { timeout: 120_000 });
  await settled(page, "identical");
  assert.deepEqual(complaints, []);
  await page.close();
}, why);

check("an edit of the cart is decided at once; an input that is no number is reported and not sent", async () => {
  const { page, requests, text } = await visit();
  await page.fill("#code", open);
  await settled(page, "identical");
  await page.click(".line:nth-child(2) .more");
  assert.equal(await text("#before"), "€119.20");
  assert.equal(await text("#total"), "€107.28");
  await page.fill(".line:nth-child(1) .price", "12,34");
  assert.equal(await text("#before"), "€82.54");
  await settled(page, "identical");
  const sent = requests.length;
  await page.fill(".line:nth-child(1) .price", "twelve");
  assert.equal(await page.getAttribute(".line:nth-child(1) .price", "aria-invalid"), "true");
  assert.match(await text("#summary"), /not a number/);
  await page.waitForTimeout(700);
  assert.equal(requests.length, sent);
  await page.close();
}, why);

const SAME = {
  "a discount": () => open, "two on top of each other": () => `${open} ${less}`, "a refusal": () => closed,
  "a discount and a refusal": () => `${open} ${closed}`,
};
for (const [name, codes] of Object.entries(SAME)) {
  check(`the page's answer is the edge's, byte for byte: ${name}`, async () => {
    const { page, text } = await visit();
    const [last, ...stacked] = codes().split(" ").reverse();
    for (const code of stacked) {
      await page.fill("#code", code);
      await page.press("#code", "Enter");
      await settled(page, "identical");
    }
    const answered = page.waitForResponse((response) => response.url().endsWith("/client/v1/validations"));
    await page.fill("#code", last);
    const response = await answered;
    const bytes = await response.body();
    await settled(page, "identical");
    assert.match(await text("#equality"), new RegExp(`^Identical: ${bytes.length.toLocaleString("en-GB")} bytes`));
    // The page could be wrong about itself, so the same answer is computed here, from the packed files in Node.
    const scrip = await import("../../pkg/node.js");
    const token = response.request().headers()["x-customer-token"];
    const shop = await scrip.open({ url: service.url, key: { id: "dev-client", token: "dev-client-token" }, origin: service.url, customer: () => token, poll: false });
    const context = JSON.parse(response.headers()["scrip-context"]);
    const sentText = response.request().postData();
    // Until the supplement of the customer is there, a verdict leaves out the tracking id and says so.
    let own;
    await waitUntil(async () => (own = await shop.check(sentText, context)).omitted.length === 0, "a verdict with the tracking id");
    shop.close();
    assert.equal(own.text, bytes.toString("utf8"));
    await page.close();
  }, why);
}

check("a valid code stays on the cart when another one is refused", async () => {
  const { page, text } = await visit();
  await page.fill("#code", open);
  await page.press("#code", "Enter");
  await page.fill("#code", closed);
  assert.equal(await state(page, open), "applicable");
  assert.equal(await state(page, closed), "inapplicable");
  assert.equal(await text("#total"), "€94.23");
  await settled(page, "identical");
  await page.close();
}, why);

check("a wrong code is provisional in the page, with the missing facts, and wrong as soon as the edge has refused it", async () => {
  const { page, text } = await visit();
  await page.fill("#code", "NO-SUCH-CODE");
  assert.equal(await state(page, "NO-SUCH-CODE"), "unknown");
  assert.match(await text("#summary"), /^Provisional/);
  await settled(page, "provisional");
  assert.match(await text("#equality"), /it lacks voucher\/NO-SUCH-CODE\. The edge decides: NO-SUCH-CODE: There is no such code\./);
  assert.equal(await state(page, "NO-SUCH-CODE"), "inapplicable");
  assert.match(await text("#verdicts"), /NO-SUCH-CODE\s*Not applied\s*There is no such code\./);
  assert.equal(await text("#summary"), "Nothing is taken off.");
  await page.fill("#code", open);
  await page.press("#code", "Enter");
  await page.fill("#code", "NO-SUCH-CODE");
  await page.waitForSelector('#verdicts li[data-state=inapplicable]:has-text("NO-SUCH-CODE")', { timeout: 120_000 });
  assert.equal(await state(page, open), "applicable", "the other code stays");
  assert.equal(await text("#total"), "€94.23");
  await page.close();
}, why);

check("a code that begins later is not disclosed: the page does not know it, the edge does", async () => {
  const { page, text } = await visit();
  await page.fill("#code", early);
  assert.equal(await state(page, early), "unknown");
  await settled(page, "provisional");
  assert.match(await text("#equality"), /it lacks voucher\/NEXT-100/);
  await page.close();
}, why);

check("offline: typing works without a single request, and the network returns", async () => {
  const { page, requests, text } = await visit();
  await page.check("#offline");
  const sent = requests.length;
  await page.locator("#code").pressSequentially(open);
  assert.equal(await state(page, open), "applicable");
  assert.equal(await text("#total"), "€94.23");
  await page.press("#code", "Enter");
  await page.locator("#code").pressSequentially("PRIVATE-1");
  assert.equal(await state(page, "PRIVATE-1"), "unknown");
  assert.match(await text("#verdicts"), /The page does not know this code/);
  await page.click("#publish");
  assert.match(await text("#deal"), /^Offline/);
  await page.click("#ask");
  await page.waitForTimeout(700);
  assert.equal(requests.length, sent);
  await page.uncheck("#offline");
  await page.fill("#code", "");
  await settled(page, "identical");
  await page.close();
}, why);

check("a page that is loaded again without the service decides by the rules that it has", async () => {
  const { page, text } = await visit();
  await page.fill("#code", open);
  await settled(page, "identical");
  await page.waitForFunction(async () => {
    const files = await caches.open("scrip-demo").then((cache) => cache.keys());
    return files.some(({ url }) => url.endsWith("/scrip.wasm")) && files.some(({ url }) => url === `${location.origin}/`);
  });
  await service.kill9();
  try {
    await page.reload();
    await page.waitForSelector("body[data-ready=true]");
    await page.waitForSelector("#rules[data-state=kept]");
    assert.match(await text("#rules"), /^Rules of \d\d:\d\d, offline$/);
    await page.fill("#code", open);
    await page.waitForSelector(`#verdicts li[data-state=applicable]:has-text("${open}")`);
    assert.equal(await text("#total"), "€94.23");
    await settled(page, "failed");
    await page.press("#code", "Enter");
    await page.fill("#code", "NO-SUCH-CODE");
    assert.equal(await state(page, "NO-SUCH-CODE"), "unknown", "only the service knows that it is wrong");
  } finally {
    await service.restart();
  }
  await page.waitForSelector("body");
  await page.reload();
  await page.waitForSelector("#rules[data-state=done]", { timeout: 120_000 });
  await page.close();
}, why);

check("a customer's own code is offered on a later visit, and a click enters it", async () => {
  const first = await visit();
  await first.page.fill("#campaign", "Members only");
  await first.page.click("#publish");
  await first.page.waitForSelector("#deal[data-state=done]");
  const [code] = /MEMBER-\w+/.exec(await first.text("#deal"));
  await first.page.close();
  const { page, text } = await visit();
  await page.click(`#applying button:has-text("${code}")`);
  assert.equal(await page.locator("#chips li", { hasText: code }).count(), 1);
  await settled(page, "identical");
  assert.equal(await text("#total"), "€99.70");
  await page.waitForSelector("#applying", { state: "hidden" });
  await page.close();
}, why);

check("a code is published, is known to the page of its customer, is redeemed once and then refused in plain words", async () => {
  const { page, text } = await visit();
  await page.fill("#campaign", "Members only");
  await page.fill("#customer", "browser-test");
  await page.click("#publish");
  await page.waitForSelector("#deal[data-state=done]");
  const [code] = /MEMBER-\w+/.exec(await text("#deal"));
  await page.waitForSelector(`#verdicts li[data-state=applicable]:has-text("${code}")`);
  await settled(page, "identical");
  await page.click("#redeem");
  await page.waitForFunction(() => document.querySelector("#deal").textContent.startsWith("Redeemed one code: r_"));
  assert.match(await text("#deal"), /To pay: €99\.70/);
  const voucher = await callService("GET", `/v1/vouchers/${code}`);
  assert.equal(voucher.redemption.redeemed_quantity, 1);
  await page.click("#redeem");
  await page.waitForSelector("#deal[data-state=failed]");
  assert.equal(await text("#deal"), `Cannot find voucher with id ${code}.`);
  assert.equal((await callService("GET", `/v1/vouchers/${code}`)).redemption.redeemed_quantity, 1);
  await page.fill("#campaign", "A missing campaign");
  await page.click("#publish");
  await page.waitForFunction(() => document.querySelector("#deal").textContent.includes("A missing campaign"));
  await page.close();
}, why);

check("a redemption that was clicked offline is sent on the next visit, and counts once", async () => {
  const { page, text } = await visit();
  const countOf = async () => (await callService("GET", `/v1/vouchers/${open}`)).redemption.redeemed_quantity;
  const before = await countOf();
  await page.fill("#code", open);
  await settled(page, "identical");
  await page.check("#offline");
  await page.click("#redeem");
  await page.waitForSelector("#deal[data-state=busy]");
  assert.match(await text("#deal"), /^Offline: it is kept/);
  await page.waitForTimeout(300);
  assert.equal(await countOf(), before);
  await page.reload();
  await page.waitForFunction(() => document.querySelector("#deal").textContent.startsWith("Redeemed one code: r_"), undefined, { timeout: 120_000 });
  assert.equal(await countOf(), before + 1);
  await page.reload();
  await page.waitForSelector("body[data-ready=true]");
  assert.equal(await page.getAttribute("#deal", "data-state"), "idle");
  assert.equal(await countOf(), before + 1);
  await page.close();
}, why);

check("everything can be done by keyboard, and every control has a name", async () => {
  const { page, text } = await visit();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.keyboard.press("Enter");
  await page.focus("#code");
  await page.keyboard.type(open);
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#chips li").count(), 1);
  await page.focus(".line:nth-child(1) .quantity");
  await page.keyboard.press("ArrowUp");
  assert.equal(await text("#before"), "€153.70");
  assert.equal(await text("#total"), "€138.33");
  await page.focus("#offline");
  await page.keyboard.press("Space");
  assert.equal(await page.isChecked("#offline"), true);
  await page.keyboard.press("Space");
  assert.equal(await page.isChecked("#offline"), false);
  await page.focus("#chips button");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("#chips li").count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.id), "code");
  assert.equal(await text("#total"), "€153.70");
  const session = await browser.context.newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const controls = nodes.filter((node) => ["button", "textbox", "switch", "link"].includes(node.role?.value) && !node.ignored);
  assert.ok(controls.length > 20, `${controls.length} controls`);
  for (const { role, name } of controls) assert.ok(name?.value, `a ${role.value} without a name`);
  await page.close();
}, why);

check("no other host is called, and nothing is cut off on a phone", async () => {
  const { page, requests } = await visit({ width: 360, height: 780 });
  await page.fill("#code", open);
  await settled(page, "identical");
  assert.deepEqual(requests.filter((url) => !url.startsWith(`${service.url}/`)), []);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.equal(wide, 0);
  await page.close();
}, why);

check("a picture of the page can be taken for the README", async () => {
  const { page, text } = await visit({ width: 1180, height: 940 });
  await page.fill("#code", open);
  await page.press("#code", "Enter");
  await page.fill("#code", less);
  await settled(page, "identical");
  assert.equal(await text("#total"), "€89.23");
  assert.equal(await page.locator("#verdicts li[data-state=applicable]").count(), 2);
  const path = process.env.UPDATE === "1" ? fileURLToPath(new URL("../../www-demo/screenshot.png", import.meta.url)) : undefined;
  const picture = await page.screenshot({ path, fullPage: true });
  assert.ok(picture.length > 20_000 && picture.length < 300_000, `${picture.length} bytes`);
  await page.close();
}, why);
