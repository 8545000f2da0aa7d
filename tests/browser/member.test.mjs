// Tests the demo's member page in a real browser against the real service on workerd, seeded as on a local start. Points are earned, lie in
// lots, are pending, buy rewards and are refunded, a friend is referred, and the service reports the same.
import assert from "node:assert/strict";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { CALLS } from "../../www-demo/server_calls.js";
import { seed } from "../../worker/tools/seed.mjs";
import { boot, caller } from "../workerd/harness.mjs";
import { launch, missing } from "./chromium.mjs";
import { countTests } from "./test_report.mjs";

const why = missing();
const check = countTests("browser");

let service;
let browser;
let call;

before(async () => {
  if (why) return;
  service = await boot({ bare: false });
  call = caller(service.url);
  await seed(service.url);
  browser = await launch({ viewport: { width: 1180, height: 900 }, locale: "en-GB", colorScheme: "light" });
}, { timeout: 600_000 });

after(async () => {
  await browser?.close();
  await service?.stop();
});

/** Opens the page in a new tab for a new visitor; returns it with its requests and its errors. */
async function visit(size) {
  const page = await browser.context.newPage();
  if (size) await page.setViewportSize(size);
  const requests = [];
  const complaints = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("pageerror", (error) => complaints.push(error.message));
  await page.goto(`${service.url}/member.html`);
  await page.evaluate(() => localStorage.clear());
  await page.reload();
  await page.waitForSelector("body[data-ready=true]");
  const text = async (selector) => (await page.textContent(selector)).trim();
  return { page, requests, complaints, text };
}

/** Opens the page for a new member of this name. */
async function join(name, size) {
  const visited = await visit(size);
  await visited.page.fill("#name", name);
  await visited.page.click("#become");
  await visited.page.waitForSelector("#member:not([hidden])");
  return visited;
}

/** Runs an action, and waits until the page has reported its result. */
async function done(page, status, act, state = "done") {
  await page.evaluate((id) => { document.querySelector(id).dataset.state = "pending"; }, status);
  await act();
  await page.waitForFunction(([id, expected]) => ["done", "failed"].includes(document.querySelector(id).dataset.state)
    && document.querySelector(id).dataset.state === expected, [status, state], { timeout: 120_000 })
    .catch(async () => assert.fail(`${status} says ${await page.getAttribute(status, "data-state")}: ${await page.textContent(status)}`));
  return (await page.textContent(status)).trim();
}

async function pay(page, amount) {
  await page.fill("#amount", amount);
  return done(page, "#order-status", () => page.click("#order-form button[type=submit]"));
}

/** Returns the points of each card by name as the page shows them, and checks them against the service. */
async function balances(page) {
  const shown = await page.locator(".plastic").evaluateAll((cards) => Object.fromEntries(cards.map((card) => (
    [card.getAttribute("aria-label"), Number(card.querySelector(".balance strong").textContent.replaceAll(",", ""))]))));
  const visitor = await page.evaluate(() => JSON.parse(localStorage.getItem("scrip-member")));
  const { body } = await call("GET", `/v2/loyalties/memberships/${visitor.customer}`);
  const held = body.memberships[0].cards.map(({ card }) => card.balance.points);
  assert.deepEqual(Object.values(shown), held, "the page shows what the service says");
  return shown;
}

const DAY_MS = 86_400_000;
const days = (count) => new Date(Date.now() + count * DAY_MS);
const formatDate = (date) => new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" }).format(date);
/** Returns when points of today expire: twelve months later, at the end of the month. */
function nextYear() {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear() + 1, now.getUTCMonth() + 1, 0));
}

check("seeding twice creates nothing twice", async () => {
  await seed(service.url);
  for (const [kind, count] of [["programs", 1], ["card-definitions", 2], ["earning-rules", 3], ["tier-structures", 1], ["rewards", 2]]) {
    const { body } = await call("GET", `/v2/loyalties/${kind}?limit=100`);
    assert.equal(body.data.length, count, kind);
    assert.ok(body.data.every(({ status }) => status === "ACTIVE"), kind);
  }
}, why);

