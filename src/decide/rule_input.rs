//! Decides what rules get to see of a case: figures, counts, segments; and which refusal a failed rule is. It must not know what a rule says.
//!
//! validation-rules.md sections 4, 8 and 12.

mod groups;

use std::cell::RefCell;

use crate::decide::case::stored::IDENTIFIED;
use crate::decide::case::{Case, Offer};
use crate::decide::finding::Finding;
pub use crate::decide::items::Items;
use crate::decide::rule_input::groups::Belongs;
use crate::decide::running::Running;
use crate::facts::{
    Known, channel_account, customer_account, discounted_account, incentive_account, orders_account,
    points_spent_account, redeemed_account, spent_account, user_account,
};
use crate::ledger::AccountId;
use crate::model::incentive::Grant;
use crate::model::order::{Metadata, RelatedObject};
use crate::money::Money;
use crate::pricing::{Cart, Gain};
use crate::refusal::{Reason, Refusal};
use crate::rules::{Clock, Counter, Failure, Figures, Kind, Needs, Period, RequestFacts, RuleFacts, RuleInput};
use crate::text::{Text, joined};

/// The order as it stands when a redeemable is looked at.
#[derive(Clone, Copy)]
pub struct RunningOrder<'v> {
    /// Its amounts.
    pub cart: &'v Cart,
    /// Its lines.
    pub items: &'v Items<'v>,
    /// What does not depend on a redeemable.
    pub request_facts: &'v RequestFacts<'v>,
    /// What has been applied in this request.
    pub running: &'v Running,
}

/// What of a case does not depend on a redeemable.
pub fn request_facts<'c>(case: &'c Case<'c>) -> RequestFacts<'c> {
    let channel = &case.request.channel;
    RequestFacts {
        clock: Clock { now: case.context.now, zone: &case.zone, work: Some(&case.work) },
        customer: case.buyer.customer.as_deref().map(|customer| &customer.metadata),
        identified: case.buyer.is_identified(),
        order: case.order.as_deref().map(|order| &order.metadata),
        initial_amount: case.priced.cart.initial_amount,
        redemption: &case.request.metadata,
        channel: [Some(channel.id.as_str()).filter(|id| !id.is_empty()), channel.user.as_deref()],
    }
}

/// A case as rules look at it, for one redeemable on a running order.
pub struct OfferFacts<'v> {
    case: &'v Case<'v>,
    offer: Option<&'v Offer<'v>>,
    running_order: &'v RunningOrder<'v>,
    /// What the redeemable does, once that is known.
    gain: Option<&'v Gain>,
    /// Points that it takes.
    paid: u64,
    /// Facts that only the server has.
    lacks: RefCell<Vec<Text>>,
    /// The refusal of whatever asked for something that cannot be read.
    unreadable: RefCell<Option<Refusal>>,
}

impl<'v> OfferFacts<'v> {
    /// What there is to see; without an offer, nothing is counted.
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
            gain: None,
            paid: 0,
            lacks: RefCell::default(),
            unreadable: RefCell::default(),
        }
    }

    /// What rules see. `passes` are those tests that hold without being asked.
    #[inline]
    pub fn input(&'v self, passes: Needs) -> RuleInput<'v> {
        let customer = || self.case.buyer.customer.as_deref()?.id.as_ref();
        let holder = self.offer.and_then(|offer| offer.incentive.holder_id.as_ref());
        RuleInput {
            request_facts: self.running_order.request_facts,
            linked: holder.is_some() && holder == customer(),
            after: self.gain.and_then(|gain| self.after(gain)),
            items: self.running_order.items.basket(),
            passes,
            earning: None,
            facts: self,
        }
    }

    #[inline(never)]
    fn after(&self, gain: &Gain) -> Option<Money> {
        let mut after = self.running_order.cart.clone();
        after.add(gain)?;
        after.total()
    }

    /// The facts that were asked for and only the server has.
    pub fn into_lacks(self) -> Vec<Text> {
        self.lacks.into_inner()
    }

    /// Whether everything that was asked could be answered and read.
    pub(super) fn is_certain(&self) -> bool {
        self.lacks.borrow().is_empty() && self.unreadable.borrow().is_none()
    }

    /// Whether somebody belongs to a group, with note of why nobody can say.
    fn known(&self, belongs: Belongs) -> Option<bool> {
        match belongs {
            Belongs::Is(is) => Some(is),
            Belongs::Lacks(name) => {
                self.lack(name);
                Some(false)
            }
            Belongs::Unreadable(why) => {
                if why.is_some() {
                    self.unreadable.replace(why);
                }
                None
            }
        }
    }

    fn lack(&self, name: Text) {
        self.lacks.borrow_mut().push(name);
    }

    /// What moved on an account in a period; with `held`, what others hold counts as well.
    fn moved(&self, account: &AccountId, period: Period, held: bool) -> Option<u64> {
        let (facts, now) = (self.case.facts, self.case.context.now);
        let moved = match (period, self.start_of(period)) {
            (Period::Ever, _) | (_, None) => match facts.balance(account) {
                Known::Is(balance) => Known::Is(balance.unsigned_abs()),
                Known::Absent => Known::Absent,
                Known::Unknown => Known::Unknown,
                Known::Unreadable => Known::Unreadable,
            },
            (_, Some(since)) => facts.moved(account, since),
        };
        let moved = match moved {
            Known::Is(moved) => moved,
            Known::Absent => 0,
            Known::Unknown => {
                self.lack(Text::from(account.as_str()));
                return None;
            }
            Known::Unreadable => {
                let code = self.offer.map_or("", |offer| &offer.incentive.code);
                self.unreadable.replace(Some(Refusal::unreadable("account", code)));
                return None;
            }
        };
        let others = if held { facts.held(account, now, self.case.own_session().as_ref()).found() } else { None };
        Some(moved.saturating_add(others.unwrap_or(0)))
    }

    /// What others hold of an incentive for the customer, who was not stored yet when they began to.
    fn locked_before(&self, incentive_id: &str) -> u64 {
        let buyer = self.case.buyer.counted();
        let source_id =
            buyer.customer.as_ref().filter(|_| buyer.stored).and_then(|customer| customer.source_id.as_ref());
        let Some(source_id) = source_id else { return 0 };
        let account = customer_account(source_id, incentive_id);
        self.case.facts.held(&account, self.case.context.now, self.case.own_session().as_ref()).found().unwrap_or(0)
    }

    /// When the present day, week or month began in the project's zone.
    fn start_of(&self, period: Period) -> Option<crate::time::Instant> {
        let today = self.case.zone.day(self.case.context.now)?;
        self.case.zone.start_of(match period {
            Period::Ever => return None,
            Period::Day => today,
            Period::Week => today.first_of_week()?,
            Period::Month => today.first_of_month()?,
        })
    }
}

