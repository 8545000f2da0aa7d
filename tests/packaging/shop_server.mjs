// A shop for the tests of `open`: the hostile server in virtual time, stores that fail, and the service's side of redemptions.
import { keyPair, rules, startServer } from "./bundle_server.mjs";
import { countedFetch, serviceNow } from "./virtual_time.mjs";

export const HOUR = 3_600_000;
export const MINUTE = 60_000;
export const SECOND = 1_000;
export const pair = keyPair();
export const otherPair = keyPair();
export const client = { id: "app", token: "secret" };

const voucher = (code, more = {}) => ({
  id: `v_${code}`, code, type: "DISCOUNT_VOUCHER", discount: { type: "AMOUNT", amount_off: 100 }, active: true, ...more,
});

/** Rules with a code for every order, one for orders above 50.00, and one that has ended. */
export const shopRules = (members = {}) => rules({
  vouchers: [voucher("TEN"), voucher("LARGE"), voucher("OVER", { expiration_date: new Date(Date.UTC(2026, 1, 1)).toISOString() })],
  validation_rules: [{ id: "val_1", rules: { 1: { name: "order.amount", conditions: { $more_than: [5_000] } } }, error: { message: "Only large orders" } }],
  validation_rules_assignments: [{ rule_id: "val_1", related_object_id: "v_LARGE" }],
  ...members,
});

export const cartOf = (code, amount = 1_000) => ({ redeemables: [{ object: "voucher", id: code }], order: { amount } });

/** Starts the server; `serveRules` serves rules by the service's time, `offline` breaks every connection. */
export async function startShopServer() {
  const server = await startServer();
  const { state } = server;
  return Object.assign(server, {
    serveRules(core = shopRules(), claims = {}, by = pair) {
      server.serve(by, core, { now: serviceNow(), ...claims });
      server.dateAnswers();
    },
    /** Gives each answer with a head the service's time. */
    dateAnswers() {
      state.headers = { get date() { return new Date(serviceNow()).toUTCString(); } };
    },
    offline() {
      for (const kind of ["bundle", "core", "me", "jwks", "redemptions", "validations"]) state.instead[kind] = (request) => request.socket.destroy();
    },
    online() {
      state.instead = {};
    },
    options: (more = {}) => ({ url: server.base, key: client, keys: [pair.jwk], fetch: countedFetch, poll: false, ...more }),
  });
}

/** A store in memory; its values are text, so nothing but data survives. */
export function textStore(entries = new Map()) {
  return {
    entries,
    get: async (name) => (entries.has(name) ? JSON.parse(entries.get(name)) : undefined),
    put: async (name, value) => void entries.set(name, JSON.stringify(value)),
    delete: async (name) => void entries.delete(name),
  };
}

/**
 * Answers redemptions as the service does: under one key it counts once and then answers the same. `before` may answer instead, before the
 * redemption is counted, and `after` when it was; each returns whether it did.
 */
export function redemptions(server, { before = () => false, after = () => false } = {}) {
  const service = { counted: new Map(), calls: [] };
  server.state.instead.redemptions = async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const key = request.headers["idempotency-key"];
    const call = { key, body, token: request.headers["x-customer-token"], at: serviceNow() };
    service.calls.push(call);
    if (before(service.calls.length, response, request)) return;
    const name = `${key}/${call.token ?? ""}`;
    const replayed = service.counted.has(name);
    if (!replayed) service.counted.set(name, JSON.stringify({ redemptions: [{ id: `r_${service.counted.size + 1}` }], order: { id: "ord_1" } }));
    if (after(service.calls.length, response, request)) return;
    response.writeHead(200, replayed ? { "idempotency-replayed": "true" } : {}).end(service.counted.get(name));
  };
  return service;
}

/** Answers with the service's error. */
export const refuse = (response, status, key, headers = {}) => {
  response.writeHead(status, headers).end(JSON.stringify({ code: status, key, message: key }));
  return true;
};
