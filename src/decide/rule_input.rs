//! Provides the facts of a case to rules: amounts, counts and segments; and maps a failed rule to its refusal. Rules:
//! docs/spec/validation-rules.md sections 4, 8 and 12.

mod counts;
mod groups;
mod order;

use std::cell::{Cell, RefCell};

use crate::decide::case::goods_sets::set_fact;
use crate::decide::case::stored::{Absence, IDENTIFIED};
use crate::decide::case::{CHANNEL, Case, Offer};
use crate::decide::finding::Finding;
pub use crate::decide::items::Items;
use crate::decide::rule_input::groups::GroupMembership;
pub use crate::decide::rule_input::order::{PaidOrder, RunningOrder};
use crate::facts::Known;
use crate::model::customer::ProfilePart;
use crate::model::order::{Item, Metadata, RelatedObject};
use crate::money::Money;
use crate::pricing::Gain;
use crate::refusal::{Reason, Refusal};
use crate::rules::{
    Clock, CountPeriod, Counter, FactKind, LineAmounts, RequestFacts, RequiredFacts, RuleFacts, RuleFailure, RuleInput,
};
use crate::text::{Text, joined};

/// Returns the facts of a case that do not depend on a redeemable.
pub fn request_facts<'c>(case: &'c Case<'c>) -> RequestFacts<'c> {
    let channel = &case.request.channel;
    RequestFacts {
        clock: Clock {
            now: case.context.now,
            zone: &case.zone,
            zone_use: Some(&case.zone_use),
            budget: Some(&case.budget),
        },
        customer: case.request_customer.customer.as_deref().map(|customer| &customer.metadata),
        identified: case.request_customer.is_identified(),
        order: case.order.as_deref().map(|order| &order.metadata),
        initial_amount: case.priced.cart.initial_amount,
        redemption: &case.request.metadata,
        channel: [Some(channel.id.as_str()).filter(|id| !id.is_empty()), channel.user.as_deref()],
    }
}

/// The effect of a redeemable on the running order, for its rules.
#[derive(Clone, Copy)]
pub struct CheckedEffect<'v> {
    /// The effect.
    pub gain: &'v Gain,
    /// The total to pay after it, without the units that are free for others.
    pub total: Option<Money>,
}

/// The facts of a case for the rules of one redeemable on a running order.
pub struct OfferFacts<'v> {
    case: &'v Case<'v>,
    offer: Option<&'v Offer<'v>>,
    running_order: &'v RunningOrder<'v>,
    /// The effect of the redeemable, once it is known.
    effect: Option<CheckedEffect<'v>>,
    /// Points that the redeemable takes.
    paid: u64,
    /// Facts that only the server has.
    missing: RefCell<Vec<Text>>,
    /// The refusal of a rule that needs a fact that cannot be read.
    unreadable: RefCell<Option<Refusal>>,
    /// Set when a test passed on the condition that the customer is new. One that fails then fails for a stored customer
    /// too, because a profile that is not read meets no condition.
    if_new: Cell<bool>,
    /// Set when a membership was decided on that condition.
    member_if_new: Cell<bool>,
    /// Set when a test needed a profile that is not read.
    withheld: Cell<bool>,
}

