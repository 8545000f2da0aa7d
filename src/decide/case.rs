//! Collects the known facts of a request: its resolved names, the customer, the order with its prices, and the rules of
//! the project. Also collects the facts that only the server has.

pub(in crate::decide) mod goods_sets;
mod server_only;
mod step_cost;
pub mod stored;

use std::borrow::Cow;
use std::cell::Cell;
use std::ops::Deref;

use crate::budget::StepBudget;
use crate::decide::order_return::answer::ReturnOutcome;
use crate::decide::order_return::changed_order::DecideChange;
use crate::decide::summary_delta::CountedAs;
pub use crate::facts::Offer;
use crate::facts::{Fact, Facts, Known};
use crate::id::Context;
use crate::ledger::{AccountId, AccountState, Entry, HoldOwner, Transfer};
use crate::model::client::ClientContext;
use crate::model::discount::UnitEffect;
use crate::model::order::{Metadata, Order};
use crate::model::redeemable::{Grant, IncentiveObject, RedeemableTerms};
use crate::model::request::{Redeemables, RequestedRedeemable};
use crate::model::stacking::StackingRules;
use crate::money::Money;
use crate::pricing::Cart;
use crate::pricing::lines::{PriceSource, PricedOrder};
use crate::refusal::Refusal;
use crate::rules::RequiredFacts;
use crate::text::{Text, joined};
use crate::time::{Instant, TimeZone};
pub use stored::RequestCustomer;

/// The missing candidates of a qualification.
pub const CANDIDATES: &str = "candidates";
/// The missing channel of the request.
pub const CHANNEL: &str = "channel";
/// A customer that the service may refuse.
pub const CUSTOMER: &str = "customer";
/// The missing rules of another version of the engine.
pub const ENGINE: &str = "engine";
/// The missing rules of another time.
pub const HORIZON: &str = "horizon";

/// The missing steps of a request for many prices.
pub const STEPS: &str = "steps";

/// The names of missing facts without an id. All others have the form `voucher/TEN`.
pub const MISSING_FACT_NAMES: [&str; 6] = [CANDIDATES, CHANNEL, CUSTOMER, ENGINE, HORIZON, STEPS];

/// The facts that a decision queried and only the server has, sorted, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MissingFacts(Vec<Text>);

impl MissingFacts {
    /// Adds a fact by its name, such as `voucher/TEN`.
    pub fn add(&mut self, name: Text) {
        debug_assert!(name.contains('/') || MISSING_FACT_NAMES.contains(&name.as_str()), "{name} is not in the list");
        if let Err(position) = self.0.binary_search(&name) {
            self.0.insert(position, name);
        }
    }

    /// Adds a fact, if there is one.
    pub fn extend(&mut self, name: Option<Text>) {
        name.into_iter().for_each(|name| self.add(name));
    }
}

impl Deref for MissingFacts {
    type Target = [Text];

    fn deref(&self) -> &[Text] {
        &self.0
    }
}

/// The result of resolving a name of the request.
#[derive(Debug, Clone)]
pub enum ResolvedName<'a> {
    /// The name of an offer.
    Offer(Fact<'a, Offer<'a>>),
    /// A redeemable that cannot be used, regardless of the order.
    Refused(Refusal),
    /// A name that only the server knows.
    Unknown,
}

/// A name in a client's request that the client must not distinguish from an unknown one.
#[derive(Debug, Clone)]
pub struct WrongName<'a> {
    /// Position in the request.
    pub(super) position: usize,
    /// The offer that the name has, if any, and that the client must not see.
    pub(super) offer: Option<Fact<'a, Offer<'a>>>,
    /// The reason why it cannot be used.
    pub(super) refusal: Refusal,
}

/// A request with its names resolved.
#[derive(Clone)]
pub struct Case<'a> {
    /// The request as received.
    pub request: &'a Redeemables,
    /// The redeemables to decide: as requested, or the tiers of the requested stack.
    pub redeemables: Cow<'a, [RequestedRedeemable]>,
    /// The requested stack, by id.
    pub stack: Option<Text>,
    /// The source of facts.
    pub facts: &'a dyn Facts,
    /// Instant and seed.
    pub context: &'a Context,
    /// The project's stacking rules.
    pub stacking: Fact<'a, StackingRules>,
    /// The project's time zone.
    pub zone: Fact<'a, TimeZone>,
    /// Set when the decision depended on the zone.
    pub zone_use: Cell<bool>,
    /// The order: sent, stored, or stored with the sent fields over it.
    pub order: Option<Fact<'a, Order>>,
    /// The part that a change of the stored order by this request returns.
    pub returned: Option<Box<ReturnOutcome>>,
    /// Decides how the stored order changes; `None` if only the server can.
    pub decide_change: Option<DecideChange>,
    /// The summary counts of the stored order.
    pub counted: Option<CountedAs>,
    /// The source of its line prices: the request or the catalogue.
    pub price_source: PriceSource,
    /// The goods and amounts of the order.
    pub priced: PricedOrder<'a>,
    /// The customer of the request.
    pub request_customer: RequestCustomer<'a>,
    /// The resolved name of each of `redeemables`, in their order.
    pub resolved: Vec<ResolvedName<'a>>,
    /// The facts that the rules of all offers need, the number of rules, and the number of goods that they name.
    pub needs: (RequiredFacts, usize, usize),
    /// Tests of rules that pass without evaluation: a qualification leaves some out.
    pub passes: RequiredFacts,
    /// The facts that only the server has.
    pub missing: MissingFacts,
    /// The refusal of all redeemables, if the customer or order of the request is stored and cannot be read. Nothing
    /// can be decided then.
    pub unreadable: Option<Refusal>,
    /// Names of a client's request that are hidden from it.
    pub wrong: Vec<WrongName<'a>>,
    /// The remaining step budget.
    pub budget: StepBudget,
}

