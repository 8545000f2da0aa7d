//! Decides which conditions about the customer are met, apart from any offer: a client that knows the results decides
//! rules whose conditions it does not know.

use crate::decide::case::Case;
use crate::decide::request_usage::RequestUsage;
use crate::decide::rule_input::{Items, OfferFacts, RunningOrder, request_facts};
use crate::facts::{Fact, Facts};
use crate::id::Context;
use crate::model::request::Redeemables;
use crate::model::stacking::StackingRules;
use crate::refusal::Refusal;
use crate::rules::{RequiredFacts, Rule};

/// Returns which of the conditions the customer of a request meets, each given as a rule with this one test. `None` if
/// a fact that one of them needs is unknown or cannot be read.
pub fn met_conditions(
    facts: &dyn Facts,
    request: &Redeemables,
    conditions: &[Rule],
    context: &Context,
) -> Result<Option<Vec<bool>>, Refusal> {
    let mut case = Case::with_stacking_rules(Fact::own(StackingRules::default()), facts, request, context);
    case.open()?;
    let case = &case;
    let (items, usage) = (Items::default(), RequestUsage::default());
    let request_facts = request_facts(case);
    let cart = &case.priced.cart;
    let running_order = RunningOrder { cart, items: &items, request_facts: &request_facts, usage: &usage, paid: None };
    let view = OfferFacts::new(case, None, &running_order);
    let input = view.input(RequiredFacts::default());
    let met = conditions.iter().map(|condition| condition.tests_hold(&input)).collect();
    case.within_bounds()?;
    Ok(view.is_certain().then_some(met))
}
