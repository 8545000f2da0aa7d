// A shop whose promotion is for customers who meet a condition, and the supplements that say so.
import { PROJECT, base64url, jws, rules, sha256 } from "./bundle_server.mjs";
import { server } from "./shop_fixtures.mjs";
import { pair, refuse } from "./shop_server.mjs";
import { serviceNow } from "./virtual_time.mjs";

export const tokenOf = (sub) => `${base64url({ alg: "HS256" })}.${base64url({ sub })}.c2lnbmF0dXJl`;

/** Rules with a promotion for customers who meet condition 7. */
export const vip = (name = "vip") => rules({
  client: { customers: "named" },
  promotion_tiers: [{ id: "promo_vip", name, action: { discount: { type: "AMOUNT", amount_off: 100 } }, active: true, object: "promotion_tier" }],
  validation_rules: [{ id: "val_vip", rules: { 1: { name: "customer.condition", property: "7" } } }],
  validation_rules_assignments: [{ rule_id: "val_vip", related_object_id: "promo_vip" }],
});
export const vipCart = { redeemables: [{ object: "promotion_tier", id: "promo_vip" }], order: { amount: 1_000 } };

/** Answers calls for supplements of a core: each is of a customer who meets the condition, unless it is Bob. */
export function answerSupplements(core) {
  server.state.instead.me = (request, response) => {
    const token = request.headers["x-customer-token"];
    const { sub } = JSON.parse(Buffer.from(token.split(".")[1], "base64url"));
    if (sub === "refused") return refuse(response, 401, "invalid_customer_token");
    const day = new Date(new Date(serviceNow()).setUTCHours(0, 0, 0, 0)).toISOString();
    const facts = {
      customers: [{ id: sub, source_id: sub, tracking_id: `track_${sub}`, conditions: sub === "bob" ? [] : ["7"] }],
      own_counts: { customer: sub, since: [day, day, day], accounts: {} },
    };
    const iat = Math.floor(serviceNow() / 1_000);
    const claims = { iss: PROJECT, fmt: 2, core: sha256(core), th: sha256(token), iat, exp: iat + 300, facts };
    return response.writeHead(200).end(jws(pair, claims, { typ: "scrip-supplement+jwt" }));
  };
}

/** Serves the rules with their supplements. */
export function serveCustomers() {
  server.serveRules(vip());
  answerSupplements(vip());
}
