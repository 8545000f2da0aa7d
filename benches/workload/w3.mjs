// Generates workload W3: a basket of 100 lines and 1000 promotions, each with a rule of three tests. They come from a fixed sequence, so
// they are the same everywhere.

const BASE = ["shoes", "shirts", "hats", "bags", "socks", "belts", "coats", "jeans", "gloves", "scarves", "watches",
  "rings", "toys", "books", "games", "garden", "kitchen", "bedding", "lamps", "rugs"];
const CATEGORIES = [...BASE, ...BASE.map((name) => `${name}-sale`)];
const SEGMENTS = ["new", "bronze", "silver", "gold", "vip", "staff", "b2b", "student"];

/** Returns a basket and the promotions, in the form of the other workloads. */
export function generate() {
  let state = 12345;
  const below = (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * bound);
  };
  const items = Array.from({ length: 100 }, (_, place) => ({
    id: `li_${place}`, sku: `SKU-${1000 + place}`,
    category: CATEGORIES[below(24)], unit_price: 199 + below(9800), quantity: 1 + below(4),
  }));
  const total = items.reduce((sum, { unit_price, quantity }) => sum + unit_price * quantity, 0);
  const promotions = Array.from({ length: 1000 }, (_, place) => {
    const amount = below(Math.floor(total * 1.5));
    const count = 2 + below(3);
    const segments = [];
    while (segments.length < count) {
      const segment = SEGMENTS[below(SEGMENTS.length)];
      if (!segments.includes(segment)) segments.push(segment);
    }
    const category = CATEGORIES[below(40)];
    return {
      id: `p_${String(place).padStart(4, "0")}`, code: null, priority: below(1000),
      rule: { all: [
        { field: "order.amount", op: "gt", value: amount },
        { field: "customer.segment", op: "in", value: segments },
        { any_item: { field: "category", op: "eq", value: category } },
      ] },
      effect: { type: "percent", bps: 100 + below(2000), target: null },
    };
  });
  return { basket: { customer: { id: "cus_1001", segment: "gold" }, items }, promotions };
}
