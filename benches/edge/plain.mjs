// Validates one promotion by hand in plain JavaScript, as a shop's own Worker would, with the rule as code: ten percent off each line. It
// checks the key and the origin of the page, and answers in the format of the API.
const KEYS = new Map([["dev-client", "dev-client-token"]]);
const ORIGINS = new Set(["http://localhost:3000"]);
const SHARE = 1_000;

/** Returns the amount of a share in hundredths of a percent, rounded half up. */
const percent = (amount) => Math.floor((amount * SHARE + 5_000) / 10_000);

function validate({ redeemables, order }) {
  const items = order.items.map(({ source_id, product_id, quantity, price }) => {
    const amount = quantity * price;
    const taken = percent(amount);
    return {
      object: "order_item", source_id, product_id, quantity, price, amount, initial_quantity: quantity, initial_amount: amount,
      discount_amount: taken, applied_discount_amount: taken, subtotal_amount: amount - taken,
    };
  });
  const amount = items.reduce((sum, item) => sum + item.amount, 0);
  const off = items.reduce((sum, item) => sum + item.discount_amount, 0);
  const priced = {
    amount, initial_amount: amount, items_discount_amount: off, items_applied_discount_amount: off, total_discount_amount: off,
    total_applied_discount_amount: off, total_amount: amount - off, items, object: "order",
  };
  const result = { discount: { type: "PERCENT", percent_off: 10, effect: "APPLY_TO_ITEMS" } };
  return {
    id: `valid_${crypto.randomUUID()}`, valid: true, order: priced,
    redeemables: redeemables.map(({ object, id }) => ({ status: "APPLICABLE", id, object, order: priced, result })),
    inapplicable_redeemables: [], skipped_redeemables: [],
  };
}

export default {
  async fetch(request) {
    const { headers } = request;
    if (new URL(request.url).pathname === "/health") return new Response("ok");
    const origin = headers.get("origin");
    if (KEYS.get(headers.get("x-client-application-id")) !== headers.get("x-client-token") || !ORIGINS.has(origin)) {
      return Response.json({ code: 401, key: "unauthorized" }, { status: 401 });
    }
    return Response.json(validate(await request.json()), { headers: { "access-control-allow-origin": origin, "x-request-id": crypto.randomUUID() } });
  },
};
