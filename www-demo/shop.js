// Opens the shop of the page: all verdicts and redemptions of the cart are its own. The switch of the page ends its requests too.
import { open } from "/pkg/browser.js";
import { CREDENTIALS, SERVICE } from "./config.js";
import { knownToken, tokenOf } from "./customer_tokens.js";
import { send } from "./service.js";

let customer;
// The contexts of the service's verdicts, by the texts of their requests: the time and the seed by which it decided.
const contexts = new Map();

/** Opens the shop for a customer. Rules are fetched when the page asks for it, so that an offline page sends nothing. */
export async function openShop(name) {
  customer = name;
  await tokenOf(name);
  return open({ url: SERVICE || location.origin, key: CREDENTIALS, customer: () => knownToken(customer), fetch: fetchForShop, poll: false });
}

/** Decides for another customer from now on. */
export async function changeCustomer(shop, name) {
  customer = name;
  await tokenOf(name);
  await shop.refresh();
}

/** Fetches the newest rules, and what they know of the customer. */
export async function renew(shop) {
  await tokenOf(customer);
  return shop.refresh();
}

/** Has the service decide; returns its verdict, the context of the decision, and how long that took. */
export async function ask(shop, text) {
  const begin = performance.now();
  const verdict = await shop.ask(text);
  const ms = performance.now() - begin;
  const context = contexts.get(text);
  contexts.delete(text);
  return { verdict, context, ms };
}

async function fetchForShop(url, options) {
  const response = await send(url, options);
  const context = response.headers.get("scrip-context");
  if (context) contexts.set(options.body, JSON.parse(context));
  return response;
}
