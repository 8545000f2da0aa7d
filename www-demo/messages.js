// Formats refusals and failures as messages for visitors.

const REASONS = {
  not_found: "There is no such code.",
  voucher_disabled: "This code is switched off.",
  voucher_expired: "This code has expired.",
  voucher_not_active: "This code is not valid yet.",
  voucher_not_active_now: "This code is not valid at this time of the week or day.",
  quantity_exceeded: "This code has been used as often as it can be.",
  gift_amount_exceeded: "The gift card does not hold that much.",
  missing_customer: "This code is for known customers: enter your name.",
  missing_order: "This code needs a cart.",
  missing_amount: "This code needs a cart with prices.",
  missing_order_items: "This code needs at least one line in the cart.",
  missing_order_items_amount: "No line in the cart has an amount that this code could reduce.",
  customer_rules_violated: "This code is not for this customer.",
  order_rules_violated: "The cart does not meet the conditions of this code.",
  redemption_rules_violated: "The conditions of this code are not met.",
  free_product_not_found: "The free product of this code is no longer there.",
  no_applicable_redeemables: "None of the codes can be applied.",
  duplicated_redeemables: "The same code is there twice.",
  multiple_requests: "Another customer is using this code at this moment.",
  applicable_redeemables_limit_exceeded: "No further code can be combined with these.",
  preceding_validation_failed: "Left out, because a code before it cannot be applied.",
  exclusion_rules_not_met: "This code cannot be combined with the others.",
  known_to_server_only: "The page does not know this code.",
  no_effect: "This code would change nothing.",
  unauthorized: "The service does not know this page's key.",
  forbidden: "The project does not allow this from a page.",
  voucher_already_published: "This code was published before.",
  voucher_cannot_be_published: "This customer has a code of the campaign already.",
  no_voucher_suitable_for_publication: "The campaign has no code left to give.",
  too_many_publications: "This customer had a code of the campaign today.",
  missing_vouchers: "Say which campaign the code is to come from.",
  duplicate_source_id: "This was published before.",
  referrer_not_permitted_to_redeem: "The customer who passes this code on cannot use it.",
  not_published: "This code was never published to a customer who could pass it on.",
  member_already_exists: "This customer is a member already.",
  non_active_program: "The program is not active.",
  non_active_member: "This membership is not active.",
  program_outside_validity_window: "The program is not open at this time.",
  zero_card_balance: "There are no points on the card.",
  insufficient_card_balance: "There are not enough points on the card.",
  pay_with_points_not_enabled: "Orders cannot be paid with the points of this card.",
  reward_out_of_stock: "There is none left of this reward.",
  invalid_points_bucket_status: "These points have expired already.",
  invalid_pending_points_bucket_status: "These points do not wait any more.",
};

/** Returns one sentence for a refusal: the demo's own where there is one, else the engine's. */
export function reason(error) {
  if (!error) return "Not applicable.";
  const own = error.error?.message ?? REASONS[error.key];
  if (own) return own;
  return [error.message, error.details].filter(Boolean).join(": ") || "Not applicable.";
}

/** Returns one sentence for an error answer of the service, or for no answer at all. */
export function failure(problem) {
  if (problem.offline) return "Offline: nothing was sent. Switch back on to call the service.";
  if (problem.body) {
    const { key, message, details } = problem.body;
    if (key === "not_found") return `${details ?? message}.`;
    if (key === "invalid_payload") return `The service could not read this: ${details ?? message}`;
    return reason(problem.body);
  }
  if (problem.code) return `The rules were not accepted: ${problem.message}.`;
  if (problem.status) return `The service answered ${problem.status}.`;
  return "The service could not be reached. The page continues to decide by itself.";
}