impl<'v> OfferFacts<'v> {
    /// Returns the facts of an offer; without an offer, nothing is counted.
    #[inline]
    pub fn new(
        case: &'v Case<'v>,
        offer: Option<&'v Offer<'v>>,
        running_order: &'v RunningOrder<'v>,
    ) -> OfferFacts<'v> {
        OfferFacts {
            case,
            offer,
            running_order,
            effect: None,
            paid: 0,
            missing: RefCell::default(),
            unreadable: RefCell::default(),
            if_new: Cell::default(),
            member_if_new: Cell::default(),
            withheld: Cell::default(),
        }
    }

    /// Returns the input of rules. `passes` are the tests that pass without evaluation.
    #[inline]
    pub fn input(&'v self, passes: RequiredFacts) -> RuleInput<'v> {
        let customer = || self.case.request_customer.customer.as_deref()?.id.as_ref();
        let holder = self.offer.and_then(|offer| offer.incentive.holder_id.as_ref());
        RuleInput {
            request_facts: self.running_order.visible_facts(),
            linked: holder.is_some() && holder == customer(),
            after: self.effect.and_then(|effect| effect.total),
            items: self.running_order.visible_items().order_lines(),
            passes,
            earning: None,
            facts: self,
        }
    }

    /// Returns the requested facts that only the server has.
    pub fn into_missing(self) -> Vec<Text> {
        self.missing.into_inner()
    }

    /// Returns whether every requested fact was known and readable.
    pub(super) fn is_certain(&self) -> bool {
        let is_open = self.if_new.get() || self.member_if_new.get() || self.withheld.get();
        !is_open && self.missing.borrow().is_empty() && self.unreadable.borrow().is_none()
    }

    /// Returns whether a test needed a profile that is not read.
    pub(super) fn is_withheld(&self) -> bool {
        self.withheld.get()
    }

    /// Returns the customer who may be new, if a result depends on that.
    pub(super) fn missing_customer(&self) -> Option<Text> {
        self.case.request_customer.counted().unknown.clone().filter(|_| self.if_new.get())
    }

    /// Returns whether the customer belongs to a group, and records the reason if that is unknown.
    fn known(&self, belongs: GroupMembership) -> Option<bool> {
        match belongs {
            GroupMembership::Is(is) => Some(is),
            GroupMembership::IfNew(is) => {
                self.member_if_new.set(true);
                Some(is)
            }
            GroupMembership::Withheld => {
                self.withheld.set(true);
                None
            }
            GroupMembership::Missing(name) => {
                self.add_missing(name);
                Some(false)
            }
            GroupMembership::Unreadable(why) => {
                if why.is_some() {
                    self.unreadable.replace(why);
                }
                None
            }
        }
    }

    /// Returns whether a customer that a client names without proof meets the condition of a number.
    fn meets_as_named(&self, number: &str) -> Option<bool> {
        match (self.case.facts.new_customer_condition(number), self.case.request_customer.absence()) {
            (Known::Is(false), _) => Some(false),
            (Known::Is(true), Absence::Known) => Some(true),
            (Known::Is(true), Absence::IfNew) => {
                self.if_new.set(true);
                Some(true)
            }
            (Known::Is(true), Absence::Withheld) => {
                self.withheld.set(true);
                None
            }
            (Known::Absent | Known::Unknown | Known::Unreadable, _) => {
                self.add_missing(joined(&["condition/", number]));
                None
            }
        }
    }

    /// Returns the line at this position of the order, or among those that unit effects have added.
    fn item(&self, position: usize) -> Option<&'v Item> {
        let order = self.case.order.as_deref()?;
        order.items.iter().chain(self.running_order.cart.added()).nth(position)
    }

    fn add_missing(&self, name: Text) {
        self.missing.borrow_mut().push(name);
    }
}

