// Runs the cart page: rules and engine at the start, a verdict at every edit, the service when the visitor pauses.
import { load } from "/pkg/browser.js";
import * as cart from "./cart.js";
import * as codes from "./codes.js";
import { TRY } from "./config.js";
import * as serviceChecks from "./service_checks.js";
import { show } from "./money.js";
import * as service from "./service.js";
import * as stack from "./stack.js";
import * as verdict from "./verdict.js";
import { failure } from "./messages.js";

const at = (id) => document.querySelector(`#${id}`);
const PAUSE_MS = 350;
const RUN_MS = 4;

let rules;
let waiting;
// The request whose goods were fetched last.
let goodsOf;
// The codes that were tried, by the sealed codes of the rules.
const tried = new WeakMap();

/**
 * Returns the decision of the page, or undefined without a code or an item. It consists of the text of the request, which the service
 * receives unchanged, and its answer.
 */
function decide() {
  const items = cart.items();
  const list = codes.codes();
  if (!rules?.prepared || !items || items.length === 0 || list.length === 0) return undefined;
  return stack.decide(list, items, (text) => rules.prepared.validate(text));
}

/** Shows the verdict, and again when codes of the cart were opened that the rules did not have. */
function changed() {
  showVerdict();
  const prepared = rules?.prepared;
  openCodes().then((isTried) => isTried && rules?.prepared === prepared && showVerdict());
}

/** Opens sealed codes that were not tried yet with these rules; returns whether there were any. */
async function openCodes() {
  if (!rules?.codes) return false;
  if (!tried.has(rules.codes)) tried.set(rules.codes, new Set());
  const known = tried.get(rules.codes);
  const list = codes.codes().filter((code) => !known.has(code));
  if (list.length === 0) return false;
  list.forEach((code) => known.add(code));
  await rules.codes.open({ redeemables: list.map((id) => ({ object: "voucher", id })) });
  return true;
}

function showVerdict() {
  at("before").textContent = show(cart.amount());
  clearTimeout(waiting);
  const verdicts = decide();
  if (!verdicts) {
    const why = !rules?.prepared ? "No rules yet." : !cart.items() ? "A price or a quantity in the cart is not a number."
      : cart.items().length === 0 ? "The cart is empty." : "Type a code.";
    verdict.drawNothing(why, cart.items() && cart.amount());
    at("micros").textContent = "–";
    serviceChecks.pause(why);
    return;
  }
  const { text, answerText, refused } = verdicts;
  time(text);
  const answer = JSON.parse(answerText);
  if (answer.missing?.some(isAboutGoods)) fetchGoods(text);
  const inapplicable = [...(answer.inapplicable_redeemables ?? []), ...refused];
  verdict.draw({ ...answer, inapplicable_redeemables: inapplicable }, answerText, codes.codes(), cart.amount());
  if (service.isOffline()) serviceChecks.pause("Offline: the verdict is the page's own, nothing is sent.");
  else {
    serviceChecks.pause("About to call the edge…");
    waiting = setTimeout(() => serviceChecks.compare(text, rules.prepared, at("customer").value), PAUSE_MS);
  }
}

const isAboutGoods = (fact) => /^(product|sku)\/[^/]*$/.test(fact);

/** Fetches the products of a cart that the page does not know yet, once, and decides again. */
async function fetchGoods(text) {
  if (service.isOffline() || goodsOf === text) return;
  goodsOf = text;
  await service.goods(rules, text);
  if (goodsOf === text) changed();
}

/** Shows the duration of one decision: browsers blur their clocks, so it is the mean of a short run. */
function time(text) {
  const context = { now: Date.now(), seed: "00" };
  let runs = 0;
  const begin = performance.now();
  let spent = 0;
  while (spent < RUN_MS) {
    for (let round = 0; round < 8; round += 1) rules.prepared.validate(text, context);
    runs += 8;
    spent = performance.now() - begin;
  }
  const micros = (spent * 1000) / runs;
  at("micros").textContent = micros < 100 ? micros.toFixed(1) : Math.round(micros).toLocaleString();
  at("page-time").textContent = `${(micros / 1000).toFixed(3)} ms`;
}

async function refreshRules() {
  try {
    rules = await service.bundle(rules);
    goodsOf = undefined;
    const state = rules.fresh ? `Rules ${rules.prepared.hash.slice(0, 8)}` : `Rules ${rules.prepared.hash.slice(0, 8)}, stored earlier`;
    at("rules").textContent = state;
    at("rules").dataset.state = rules.fresh ? "done" : "kept";
  } catch (problem) {
    at("rules").textContent = failure(problem);
    at("rules").dataset.state = "failed";
  }
}

async function weigh() {
  const [entry] = performance.getEntriesByType("resource").filter((each) => each.name.endsWith("/scrip.wasm"));
  const bytes = entry?.encodedBodySize;
  at("weight").textContent = bytes ? `${Math.round(bytes / 1000)} kB` : "fetched once";
}

async function start() {
  at("customer").value = TRY.customer;
  at("campaign").value = TRY.campaign;
  cart.start(changed);
  codes.start(changed);
  at("ask").addEventListener("click", () => {
    const verdicts = decide();
    if (verdicts) serviceChecks.compare(verdicts.text, rules.prepared, at("customer").value);
  });
  at("publish").addEventListener("click", async () => {
    const code = await serviceChecks.publish(at("campaign").value, at("customer").value);
    if (code) codes.enter(code);
  });
  at("redeem").addEventListener("click", async () => {
    const verdicts = decide();
    await serviceChecks.redeem(verdicts && JSON.parse(verdicts.text), at("customer").value);
    changed();
  });
  at("offline").addEventListener("change", async () => {
    service.setOffline(at("offline").checked);
    document.body.classList.toggle("offline", at("offline").checked);
    if (!service.isOffline()) await refreshRules();
    changed();
  });
  try {
    await load();
    await refreshRules();
    await weigh();
  } catch (problem) {
    at("rules").textContent = problem.message;
  }
  changed();
  document.body.dataset.ready = "true";
}

start();