check("a visitor enters a name and is a member with two empty cards, also on the next visit", async () => {
  const { page, complaints, text } = await join("Ann O'Neill");
  assert.match(await text("#who"), /^Ann O'Neill, member of Club$/);
  assert.deepEqual(await balances(page), { "Club points": 0, "Thank-you stars": 0 });
  assert.match(await text(".plastic:first-child .code"), /^CLUB-\w{4}-\w{4}$/);
  assert.match(await text("#never"), /No points yet/);
  const [code] = await page.locator(".plastic .code").allTextContents();
  await page.reload();
  await page.waitForSelector("#member:not([hidden])");
  assert.equal((await page.locator(".plastic .code").allTextContents())[0], code);
  await page.click("#leave");
  assert.equal(await page.isVisible("#join-form"), true);
  await page.click("#become");
  assert.match(await text("#join-status"), /Say what you are called/);
  assert.deepEqual(complaints, []);
  await page.close();
}, why);

check("a paid order brings points in a lot on the time line, and a returned one takes them back", async () => {
  const { page, text } = await join("Ben");
  assert.match(await pay(page, "120.00"), /^Paid €120\.00\. \+120 points\.$/);
  assert.deepEqual(await balances(page), { "Club points": 120, "Thank-you stars": 0 });
  const label = await page.getAttribute("#timeline svg", "aria-label");
  assert.equal(label, `Time line: 120 points until ${formatDate(nextYear())}`);
  assert.match(await text("#lots"), new RegExp(`^120 points until the end of ${formatDate(nextYear())}, in \\d+ days$`));
  assert.match(await text("#transactions li:first-child"), /Earned.*120 points/);
  await pay(page, "30");
  assert.match(await text("#lots"), /^150 points until/);
  assert.match(await done(page, "#order-status", () => page.click("#orders li:last-child button")), /^Returned €120\.00\. −120 points\.$/);
  assert.deepEqual(await balances(page), { "Club points": 30, "Thank-you stars": 0 });
  assert.match(await text("#orders"), /€120\.00.*returned/);
  assert.equal(await page.locator("#orders button").count(), 1, "an order is returned once");
  assert.match(await text(".figures"), /earned150/);
  await page.close();
}, why);

check("a review brings a lot that expires first, and pending stars until they are activated or cancelled", async () => {
  const { page, text } = await join("Cas");
  await pay(page, "40");
  assert.match(await done(page, "#order-status", () => page.click("#review")), /^A review was written\. \+45 points\.$/);
  assert.deepEqual(await balances(page), { "Club points": 55, "Thank-you stars": 0 });
  assert.deepEqual(await page.locator("#lots strong").allTextContents(), ["15 points", "40 points"]);
  assert.match(await text("#lots li:first-child"), new RegExp(formatDate(days(14))));
  assert.match(await text("#waiting"), new RegExp(`30 points for Thank-you stars.*They arrive on ${formatDate(days(1))}`));
  assert.match(await text(".plastic:nth-child(2) .next"), /30 points waiting.*arrive on/);
  assert.match(await done(page, "#waiting-status", () => page.click("#waiting li button:first-child")), /have arrived/);
  await page.waitForSelector("#waiting li", { state: "detached" });
  assert.deepEqual(await balances(page), { "Club points": 55, "Thank-you stars": 30 });
  await done(page, "#order-status", () => page.click("#review"));
  assert.match(await done(page, "#waiting-status", () => page.click("#waiting li button:nth-child(2)")), /will not arrive/);
  await page.waitForSelector("#nothing-waits:not([hidden])");
  assert.deepEqual(await balances(page), { "Club points": 70, "Thank-you stars": 30 });
  await page.close();
}, why);

check("a reward is bought with points, the customer receives a code, and a returned reward refunds its points", async () => {
  const { page, text } = await join("Jan");
  const refusal = await done(page, "#reward-status", () => page.click("#rewards li:nth-child(1) button"), "failed");
  assert.match(refusal, /points/i);
  await pay(page, "140");
  const mug = await page.locator("#rewards button", { hasText: "Buy" }).evaluateAll((all) => all.map((each) => each.getAttribute("aria-label")));
  assert.deepEqual([...mug].sort(), ["Buy 5 euros off for 50 points", "Buy Enamel mug for 80 points"]);
  assert.match(await done(page, "#reward-status", () => page.click('[aria-label^="Buy Enamel mug"]')), /^Enamel mug: It is on its way\.$/);
  assert.deepEqual(await balances(page), { "Club points": 60, "Thank-you stars": 0 });
  const coupon = await done(page, "#reward-status", () => page.click('[aria-label^="Buy 5 euros off"]'));
  const [, code] = /Yours: (CLUB-\w{8})\./.exec(coupon);
  assert.equal((await call("GET", `/v1/vouchers/${code}`)).status, 200);
  assert.deepEqual(await balances(page), { "Club points": 10, "Thank-you stars": 0 });
  assert.match(await text("#transactions"), /Spent on a reward/);
  await done(page, "#reward-status", () => page.click('[aria-label="Give back Enamel mug"]'));
  assert.deepEqual(await balances(page), { "Club points": 90, "Thank-you stars": 0 });
  await page.close();
}, why);

check("points pay for an order up to the balance", async () => {
  const { page, text } = await join("Kim");
  await pay(page, "120");
  await page.fill("#amount", "50.00");
  assert.match(await done(page, "#order-status", () => page.click("#pay-points")), /^120 points paid €1\.20 of €50\.00\. −120 points\.$/);
  assert.deepEqual(await balances(page), { "Club points": 0, "Thank-you stars": 0 });
  assert.match(await text("#orders li:first-child"), /€1\.20 of it paid with points/);
  assert.match(await done(page, "#order-status", () => page.click("#pay-points"), "failed"), /no points on the card/);
  await page.close();
}, why);

check("points lead to a higher tier, which is drawn with the next tier and the risk of a downgrade", async () => {
  const { page, text } = await join("Lou");
  await pay(page, "20");
  assert.equal(await text("#tier"), "Bronze");
  assert.match(await text("#tier-notes"), /80 points more for Silver/);
  await pay(page, "100");
  assert.equal(await text("#tier"), "Silver");
  assert.match(await page.getAttribute("#tier-picture svg", "aria-label"), /Silver is held, with 120 points$/);
  assert.match(await text("#tier-notes"), /380 points more for Gold/);
  await page.close();
}, why);

check("a code is passed on: a friend redeems it, both get something, and the holders are named", async () => {
  const { page, text } = await join("Dora");
  assert.equal(await page.isDisabled("#befriend"), true);
  await done(page, "#referral-status", () => page.click("#share"));
  const code = await text("#referral-code");
  assert.match(code, /^FRIEND-\w{8}$/);
  assert.match(await text("#holders"), /^Dora passes it on$/);
  await page.fill("#friend", "Eve");
  const message = await done(page, "#referral-status", () => page.click("#befriend"));
  assert.match(message, /^Eve pays €25\.00 for €30\.00 and has the gift card HELLO-\w{8} with €10\.00\. Dora has 50 points waiting\.$/);
  assert.deepEqual(await page.locator("#holders li").allTextContents(), ["Eve was referred", "Dora passes it on"]);
  const { body } = await call("GET", `/v1/vouchers/${code}`);
  assert.equal(body.redemption.redeemed_quantity, 1);
  await page.close();
}, why);

check("a refusal is shown in plain words, and an input that is no amount is not sent", async () => {
  const { page, requests, text } = await join("Flo");
  const sent = requests.length;
  await page.fill("#amount", "twelve");
  assert.equal(await page.getAttribute("#amount", "aria-invalid"), "true");
  await page.press("#amount", "Enter");
  assert.match(await text("#order-status"), /must be a number/);
  assert.equal(requests.length, sent);
  await page.route("**/demo/shop/v1/orders", (route) => route.abort());
  await page.fill("#amount", "12");
  assert.match(await done(page, "#order-status", () => page.press("#amount", "Enter"), "failed"), /could not be reached/);
  assert.match(await text("#writes li:first-child"), /no answer/);
  // The page reads the membership again after a refusal. A request that is held back when a route is lifted would never continue.
  await page.waitForSelector("#order-form button[type=submit]:enabled");
  await page.unroute("**/demo/shop/v1/orders");
  const keys = [];
  page.on("request", (request) => request.url().endsWith("/v1/orders") && keys.push(request.headers()["idempotency-key"]));
  await pay(page, "12");
  await pay(page, "12");
  assert.equal(new Set(keys).size, 2, "each click is an order of its own");
  assert.deepEqual(await balances(page), { "Club points": 24, "Thank-you stars": 0 });
  await page.close();
}, why);

check("the calls of a shop's server are shown as curl, without its keys, and are those of the list", async () => {
  const { page, requests, text } = await join("Gus");
  await pay(page, "10.50");
  const line = await text("#writes li:first-child pre");
  assert.match(line, /^curl -sg -X POST 'http:\/\/127\.0\.0\.1:\d+\/v1\/orders' \\\n {2}-H "X-App-Id: \$SCRIP_ID" -H "X-App-Token: \$SCRIP_TOKEN" \\\n {2}-H 'Content-Type: application\/json' -d '\{.*"amount":1050,"status":"PAID"\}'$/);
  assert.match(await text("#writes li:first-child .badge"), /^POST · 200$/);
  assert.equal((await page.locator("main pre").allTextContents()).some((each) => /dev-app|dev-token/.test(each)), false);
  assert.ok(Number(await text("#read-count")) >= Object.values(CALLS).filter(({ method }) => method === "GET").length / 2);
  const direct = requests.map((url) => new URL(url).pathname).filter((path) => path.startsWith("/v1/") || path.startsWith("/v2/"));
  assert.deepEqual(direct, [], "nothing that needs a server's key goes past the list");
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await done(page, "#copied", () => page.click("#writes li:first-child button"));
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), line);
  await page.close();
}, why);

