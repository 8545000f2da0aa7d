//! Decides what a request is about once its names are resolved: the vouchers, the customer, the order with its
//! prices, the rules of the project. The only file that asks facts on behalf of a whole request; everything after
//! it is total. It must not know what any of them leads to.

use std::borrow::Cow;

use crate::facts::{Facts, Known};
use crate::id::Context;
use crate::model::customer::Customer;
use crate::model::incentive::{Campaign, Category, Incentive};
use crate::model::order::Order;
use crate::model::request::{Redeemable, RedeemableObject, Redeemables};
use crate::model::scope::Scope;
use crate::model::stacking::StackingRules;
use crate::pricing::lines::{Priced, price};
use crate::rank::has_twins;
use crate::refusal::{Reason, Refusal};
use crate::rules::Rule;
use crate::text::Text;
use crate::time::TimeZone;

/// The facts that a decision asked for and only the server has, sorted, each once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lacks(Vec<Text>);

impl Lacks {
    /// Adds a fact by its name, such as `voucher/TEN`.
    pub fn add(&mut self, name: Text) {
        if let Err(place) = self.0.binary_search(&name) {
            self.0.insert(place, name);
        }
    }

    /// Their names.
    pub fn into_names(self) -> Vec<Text> {
        self.0
    }
}

/// A redeemable with everything that belongs to it.
#[derive(Debug, Clone)]
pub struct Offer<'a> {
    /// The voucher or tier.
    pub incentive: Cow<'a, Incentive>,
    /// Its campaign.
    pub campaign: Option<Cow<'a, Campaign>>,
    /// Its category, or its campaign's.
    pub category: Option<Cow<'a, Category>>,
    /// The rules assigned to it and to its campaign.
    pub rules: Vec<Cow<'a, Rule>>,
}

impl Offer<'_> {
    /// The lines it is about: the scope of the first rule that names any goods.
    pub fn scope(&self) -> Option<&Scope> {
        let scopes = self.rules.iter().map(|rule| &rule.scope);
        scopes.into_iter().find(|scope| scope.names_goods())
    }
}

/// What a name in the request turned out to be.
#[derive(Debug, Clone)]
pub enum Resolved<'a> {
    /// This.
    Offer(Box<Offer<'a>>),
    /// It cannot be used, whatever the order.
    Refused(Refusal),
    /// Only the server knows it.
    Unknown,
}

/// The customer of a request.
#[derive(Debug, Clone, Default)]
pub struct Buyer<'a> {
    /// The stored profile under what the request sent; `None` without any customer.
    pub customer: Option<Cow<'a, Customer>>,
    /// Whether there is a stored profile.
    pub stored: bool,
    /// The name of the profile that only the server has.
    pub unknown: Option<Text>,
}

/// A request with its names resolved.
pub struct Case<'a> {
    /// What was asked.
    pub request: &'a Redeemables,
    /// Where the facts come from.
    pub facts: &'a dyn Facts,
    /// Moment and seed.
    pub context: &'a Context,
    /// The project's stacking rules.
    pub stacking: Cow<'a, StackingRules>,
    /// The project's time zone.
    pub zone: Cow<'a, TimeZone>,
    /// The order: sent, stored, or stored under what was sent.
    pub order: Option<Cow<'a, Order>>,
    /// Its goods and amounts.
    pub priced: Priced<'a>,
    /// Who buys.
    pub buyer: Buyer<'a>,
    /// What each redeemable is, in the order of the request.
    pub resolved: Vec<Resolved<'a>>,
    /// The facts that only the server has.
    pub lacks: Lacks,
}

