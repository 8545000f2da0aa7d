// Generates workload W4: the largest possible basket, 500 lines, and thirty valid promotions, so that its answer contains all lines
// thirty-one times. It uses whole numbers only and no random values.

const CATEGORIES = ["shoes", "shirts", "hats", "bags", "socks", "belts", "jeans"];

/** Returns a basket and the promotions, in the form of the other workloads. */
export function generate() {
  const items = Array.from({ length: 500 }, (_, place) => ({
    id: `li_${place}`, sku: `SKU-${1000 + place}`,
    category: CATEGORIES[(place * 5) % 7], unit_price: 199 + ((place * 7919) % 9800), quantity: 1 + (place % 4),
  }));
  const promotions = Array.from({ length: 30 }, (_, place) => {
    const category = CATEGORIES[place % 7];
    const effects = [
      { type: "percent", bps: 500 + 50 * place, target: { category } },
      { type: "percent", bps: 300 + 10 * place, target: null },
      { type: "fixed", amount: 250 + 25 * place },
    ];
    return {
      id: `p_${String(place).padStart(4, "0")}`, code: null, priority: (place * 7) % 30,
      rule: { all: [
        { field: "order.amount", op: "gt", value: 1000 * (place + 1) },
        { field: "customer.segment", op: "in", value: ["vip", "silver", "gold"] },
        { any_item: { field: "category", op: "eq", value: category } },
      ] },
      effect: effects[place % 3],
    };
  });
  return { basket: { customer: { id: "cus_1001", segment: "gold" }, items }, promotions, max_stack: 30 };
}