impl RuleFacts for OfferFacts<'_> {
    fn amount(&self) -> Option<Money> {
        self.running_order.cart.total()
    }

    fn figures(&self, line: usize) -> Figures {
        self.running_order.cart.lines.get(line).map_or(Figures::default(), |line| Figures {
            price: line.price,
            quantity: line.quantity,
            subtotal: line.amount.map(|_| line.subtotal()),
        })
    }

    fn goods_data(&self, line: usize, property: &str) -> [Option<&Metadata>; 4] {
        let item = self
            .case
            .order
            .as_deref()
            .and_then(|order| order.items.iter().chain(self.running_order.cart.added()).nth(line));
        if let Some(hidden) = self.case.hidden_of_goods(line, item, property) {
            self.lacks.borrow_mut().extend(hidden.into_iter().flatten());
        }
        let sent = |kind| item.and_then(|item| item.goods(kind));
        let priced = &self.case.priced;
        let [sku, product] = [RelatedObject::Sku, RelatedObject::Product].map(sent);
        let found = [sku, priced.sku(line), product, priced.product(line)];
        found.map(|goods| goods.map(|goods| &goods.metadata))
    }

    fn is_published(&self) -> bool {
        // A code with a holder was published to them alone.
        let Some(offer) = self.offer.filter(|offer| offer.incentive.holder_id.is_none()) else { return false };
        match self.case.publication(&offer.incentive) {
            Known::Is(_) => true,
            Known::Absent | Known::Unreadable => false,
            Known::Unknown => {
                self.lack(joined(&["publication/", &offer.incentive.id]));
                false
            }
        }
    }

    fn is_in_segment(&self, id: &str) -> Option<bool> {
        self.known(groups::is_in_segment(self.case, id))
    }

    fn is_in_tier(&self, id: &str) -> Option<bool> {
        self.known(groups::is_in_tier(self.case, id))
    }

    fn count(&self, counter: Counter, period: Period) -> Option<u64> {
        let Some(offer) = self.offer else { return Some(0) };
        let incentive = &offer.incentive;
        let campaign = incentive.campaign_id.as_deref();
        let customer = self.case.buyer.counted_as().map(Text::as_str);
        if matches!(counter, Counter::IncentiveOfCustomer | Counter::CampaignOfCustomer)
            && let Some(unknown) = &self.case.buyer.counted().unknown
        {
            self.lack(unknown.clone());
        }
        let channel = &self.case.request.channel;
        let gained = || self.gain.and_then(Gain::total).unwrap_or_default().minor();
        let is_gift = |offer: &Offer<'_>| matches!(offer.incentive.grant, Grant::Gift(_));
        // What was applied before of the same campaign counts, in one request as well.
        let offers = self
            .running_order
            .running
            .applied
            .iter()
            .filter_map(|(place, gave)| Some((self.case.offer(*place)?, *gave)));
        let earlier =
            offers.filter(|(other, _)| campaign.is_some() && other.incentive.campaign_id.as_deref() == campaign);
        let (mut times, mut gave, mut credits) = (1_u64, gained(), if is_gift(offer) { gained() } else { 0 });
        for (other, amount) in earlier {
            times = times.saturating_add(1);
            gave = gave.saturating_add(amount);
            credits = credits.saturating_add(if is_gift(other) { amount } else { 0 });
        }
        let (account, own, held) = match counter {
            Counter::Incentive => (Some(incentive_account(incentive)), 1, true),
            Counter::IncentiveOfCustomer => (customer.map(|id| customer_account(id, &incentive.id)), 1, true),
            Counter::IncentiveOfKey => (Some(channel_account(&channel.id, &incentive.id)), 1, false),
            Counter::IncentiveOfUser => {
                (channel.user.as_deref().map(|user| user_account(user, &incentive.id)), 1, false)
            }
            Counter::Campaign => (campaign.map(|id| redeemed_account(Some(id))), times, false),
            Counter::CampaignOfCustomer => {
                (customer.zip(campaign).map(|(customer, campaign)| customer_account(customer, campaign)), times, false)
            }
            Counter::Orders => {
                let value = self.case.priced.cart.amount.unwrap_or_default().minor();
                (campaign.map(|id| orders_account(Some(id))), value, false)
            }
            Counter::Discounted => (campaign.map(|id| discounted_account(Some(id))), gave, false),
            Counter::GiftAmount => (Some(spent_account(campaign)), credits, false),
            Counter::Points => (Some(points_spent_account(campaign)), self.paid, false),
        };
        let before = account.map_or(Some(0), |account| self.moved(&account, period, held))?;
        let locked = if counter == Counter::IncentiveOfCustomer { self.locked_before(&incentive.id) } else { 0 };
        Some(before.saturating_add(locked).saturating_add(own))
    }
}

