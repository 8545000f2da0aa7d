// Runs the cart page: a verdict at every edit, first by what the shop has, then by what it fetches, and by the service when the visitor pauses.
import * as cart from "./cart.js";
import * as codes from "./codes.js";
import { TRY } from "./config.js";
import { failure } from "./messages.js";
import { show } from "./money.js";
import * as offers from "./offers.js";
import * as service from "./service.js";
import * as serviceChecks from "./service_checks.js";
import { changeCustomer, openShop, renew } from "./shop.js";
import * as stack from "./stack.js";
import * as verdict from "./verdict.js";

const at = (id) => document.querySelector(`#${id}`);
const PAUSE_MS = 350;
const RUN_MS = 4;
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const STATES = { fresh: "done", ageing: "kept", offline: "kept", "too old": "failed", broken: "failed" };

let shop;
let waiting;
let turn = 0;
// The decision of the page about the present cart.
let decided;

/** Returns the codes and the items of the cart, or the reason why there is nothing to decide. */
function readCart() {
  const [list, items] = [codes.codes(), cart.items()];
  if (!shop) return { why: "No rules yet." };
  if (!items) return { why: "A price or a quantity in the cart is not a number." };
  if (items.length === 0) return { why: "The cart is empty." };
  return list.length === 0 ? { items, why: "Type a code." } : { list, items };
}

/** Decides the cart: at once, then with its products and codes, and after a pause by the service. A later change of the cart ends it. */
async function changed() {
  const own = ++turn;
  clearTimeout(waiting);
  at("before").textContent = show(cart.amount());
  const { list, items, why } = readCart();
  if (why) {
    decided = undefined;
    verdict.drawNothing(why, items && cart.amount());
    at("micros").textContent = "–";
    serviceChecks.pause(why);
  }
  for (const check of why ? [] : ["checkNow", "check"]) {
    const found = await stack.decide(list, items, (text) => shop[check](text));
    if (own !== turn) return;
    decided = { ...found, list, items };
    verdict.draw(decided, list, cart.amount());
    if (check === "checkNow") time(decided.text);
  }
  if (!why) askLater();
  const found = items && (await shop.qualify({ order: { items } }));
  if (own === turn) offers.draw(found, list ?? []);
}

/** Has the service decide when the visitor pauses. */
function askLater() {
  if (service.isOffline()) return serviceChecks.pause("Offline: the verdict is the page's own, nothing is sent.");
  serviceChecks.pause("About to call the edge…");
  waiting = setTimeout(askService, PAUSE_MS);
}

/** Shows the verdict of the service where the page had none of its own, and whether both are the same. */
async function askService() {
  if (!decided) return;
  const { list, refused } = decided;
  const own = turn;
  const asked = await serviceChecks.compare(shop, decided);
  // The service knows a code that the page does not: there may be newer rules.
  if (asked?.verdict.valid) renew(shop);
  if (asked && own === turn) verdict.draw({ ...asked, refused: [...refused, ...asked.refused] }, list, cart.amount());
}

/** Shows the duration of one decision: browsers blur their clocks, so it is the mean of a short run. */
function time(text) {
  const context = { now: Date.now(), seed: "00" };
  let runs = 0;
  const begin = performance.now();
  let spent = 0;
  while (spent < RUN_MS) {
    for (let round = 0; round < 8; round += 1) shop.checkNow(text, context);
    runs += 8;
    spent = performance.now() - begin;
  }
  const micros = (spent * 1000) / runs;
  at("micros").textContent = micros < 100 ? micros.toFixed(1) : Math.round(micros).toLocaleString();
  at("page-time").textContent = `${(micros / 1000).toFixed(3)} ms`;
}

/** Shows how far the rules can be trusted, and decides again by other rules. */
function followShop() {
  let last;
  shop.subscribe((state, { asOf: { revision, at: confirmed }, problem }) => {
    const rules = revision ? `Rules of ${clock.format(confirmed)}` : "No rules";
    at("rules").dataset.state = STATES[state];
    const why = state === "broken" && problem ? `: ${failure(problem)}` : "";
    at("rules").textContent = state === "fresh" ? rules : `${rules}, ${state}${why}`;
    const now = JSON.stringify([state, revision]);
    if (last !== undefined && last !== now) changed();
    last = now;
  });
}

async function weigh() {
  const [entry] = performance.getEntriesByType("resource").filter((each) => each.name.endsWith("/scrip.wasm"));
  const bytes = entry?.encodedBodySize;
  at("weight").textContent = bytes ? `${Math.round(bytes / 1000)} kB` : "fetched once";
}

/** Keeps the files of the page, so that it starts without a network the next time. */
async function keepFiles() {
  if (!navigator.serviceWorker) return;
  await navigator.serviceWorker.register("offline.js");
  const { active } = await navigator.serviceWorker.ready;
  active.postMessage([location.href, ...performance.getEntriesByType("resource").map(({ name }) => name)]);
}

const customer = () => at("customer").value.trim();

function listen() {
  at("ask").addEventListener("click", () => {
    if (!service.isOffline()) askService();
  });
  at("customer").addEventListener("change", async () => {
    await changeCustomer(shop, customer());
    changed();
  });
  at("publish").addEventListener("click", async () => {
    const code = await serviceChecks.publish(at("campaign").value.trim(), customer());
    if (!code) return;
    await changeCustomer(shop, customer());
    codes.enter(code);
  });
  at("redeem").addEventListener("click", async () => {
    await serviceChecks.redeem(shop, decided && JSON.parse(decided.text), customer());
    changed();
  });
  at("offline").addEventListener("change", async () => {
    service.setOffline(at("offline").checked);
    document.body.classList.toggle("offline", at("offline").checked);
    await renew(shop);
    changed();
  });
  document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && renew(shop));
  globalThis.addEventListener("online", () => renew(shop));
}

async function start() {
  at("customer").value = TRY.customer;
  at("campaign").value = TRY.campaign;
  cart.start(changed);
  codes.start(changed);
  try {
    shop = await openShop(TRY.customer);
    followShop();
    listen();
    await weigh();
    keepFiles();
    serviceChecks.resume(shop);
  } catch (problem) {
    at("rules").textContent = problem.message;
  }
  await changed();
  document.body.dataset.ready = "true";
}

start();