impl RuleFacts for OfferFacts<'_> {
    fn amount(&self) -> Option<Money> {
        self.running_order.visible_cart().total()
    }

    fn line_amounts(&self, line: usize) -> LineAmounts {
        let position = self.running_order.visible_items().position(line);
        self.running_order.visible_cart().lines.get(position).map_or(LineAmounts::default(), |line| LineAmounts {
            price: line.price,
            quantity: line.quantity,
            subtotal: line.amount.map(|_| line.subtotal()),
        })
    }

    fn goods_data(&self, line: usize, property: &str) -> [Option<&Metadata>; 4] {
        let line = self.running_order.visible_items().position(line);
        let item = self.item(line);
        if let Some(hidden) = self.case.hidden_of_goods(line, item, property) {
            self.missing.borrow_mut().extend(hidden.into_iter().flatten());
        }
        let sent = |kind| item.and_then(|item| item.goods(kind));
        let priced = &self.case.priced;
        let [sku, product] = [RelatedObject::Sku, RelatedObject::Product].map(sent);
        let found = [sku, priced.sku(line), product, priced.product(line)];
        found.map(|goods| goods.map(|goods| &goods.metadata))
    }

    fn is_in_goods_set(&self, line: usize, number: u64, without: Option<bool>) -> bool {
        let position = self.running_order.visible_items().position(line);
        let item = self.item(position);
        self.case.meets_set(position, item, number, without).unwrap_or_else(|| {
            self.add_missing(set_fact(number));
            false
        })
    }

    fn is_published(&self) -> bool {
        // A code with a holder was published only to them.
        let Some(offer) = self.offer.filter(|offer| offer.incentive.holder_id.is_none()) else { return false };
        match self.case.publication(&offer.incentive) {
            Known::Is(_) => true,
            Known::Absent | Known::Unreadable => false,
            Known::Unknown => {
                self.add_missing(joined(&["publication/", &offer.incentive.id]));
                false
            }
        }
    }

    fn is_customer_data_complete(&self) -> bool {
        match self.case.request_customer.absence() {
            Absence::Known => true,
            Absence::IfNew => {
                self.if_new.set(true);
                true
            }
            Absence::Withheld => {
                self.withheld.set(true);
                false
            }
        }
    }

    fn record_passed_membership(&self) {
        self.if_new.set(self.if_new.get() || self.member_if_new.get());
    }

    fn is_in_segment(&self, id: &str) -> Option<bool> {
        self.known(groups::is_in_segment(self.case, id))
    }

    fn is_in_tier(&self, id: &str) -> Option<bool> {
        self.known(groups::is_in_tier(self.case, id))
    }

    fn meets_condition(&self, number: &str) -> Option<bool> {
        // Fields of a request count before those of the stored profile, which the result is about.
        let has_sent =
            |part: &ProfilePart| self.case.request.customer.as_ref().is_some_and(|sent| sent.has_sent(*part));
        let changed: Vec<ProfilePart> =
            [ProfilePart::Metadata, ProfilePart::Fields].into_iter().filter(has_sent).collect();
        if changed.is_empty() && self.case.request_customer.named.is_some() {
            return self.meets_as_named(number);
        }
        let customer = self.case.request_customer.customer.as_deref().and_then(|customer| customer.id.as_deref());
        let stays = |customer: &&str| {
            changed.iter().all(|part| self.case.facts.is_condition_independent_of(customer, number, *part))
        };
        match customer
            .filter(stays)
            .map_or(Known::Unknown, |customer| self.case.facts.customer_condition(customer, number))
        {
            Known::Is(is_met) => Some(is_met),
            Known::Absent | Known::Unknown | Known::Unreadable => {
                self.add_missing(joined(&["condition/", number]));
                None
            }
        }
    }

    fn count(&self, counter: Counter, period: CountPeriod) -> Option<u64> {
        self.counted(counter, period)
    }
}

/// Checks every rule of an offer on the running order; the refusal names the one that fails.
#[inline]
pub fn check_rules(
    case: &Case<'_>,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    match offer.rules.is_empty() {
        true => Ok(()),
        false => check_with(OfferFacts::new(case, Some(offer), running_order), found),
    }
}

/// Checks the rules that depend on the order after the redeemable itself.
pub fn check_rules_after(
    case: &Case<'_>,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    effect: CheckedEffect<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let view = OfferFacts {
        effect: Some(effect),
        // A redeemable that takes no points has paid none.
        paid: found.paid.unwrap_or(0),
        ..OfferFacts::new(case, Some(offer), running_order)
    };
    check_with(view, found)
}