check("the two pages lead to each other", async () => {
  const { page } = await visit();
  await page.click("nav a:not([aria-current])");
  await page.waitForSelector("#code");
  await page.click("nav a:not([aria-current])");
  await page.waitForSelector("#join");
  await page.close();
}, why);

check("everything can be done by keyboard, and every control and picture has a name", async () => {
  const { page, text } = await visit();
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
  await page.focus("#name");
  await page.keyboard.type("Hal");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#member:not([hidden])");
  await page.waitForFunction(() => document.activeElement.id === "cards-title");
  await page.focus("#amount");
  await page.keyboard.press("Control+A");
  await page.keyboard.type("60");
  await done(page, "#order-status", () => page.keyboard.press("Enter"));
  await page.focus("#review");
  await done(page, "#order-status", () => page.keyboard.press("Space"));
  assert.deepEqual(await balances(page), { "Club points": 75, "Thank-you stars": 0 });
  await page.focus("#waiting button");
  await done(page, "#waiting-status", () => page.keyboard.press("Enter"));
  await page.focus("#share");
  await done(page, "#referral-status", () => page.keyboard.press("Enter"));
  await page.focus("#friend");
  await page.keyboard.type("Ida");
  await done(page, "#referral-status", () => page.keyboard.press("Enter"));
  await page.focus("#orders button");
  await done(page, "#order-status", () => page.keyboard.press("Enter"));
  assert.match(await text("#order-status"), /^Returned/);
  const session = await browser.context.newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const named = nodes.filter((node) => ["button", "textbox", "link", "image", "img"].includes(node.role?.value) && !node.ignored);
  assert.ok(named.length > 20, `${named.length} controls and pictures`);
  // The emblem next to the heading repeats the heading.
  for (const { role, name } of named) assert.ok(name?.value, `a ${role.value} without a name`);
  await page.close();
}, why);

