// Solves the workloads by hand in plain JavaScript, as a shop's own checkout would, with the rule and the effects as code. It answers
// amounts and statuses in the format of the API, without the engine's reasons, validity, counts and bounds.

/** Reads the parts of the rules that this code understands, once. */
export function prepare(rules) {
  const ruleOf = new Map(rules.validation_rules.map((rule) => [`v_${rule.name}`, rule]));
  const offers = new Map(rules.vouchers.map(({ id, code, discount }) => {
    const { rules: conditions, applicable_to: scope } = ruleOf.get(id);
    return [code, {
      moreThan: conditions[1].conditions.$more_than[0],
      segments: conditions[2].conditions.$in,
      product: conditions[3].conditions.$is[0].id,
      target: scope.included[0]?.id ?? null,
      // Hundredths of a percent, so that all arithmetic is in whole numbers.
      share: discount.type === "PERCENT" ? Math.round(discount.percent_off * 100) : null,
      amount: discount.amount_off,
    }];
  }));
  return { offers, limit: rules.stacking_rules.applicable_redeemables_limit };
}

export function validate({ offers, limit }, { redeemables, customer, order }) {
  const amounts = order.items.map((item) => item.price * item.quantity);
  const left = [...amounts];
  const amount = amounts.reduce((sum, line) => sum + line, 0);
  const { segment } = customer.metadata;
  const applied = [], inapplicable = [], skipped = [];
  let total = amount;
  for (const { id } of redeemables) {
    const offer = offers.get(id);
    if (applied.length === limit) {
      skipped.push({ id, status: "SKIPPED" });
    } else if (isValid(offer, amount, segment, order.items)) {
      const taken = off(offer, left, order.items, total);
      total -= taken;
      applied.push({ id, status: "APPLICABLE", order: { total_applied_discount_amount: taken, total_amount: total } });
    } else {
      inapplicable.push({ id, status: "INAPPLICABLE" });
    }
  }
  const items = order.items.map(({ product_id, sku_id, price, quantity }, place) => ({
    product_id, sku_id, price, quantity,
    amount: amounts[place], discount_amount: amounts[place] - left[place], subtotal_amount: left[place],
  }));
  return {
    valid: applied.length > 0, redeemables: applied,
    order: { amount, total_discount_amount: amount - total, total_amount: total, items },
    inapplicable_redeemables: inapplicable, skipped_redeemables: skipped,
  };
}

export function isValid(offer, amount, segment, items) {
  return amount > offer.moreThan && offer.segments.includes(segment)
    && items.some((item) => item.product_id === offer.product);
}

/** Takes the rest of each line off, and returns the sum; `total` is the rest of all of them. */
export function off(offer, left, items, total) {
  return offer.share === null ? spread(offer.amount, left, total) : percent(offer, left, items);
}

function percent({ share, target }, left, items) {
  let sum = 0;
  for (let place = 0; place < left.length; place++) {
    if (target !== null && items[place].product_id !== target) continue;
    const off = Math.floor((left[place] * share + 5000) / 10000);
    left[place] -= off;
    sum += off;
  }
  return sum;
}

/** Largest remainder; the lower line first among equal ones. */
function spread(amount, left, total) {
  const pot = Math.min(amount, total);
  const rests = [];
  let missing = pot;
  for (let place = 0; place < left.length; place++) {
    const product = pot * left[place];
    const off = Math.floor(product / total);
    rests.push([product % total, place]);
    left[place] -= off;
    missing -= off;
  }
  rests.sort(([a, first], [b, second]) => b - a || first - second);
  for (let count = 0; count < missing; count++) left[rests[count][1]] -= 1;
  return pot;
}