#[inline]
fn check_with(view: OfferFacts<'_>, found: &mut Finding) -> Result<(), Refusal> {
    let mut verdict = Ok(());
    let input = view.input(view.case.passes);
    for rule in view.offer.map_or(&[][..], |offer| &offer.rules) {
        if rule.needs.meets(RequiredFacts::CUSTOMER) {
            found
                .missing
                .extend(view.case.request_customer.unknown.clone().or_else(|| view.case.missing_claimed_customer()));
        }
        if rule.needs.meets(RequiredFacts::CHANNEL) && !view.case.facts.knows_channel() {
            found.missing.push(CHANNEL.into());
        }
        let checked = match view.effect {
            Some(_) => rule.check_after(&input),
            None => rule.check(&input),
        };
        if let Err(failure) = checked {
            verdict = Err(violated(&view, failure, &input));
            break;
        }
    }
    if let Some(unreadable) = view.unreadable.take() {
        verdict = Err(unreadable);
    }
    // A customer who is not new meets fewer conditions: then the rules are violated, or another test is the first that fails.
    found.missing.extend(view.missing_customer());
    found.withheld |= verdict.is_err() && view.is_withheld();
    let items = view.running_order.visible_items();
    if !items.missing().is_empty() {
        found.missing.extend_from_slice(items.missing());
    }
    let mut missing = view.into_missing();
    if !missing.is_empty() {
        found.missing.append(&mut missing);
    }
    verdict
}

/// Returns the refusal for a failed rule (docs/spec/validation-rules.md#8). Missing input of the rule comes before the
/// result of its tests.
#[cold]
fn violated(view: &OfferFacts<'_>, failure: RuleFailure<'_>, input: &RuleInput<'_>) -> Refusal {
    let RuleFailure { rule, outermost } = failure;
    let trace = view.case.request.expand.trace;
    let failing_test = (trace || failure.is_refined()).then(|| failure.failing_test(input));
    let leaf = failing_test.as_ref().map_or(outermost, |failing_test| failing_test.leaf);
    let needs = rule.needs;
    let test = leaf.map(|leaf| &leaf.test);
    let facts = |required: RequiredFacts| test.is_some_and(|test| test.name.needs.meets(required));
    let counts_customer =
        test.is_some_and(|test| matches!(test.name.kind, FactKind::Count(..)) && facts(RequiredFacts::CUSTOMER));
    let missing = if input.customer.is_none() && needs.meets(RequiredFacts::CUSTOMER) {
        Some((Reason::MissingCustomer, "Customer is"))
    } else if !input.identified && counts_customer {
        Some((Reason::MissingCustomer, IDENTIFIED))
    } else if input.order.is_none() && needs.meets(RequiredFacts::ORDER) {
        Some((Reason::MissingOrder, "An order is"))
    } else if input.items.is_empty() && facts(RequiredFacts::LINES) {
        Some((Reason::MissingOrderItems, "Order items are"))
    } else if view.running_order.visible_cart().amount.is_none() && facts(RequiredFacts::AMOUNT) {
        Some((Reason::MissingAmount, "An order amount is"))
    } else {
        None
    };
    if let Some((reason, required)) = missing {
        return Refusal::new(reason, format!("{required} required to validate rules"));
    }
    let reason = test.map_or(Reason::OrderRulesViolated, |test| test.name.refusal);
    let kind = view.offer.map_or("Redeemable", |offer| offer.incentive.kind_name(offer.campaign.as_deref()));
    let own = match &failing_test {
        Some(failing_test) => failing_test.message(),
        None => leaf.and_then(|leaf| leaf.message.as_deref()),
    };
    let unanswered = test.filter(|test| matches!(test.name.kind, FactKind::Earning(_))).map(|test| test.name.text);
    let refusal = Refusal::violated(reason, kind, &rule.id, unanswered).with_message(own.or(rule.message.as_deref()));
    match failing_test.filter(|_| trace).and_then(|failing_test| failing_test.explain(input)) {
        Some(why) => refusal.with_explanation(why),
        None => refusal,
    }
}
