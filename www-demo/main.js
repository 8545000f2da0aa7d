// Decides when what happens: rules and engine at the start, a verdict at every edit, the edge when the visitor pauses.
import { load } from "/pkg/browser.js";
import * as cart from "./cart.js";
import * as codes from "./codes.js";
import { TRY } from "./config.js";
import * as edge from "./edge.js";
import { show } from "./money.js";
import * as service from "./service.js";
import * as verdict from "./verdict.js";
import { failure } from "./words.js";

const at = (id) => document.querySelector(`#${id}`);
const PAUSE_MS = 350;
const RUN_MS = 4;

let rules;
let waiting;

/** The body that goes to the engine and, letter for letter, to the service; nothing while there is nothing to ask. */
function request() {
  const items = cart.items();
  const list = codes.codes();
  if (!items || items.length === 0 || list.length === 0) return undefined;
  return { redeemables: list.map((id) => ({ object: "voucher", id })), order: { items } };
}

function changed() {
  at("before").textContent = show(cart.amount());
  clearTimeout(waiting);
  const body = request();
  const ready = rules?.prepared;
  if (!body || !ready) {
    const why = !ready ? "No rules yet." : !cart.items() ? "A price or a quantity in the cart is not a number."
      : cart.items().length === 0 ? "The cart is empty." : "Type a code.";
    verdict.drawNothing(why, cart.items() && cart.amount());
    at("micros").textContent = "–";
    edge.pause(why);
    return;
  }
  const text = JSON.stringify(body);
  const answer = decide(text);
  verdict.draw(JSON.parse(answer), answer, codes.codes(), cart.amount());
  if (service.isOffline()) edge.pause("Offline: the verdict is the page's own, nothing is sent.");
  else {
    edge.pause("About to ask the edge…");
    waiting = setTimeout(() => edge.compare(text, rules.prepared, at("customer").value), PAUSE_MS);
  }
}

/** Decides, and shows how long one decision takes: browsers blur their clocks, so it is the mean of a short run. */
function decide(text) {
  const context = { now: Date.now(), seed: "00" };
  const answer = rules.prepared.validate(text);
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
  return answer;
}

async function refreshRules() {
  try {
    rules = await service.bundle(rules);
    const state = rules.fresh ? `Rules ${rules.prepared.hash.slice(0, 8)}` : `Rules ${rules.prepared.hash.slice(0, 8)}, kept from before`;
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
    const body = request();
    if (body && rules) edge.compare(JSON.stringify(body), rules.prepared, at("customer").value);
  });
  at("publish").addEventListener("click", async () => {
    const code = await edge.publish(at("campaign").value, at("customer").value);
    if (code) codes.enter(code);
  });
  at("redeem").addEventListener("click", async () => {
    await edge.redeem(request(), at("customer").value);
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