/// Whether every rule of an offer holds on the running order; otherwise the refusal that says which does not.
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

/// The same for the rules that look at what is left after the redeemable itself.
pub fn check_rules_after(
    case: &Case<'_>,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    gain: &Gain,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let view = OfferFacts {
        gain: Some(gain),
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
        if let Some(unknown) = &view.case.buyer.unknown
            && rule.needs.meets(Needs::CUSTOMER)
        {
            found.lacks.push(unknown.clone());
        }
        let checked = match view.gain {
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
    if !view.running_order.items.lacks().is_empty() {
        found.lacks.extend_from_slice(view.running_order.items.lacks());
    }
    let mut lacks = view.into_lacks();
    if !lacks.is_empty() {
        found.lacks.append(&mut lacks);
    }
    verdict
}

/// Which refusal a failed rule is (validation-rules.md section 8). What the rule needed and did not get comes before
/// what it found.
#[cold]
fn violated(view: &OfferFacts<'_>, failure: Failure<'_>, input: &RuleInput<'_>) -> Refusal {
    let Failure { rule, outermost } = failure;
    let trace = view.case.request.expand.trace;
    let blamed = (trace || failure.is_refined()).then(|| failure.blamed(input));
    let leaf = blamed.as_ref().map_or(outermost, |blamed| blamed.leaf);
    let needs = rule.needs;
    let test = leaf.map(|leaf| &leaf.test);
    let facts = |what: Needs| test.is_some_and(|test| test.name.needs.meets(what));
    let counts_customer = test.is_some_and(|test| matches!(test.name.kind, Kind::Count(..)) && facts(Needs::CUSTOMER));
    let missing = if input.customer.is_none() && needs.meets(Needs::CUSTOMER) {
        Some((Reason::MissingCustomer, "Customer is"))
    } else if !input.identified && counts_customer {
        Some((Reason::MissingCustomer, IDENTIFIED))
    } else if input.order.is_none() && needs.meets(Needs::ORDER) {
        Some((Reason::MissingOrder, "An order is"))
    } else if input.items.is_empty() && facts(Needs::LINES) {
        Some((Reason::MissingOrderItems, "Order items are"))
    } else if view.running_order.cart.amount.is_none() && facts(Needs::AMOUNT) {
        Some((Reason::MissingAmount, "An order amount is"))
    } else {
        None
    };
    if let Some((reason, what)) = missing {
        return Refusal::new(reason, joined(&[what, " required to validate rules"]));
    }
    let reason = test.map_or(Reason::OrderRulesViolated, |test| test.name.refusal);
    let kind = view.offer.map_or("Redeemable", |offer| offer.incentive.kind_name(offer.campaign.as_deref()));
    let own = match &blamed {
        Some(blamed) => blamed.message(),
        None => leaf.and_then(|leaf| leaf.message.as_deref()),
    };
    let unanswered = test.filter(|test| matches!(test.name.kind, Kind::Earning(_))).map(|test| test.name.text);
    let refusal = Refusal::violated(reason, kind, &rule.id, unanswered).worded(own.or(rule.message.as_deref()));
    match blamed.filter(|_| trace).and_then(|blamed| blamed.why(input)) {
        Some(why) => refusal.because(why),
        None => refusal,
    }
}