impl<'a> Case<'a> {
    /// Resolves a request, or refuses it as a whole (calculation.md section 11.2, steps 1 to 3).
    pub fn open(facts: &'a dyn Facts, request: &'a Redeemables, context: &'a Context) -> Result<Case<'a>, Refusal> {
        let stacking = facts.stacking_rules();
        check_shape(&request.redeemables, &stacking)?;
        let mut lacks = Lacks::default();
        let buyer = find_buyer(facts, request);
        let order = find_order(facts, request.order.as_ref(), &mut lacks);
        let priced = match &order {
            Some(order) => price(order, facts, request.channel.client, &mut |lack| {
                lacks.add(lack);
            })?,
            None => Priced::default(),
        };
        let mut case = Case {
            request,
            facts,
            context,
            stacking,
            zone: facts.time_zone(),
            order,
            priced,
            buyer,
            resolved: Vec::with_capacity(request.redeemables.len()),
            lacks,
        };
        for redeemable in &request.redeemables {
            let resolved = case.resolve(redeemable);
            case.resolved.push(resolved);
        }
        case.refuse_same_voucher()?;
        Ok(case)
    }

    /// The offer at a place, when there is one.
    pub fn offer(&self, place: usize) -> Option<&Offer<'a>> {
        match self.resolved.get(place)? {
            Resolved::Offer(offer) => Some(offer),
            _ => None,
        }
    }

    /// The session key that the request came with.
    pub fn session_key(&self) -> Option<&str> {
        self.request.session.as_ref()?.key.as_deref()
    }

    pub(super) fn resolve(&mut self, redeemable: &Redeemable) -> Resolved<'a> {
        let kind = redeemable.object.name();
        if redeemable.object != RedeemableObject::Voucher {
            return Resolved::Refused(Refusal::not_found(kind, &redeemable.id));
        }
        let voucher = match self.facts.voucher(&redeemable.id) {
            Known::Is(voucher) => voucher,
            Known::Absent => return Resolved::Refused(Refusal::not_found(kind, &redeemable.id)),
            Known::Unknown => {
                self.lack("voucher", &redeemable.id);
                return Resolved::Unknown;
            }
        };
        self.complete(voucher)
    }

    /// A voucher with everything that belongs to it.
    pub(super) fn complete(&mut self, voucher: Cow<'a, Incentive>) -> Resolved<'a> {
        let campaign = match voucher.campaign_id.as_deref() {
            Some(id) => self.need("campaign", id, self.facts.campaign(id)),
            None => None,
        };
        let own = voucher.category_id.clone();
        let inherited = || campaign.as_ref().and_then(|campaign| campaign.category_id.clone());
        let category = match own.or_else(inherited) {
            Some(id) => self.need("category", &id, self.facts.category(&id)),
            None => None,
        };
        let rules = match self.facts.rules(&voucher) {
            Known::Is(rules) => rules,
            Known::Absent => Vec::new(),
            Known::Unknown => {
                self.lack("rules", &voucher.id.clone());
                return Resolved::Unknown;
            }
        };
        Resolved::Offer(Box::new(Offer { incentive: voucher, campaign, category, rules }))
    }

    fn need<T>(&mut self, kind: &str, id: &str, fact: Known<T>) -> Option<T> {
        if matches!(fact, Known::Unknown) {
            self.lack(kind, id);
        }
        fact.is()
    }

    /// Writes down that a fact was asked for which only the server has.
    pub fn lack(&mut self, kind: &str, id: &str) {
        self.lacks.add(compact_str::format_compact!("{kind}/{id}"));
    }

    /// One voucher named once by its code and once by its id is named twice.
    fn refuse_same_voucher(&self) -> Result<(), Refusal> {
        let offers = (0..self.resolved.len()).filter_map(|place| self.offer(place));
        let ids: Vec<&str> = offers.map(|offer| offer.incentive.id.as_str()).collect();
        if has_twins(&ids) { Err(duplicated()) } else { Ok(()) }
    }
}

fn duplicated() -> Refusal {
    Refusal::new(Reason::DuplicatedRedeemables, "Duplicated redeemables detected in one redemption")
}