impl<'a> Case<'a> {
    /// Returns the metadata of the latest publication of a voucher to the customer of the request.
    pub fn publication(&self, voucher: &RedeemableTerms) -> Known<Fact<'_, Metadata>> {
        let customer_id = self.request_customer.customer.as_deref().and_then(|customer| customer.id.as_ref());
        match customer_id.filter(|_| voucher.object == IncentiveObject::Voucher) {
            Some(customer_id) => self.facts.publication(&voucher.id, customer_id),
            None => Known::Absent,
        }
    }

    /// Returns a request of which nothing is known yet but the rules of the project.
    #[inline]
    pub fn new(facts: &'a dyn Facts, request: &'a Redeemables, context: &'a Context) -> Case<'a> {
        facts.expect_redeemables(&request.redeemables);
        Case::with_stacking_rules(facts.stacking_rules(), facts, request, context)
    }

    /// Returns a request under the given stacking rules, for decisions that redeem nothing and do not load the
    /// project's.
    pub fn with_stacking_rules(
        stacking: Fact<'a, StackingRules>,
        facts: &'a dyn Facts,
        request: &'a Redeemables,
        context: &'a Context,
    ) -> Case<'a> {
        Case {
            request,
            redeemables: Cow::Borrowed(&request.redeemables),
            stack: None,
            facts,
            context,
            stacking,
            zone: facts.time_zone(),
            zone_use: Cell::new(false),
            order: None,
            returned: None,
            decide_change: None,
            counted: None,
            price_source: PriceSource::Sent,
            priced: PricedOrder::default(),
            request_customer: RequestCustomer::default(),
            resolved: Vec::new(),
            needs: Default::default(),
            passes: RequiredFacts::default(),
            missing: MissingFacts::default(),
            unreadable: None,
            wrong: Vec::new(),
            budget: facts.budget(),
        }
    }

    /// Returns the instant at which offers must have started and not ended.
    pub fn in_force_at(&self) -> Instant {
        self.facts.in_force_at().unwrap_or(self.context.now)
    }

    /// Returns the same request without redeemables and missing facts, to try others on its order.
    pub(super) fn without_redeemables(&self) -> Case<'a> {
        Case {
            request: self.request,
            redeemables: Cow::Borrowed(&[]),
            stack: None,
            facts: self.facts,
            context: self.context,
            stacking: self.stacking.clone(),
            zone: self.zone.clone(),
            zone_use: self.zone_use.clone(),
            order: self.order.clone(),
            returned: self.returned.clone(),
            decide_change: self.decide_change,
            counted: None,
            price_source: self.price_source,
            priced: self.priced.clone(),
            request_customer: self.request_customer.clone(),
            resolved: Vec::new(),
            needs: Default::default(),
            passes: self.passes,
            missing: MissingFacts::default(),
            unreadable: self.unreadable.clone(),
            wrong: Vec::new(),
            budget: self.budget.clone(),
        }
    }

    /// Reports the zone as missing if it was needed and the rules were prepared without the project's.
    pub(super) fn add_missing_time_zone(&mut self) {
        if self.zone_use.get() && !self.facts.knows_settings().time_zone {
            self.missing.add("project/time_zone".into());
        }
    }

    /// Reports the customer as missing if the answer depends on the stored profile itself. A server gets the id of
    /// its customer, and metadata is checked together with that of the profile.
    pub(super) fn add_missing_customer(&mut self) {
        let is_checked = || self.request.customer.as_ref().is_some_and(|sent| !sent.metadata.is_empty());
        if !self.request.channel.is_client() || is_checked() {
            self.missing.extend(self.request_customer.unknown.clone());
        }
    }

    /// Returns the customer as a missing fact, if only the server has the rest of the profile.
    pub(super) fn unread_profile(&self) -> Option<Text> {
        let id = self.request_customer.customer.as_deref().filter(|_| self.request_customer.stored)?.id.as_ref()?;
        (!self.facts.knows_profile(id)).then(|| joined(&["customer/", id]))
    }

    /// Returns the offer at a position, if there is one.
    pub fn offer(&self, position: usize) -> Option<&Offer<'a>> {
        match self.resolved.get(position)? {
            ResolvedName::Offer(offer) => Some(offer),
            _ => None,
        }
    }

    /// Returns the session whose key the request has, within the caller's reach: a client redeems with the key of its
    /// server's lock.
    pub fn own_session(&self) -> Option<HoldOwner> {
        let key = self.request.session.as_ref()?.key.clone()?;
        Some(HoldOwner { key, owner: self.request.channel.client.as_ref().map(ClientContext::owner), servers: true })
    }

    /// Returns the name of the claimed customer as a missing fact, if nothing about that customer counts without a
    /// token.
    pub(super) fn missing_claimed_customer(&self) -> Option<Text> {
        let client = self.request.channel.client.as_ref().filter(|_| self.request_customer.customer.is_none())?;
        client.claimed.as_ref().map(|name| joined(&["customer/", name]))
    }

    /// Adds the resolution of the next name, and the facts that the rules of an offer need.
    pub(super) fn push_resolved(&mut self, resolved: ResolvedName<'a>) {
        let resolved = match (&self.unreadable, resolved) {
            (Some(refusal), ResolvedName::Offer(_)) => ResolvedName::Refused(refusal.clone()),
            (_, resolved) => resolved,
        };
        if let ResolvedName::Offer(offer) = &resolved {
            let (needs, rules, goods) = self.needs;
            // Saturates: the counts only decide whether an index is worth its cost.
            let (rules, goods) = (rules.saturating_add(offer.rules.len()), goods.saturating_add(offer.goods));
            self.needs = (needs.and(offer.needs), rules, goods);
        }
        self.resolved.push(resolved);
    }

    /// Names the voucher in a refusal for a client as the request does: rules on the client may have only the hash of a
    /// code.
    pub(super) fn with_requested_name(&self, position: usize, refusal: Refusal) -> Refusal {
        let sent = self.redeemables.get(position).filter(|_| self.request.channel.is_client());
        match sent.zip(self.offer(position)) {
            Some((sent, offer)) => refusal.with_requested_name(&offer.incentive.code, &sent.id),
            None => refusal,
        }
    }

    /// Returns the hidden name at a position, if there is one.
    pub(super) fn wrong_name_at(&self, position: usize) -> Option<&WrongName<'a>> {
        self.wrong.iter().find(|wrong| wrong.position == position)
    }

    /// Returns the value of the order for the budget of a campaign, for a redeemable that is tried on this cart. It is
    /// the amount of the order before the request, without the units that are free for others
    /// (docs/spec/calculation.md#19, D19).
    pub fn order_value(&self, cart: &Cart) -> Money {
        // An order without an amount takes nothing from a budget.
        self.priced.cart.amount.unwrap_or_default().remaining_after(cart.claimed_value())
    }

    /// Returns whether a redeemable may make units free that the customer put into the order, so that others see the
    /// order without them (docs/spec/calculation.md#19, D19).
    pub(super) fn may_claim(&self) -> bool {
        let claims = |resolved: &ResolvedName<'_>| {
            let ResolvedName::Offer(offer) = resolved else { return false };
            let Grant::Discount(discount) = &offer.incentive.grant else { return false };
            discount.units().iter().any(|unit| unit.effect == UnitEffect::AddMissingItems)
        };
        self.resolved.len() > 1 && self.resolved.iter().any(claims)
    }

    /// Records that a fact was requested that only the server has.
    pub fn add_missing(&mut self, kind: &str, id: &str) {
        self.missing.add(joined(&[kind, "/", id]));
    }

    /// Returns the balance of an account, including the amounts that the request returns to it.
    pub fn balance(&self, account: &AccountId) -> Known<i64> {
        let add = |net: i64, transfer: &Transfer| match (transfer.debit == *account, transfer.credit == *account) {
            (true, false) => net.checked_sub_unsigned(transfer.amount),
            (false, true) => net.checked_add_unsigned(transfer.amount),
            (true, true) | (false, false) => Some(net),
        };
        let back = self.budget.checked(self.returned_transfers().try_fold(0, add));
        match self.facts.balance(account) {
            Known::Absent if back != 0 => Known::Is(back),
            found => found.map(|balance| self.budget.checked(balance.checked_add(back))),
        }
    }

    /// Returns the transfers by which the request gives something back.
    fn returned_transfers(&self) -> impl Iterator<Item = &Transfer> {
        self.returned.iter().flat_map(|outcome| &outcome.entries).filter_map(|entry| match entry {
            Entry::Post(transfer) => Some(transfer),
            Entry::Hold(_) | Entry::Release(_) => None,
        })
    }

    /// Returns the state of an account, or that only the server knows it. An account without a limit is not queried.
    pub fn account_state(&self, account: &AccountId, quota: Option<u64>) -> Known<AccountState> {
        if quota.is_none() {
            return Known::Is(AccountState::default());
        }
        let balance = match self.balance(account) {
            Known::Is(balance) => balance,
            // An account without transfers has a balance of zero.
            Known::Absent => 0,
            Known::Unknown => return Known::Unknown,
            Known::Unreadable => return Known::Unreadable,
        };
        let held = self.facts.held(account, self.context.now, self.own_session().as_ref());
        if held == Known::Unreadable {
            return Known::Unreadable;
        }
        // Without known holds, as in a bundle, a missing balance already makes the answer provisional.
        Known::Is(AccountState { quota, balance, held: held.found().unwrap_or(0) })
    }
}