for (const colorScheme of ["light", "dark"]) {
  check(`no other host is called, and nothing is cut off on a phone, in the ${colorScheme} theme`, async () => {
    const { page, requests, complaints } = await join("Maximiliane-Friederike von Hohenlohe-Langenburg", { width: 360, height: 780 });
    await page.emulateMedia({ colorScheme });
    await pay(page, "99999.00");
    await done(page, "#order-status", () => page.click("#review"));
    await done(page, "#referral-status", () => page.click("#share"));
    await page.click("summary >> text=What was read");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0);
    const cut = await page.locator("svg").evaluateAll((pictures) => pictures.filter((each) => each.getBoundingClientRect().right > innerWidth).length);
    assert.equal(cut, 0);
    assert.deepEqual(requests.filter((url) => !url.startsWith(`${service.url}/`)), []);
    assert.deepEqual(complaints, []);
    await page.close();
  }, why);
}

check("a picture of the page can be taken for the README", async () => {
  const { page } = await join("Ann", { width: 1180, height: 940 });
  await pay(page, "120");
  await done(page, "#order-status", () => page.click("#review"));
  await done(page, "#referral-status", () => page.click("#share"));
  const path = process.env.UPDATE === "1" ? fileURLToPath(new URL("../../www-demo/screenshot-member.png", import.meta.url)) : undefined;
  const picture = await page.screenshot({ path, clip: { x: 0, y: 0, width: 1180, height: 1072 }, fullPage: true });
  assert.ok(picture.length > 20_000 && picture.length < 400_000, `${picture.length} bytes`);
  await page.close();
}, why);
