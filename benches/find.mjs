// Solves workload W3 by hand in plain JavaScript, and by a JSON tree that is interpreted rule by rule. Both answer all qualifying ids, in
// order, and nothing else of the engine's answer.

/** The promotions as the API writes them, newest first, each with its rule. */
function promotions({ promotion_tiers: tiers, validation_rules: rules }) {
  const ruleOf = new Map(rules.map((rule) => [rule.name, rule.rules]));
  return [...tiers].sort((a, b) => (a.created_at < b.created_at ? 1 : -1)).map(({ id }) => ({ id, rule: ruleOf.get(id) }));
}

/** Solves it by hand, as a shop's own code would, with lookups where possible. */
export function prepare(rules) {
  return promotions(rules).map(({ id, rule }) => ({
    id,
    moreThan: rule[1].conditions.$more_than[0],
    segments: new Set(rule[2].conditions.$in),
    product: rule[3].conditions.$is[0].id,
  }));
}

export function find(offers, { customer, order }) {
  const amount = order.items.reduce((sum, item) => sum + item.price * item.quantity, 0);
  const products = new Set(order.items.map((item) => item.product_id));
  const { segment } = customer.metadata;
  const ids = [];
  for (const offer of offers) {
    if (amount > offer.moreThan && offer.segments.has(segment) && products.has(offer.product)) ids.push(offer.id);
  }
  return { ids };
}

/** The same rules as trees that name facts, as in engines whose rules are data. */
export function prepareTrees(rules) {
  return promotions(rules).map(({ id, rule }) => ({
    id,
    rule: { all: [
      { fact: "amount", operator: "more_than", value: rule[1].conditions.$more_than[0] },
      { fact: "segment", operator: "in", value: rule[2].conditions.$in },
      { any: "items", of: { fact: "product_id", operator: "equal", value: rule[3].conditions.$is[0].id } },
    ] },
  }));
}

const OPERATORS = {
  more_than: (found, expected) => found > expected,
  in: (found, expected) => expected.includes(found),
  equal: (found, expected) => found === expected,
};

function isTrue(rule, facts) {
  if (rule.all) return rule.all.every((part) => isTrue(part, facts));
  if (rule.any) return facts[rule.any].some((item) => isTrue(rule.of, item));
  return OPERATORS[rule.operator](facts[rule.fact], rule.value);
}

export function findInTrees(trees, { customer, order }) {
  const amount = order.items.reduce((sum, item) => sum + item.price * item.quantity, 0);
  const facts = { amount, segment: customer.metadata.segment, items: order.items };
  return { ids: trees.filter(({ rule }) => isTrue(rule, facts)).map(({ id }) => id) };
}
