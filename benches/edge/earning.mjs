// Prepares requests that show the cost of earning. The same paid order comes from a customer in no program, and from customers in ten
// programs with five active rules each. One rule fires in all programs together, or one in each.

const PROGRAMS = 10;
const RULES = 5;
const ITEMS = Array.from({ length: 10 }, (_, place) => ({ source_id: `bench-earning-${place}`, related_object: "product", quantity: 1, price: 1000 }));

/** Returns the contenders, once each has been shown to earn the expected points. */
export async function earning(call, url) {
  const make = async (path, body) => {
    const made = await call("POST", path, body);
    if (made.status !== 200) throw new Error(`${path}: ${made.status} ${JSON.stringify(made.body)}`);
    return made.body;
  };
  const order = (customer) => ({ status: "PAID", customer: { id: customer }, items: ITEMS });
  const contenders = [];
  for (const [name, firing] of [["in no program", null], ["in 10 programs with 50 active rules, one fires", 1], ["in 10 programs with 50 active rules, one of each fires", PROGRAMS]]) {
    const customer = (await make("/v1/customers", { source_id: `bench-${Date.now()}-${firing}` })).id;
    if (firing !== null) await enrol(make, customer, firing);
    const paid = await make("/v1/orders", order(customer));
    if (paid.status !== "PAID") throw new Error(`the order of ${name} is ${paid.status}`);
    if (firing !== null) await check(call, customer, firing);
    contenders.push({ name: `order paid (\`POST /v1/orders\`), ten lines, a customer ${name}`, url: `${url}/v1/orders`, body: order(customer) });
  }
  return contenders;
}

async function enrol(make, customer, firing) {
  for (let program = 0; program < PROGRAMS; program++) {
    const card = (await make("/v2/loyalties/card-definitions", { name: `Card ${program}`, type: "INDIVIDUAL", status: "ACTIVE" })).id;
    const rules = [];
    for (let rule = 0; rule < RULES; rule++) {
      const least = rule === 0 && program < firing ? 0 : 1_000_000;
      rules.push(await make("/v2/loyalties/earning-rules", {
        name: `Rule ${rule}`, status: "ACTIVE", trigger: { event: "customer.order.paid" },
        earnings: [{
          rules: { 1: { name: "order.amount", conditions: { $more_than: [least] } } },
          effects: [{ points_proportional: {
            calculation_type: "PRE_DISCOUNT_ORDER_AMOUNT", card_definition_id: card, order: { amount: { every: 100, value: 1 } },
          } }],
        }],
      }));
    }
    const made = await make("/v2/loyalties/programs", {
      name: `Program ${program}`, status: "ACTIVE", card_definitions: [{ id: card }], earning_rules: rules.map(({ id }) => ({ id })),
    });
    await make(`/v2/loyalties/programs/${made.id}/members`, { customer_id: customer });
  }
}

async function check(call, customer, firing) {
  const { body } = await call("GET", `/v2/loyalties/memberships/${customer}`);
  const cards = body.memberships.flatMap((membership) => membership.cards);
  const earned = cards.filter(({ card }) => card.balance.points === 100).length;
  if (earned !== firing) throw new Error(`${earned} cards have earned, not ${firing}`);
}