fn check_shape(redeemables: &[Redeemable], rules: &StackingRules) -> Result<(), Refusal> {
    let is_stack = |redeemable: &Redeemable| redeemable.object == RedeemableObject::PromotionStack;
    if redeemables.len() > 1 && redeemables.iter().any(is_stack) {
        return Err(Refusal::new(Reason::InvalidRedeemables, "Promotion Stack cannot be use with other redeemables"));
    }
    let limit = rules.redeemables_limit;
    let count = redeemables.len();
    if u64::try_from(count).unwrap_or(u64::MAX) > limit {
        return Err(Refusal::new(
            Reason::InvalidRedeemables,
            format!("Property .redeemables must NOT have more than {limit} items (actual count is `{count}`)"),
        ));
    }
    let kinds = [RedeemableObject::Voucher, RedeemableObject::PromotionTier, RedeemableObject::PromotionStack];
    for kind in kinds {
        let those = redeemables.iter().filter(|redeemable| redeemable.object == kind);
        let ids: Vec<&str> = those.map(|redeemable| redeemable.id.as_str()).collect();
        if has_twins(&ids) {
            return Err(duplicated());
        }
    }
    Ok(())
}

/// The stored customer under what the request sent; what is sent wins for this evaluation (endpoints.md, S1).
fn find_buyer<'a>(facts: &dyn Facts, request: &'a Redeemables) -> Buyer<'a> {
    let sent = request.customer.as_ref();
    let named = sent.and_then(|customer| customer.id.as_deref().or(customer.source_id.as_deref()));
    let key = named.or(request.tracking_id.as_deref());
    let found = key.map_or(Known::Absent, |key| facts.customer(key));
    let unknown = match (&found, key) {
        (Known::Unknown, Some(key)) => Some(compact_str::format_compact!("customer/{key}")),
        _ => None,
    };
    let Some(stored) = found.is() else {
        return Buyer { customer: sent.map(Cow::Borrowed), stored: false, unknown };
    };
    let mut customer = stored.into_owned();
    if let Some(sent) = sent {
        let overlaid = |name: &str| name != "id" && name != "metadata";
        for (name, value) in sent.document.iter().filter(|(name, value)| overlaid(name) && !value.is_null()) {
            customer.document.insert(name.clone(), value.clone());
        }
        for (key, value) in &sent.metadata {
            customer.metadata.insert(key.clone(), value.clone());
        }
    }
    Buyer { customer: Some(Cow::Owned(customer)), stored: true, unknown }
}

/// The order of the request (calculation.md section 2.1): of a stored one named by `id`, what is sent wins; of one
/// named by `source_id`, what is stored.
fn find_order<'a>(facts: &dyn Facts, sent: Option<&'a Order>, lacks: &mut Lacks) -> Option<Cow<'a, Order>> {
    let sent = sent?;
    let key = sent.id.as_deref().or(sent.source_id.as_deref());
    let Some(key) = key else { return Some(Cow::Borrowed(sent)) };
    let stored = match facts.order(key) {
        Known::Is(stored) => stored.into_owned(),
        Known::Absent => return Some(Cow::Borrowed(sent)),
        Known::Unknown => {
            lacks.add(compact_str::format_compact!("order/{key}"));
            return Some(Cow::Borrowed(sent));
        }
    };
    if sent.id.is_none() {
        return Some(Cow::Owned(Order { status: sent.status.or(stored.status), ..stored }));
    }
    let replaced = !sent.items.is_empty() || sent.amount.is_some();
    let mut order = stored;
    if replaced {
        order.amount = sent.amount;
        order.initial_amount = sent.initial_amount;
        order.items = sent.items.clone();
    }
    order.discount_amount = sent.discount_amount.or(order.discount_amount);
    order.status = sent.status.or(order.status);
    for (key, value) in &sent.metadata {
        order.metadata.insert(key.clone(), value.clone());
    }
    Some(Cow::Owned(order))
}
