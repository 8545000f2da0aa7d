//! Resolves the names of a request: vouchers and tiers with their parts, the customer, the order with its prices. Only
//! this file loads facts for a whole request; every later step is total.

mod combination;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::decide::case::{Case, Offer, ResolvedName, stored};
use crate::decide::order_return::changed_order::OrderChange;
use crate::decide::resolve::combination::{check_combination, check_stack, duplicated};
use crate::decide::returns::is_returnable;
use crate::decide::summary_delta::CountedAs;
use crate::facts::{Exchange, Fact, Known};
use crate::id::Context;
use crate::model::order::Order;
use crate::model::redeemable::{Grant, RedeemableTerms};
use crate::model::request::{RedeemableObject, RequestedRedeemable, RequestedReward};
use crate::model::reward::RewardAssignment;
use crate::pricing::lines::{PriceSource, price};
use crate::refusal::Refusal;
use crate::rules::Rule;
use crate::text::Text;

impl<'a> Case<'a> {
    /// Resolves the request, or refuses it as a whole (docs/spec/calculation.md#11.2, steps 1 to 3).
    pub fn open(&mut self) -> Result<(), Refusal> {
        let request = self.request;
        check_combination(&request.redeemables, &self.stacking)?;
        self.request_customer = stored::find_request_customer(self.facts, request, &mut self.unreadable)?;
        self.find_order()?;
        self.resolved = Vec::with_capacity(request.redeemables.len());
        let priced = self.price();
        match request.redeemables.as_slice() {
            [stack] if stack.object == RedeemableObject::PromotionStack => {
                priced?;
                self.expand(stack)?;
            }
            _ => {
                self.resolve_all();
                // A name given twice is reported before an invalid order. One voucher under two names is reported after
                // it, and to a client only if it may know the vouchers.
                let has_duplicates = self.has_duplicates();
                if has_duplicates && named_twice(&request.redeemables) {
                    return Err(duplicated());
                }
                priced?;
                self.conceal();
                if has_duplicates && self.has_duplicates() {
                    return Err(duplicated());
                }
            }
        }
        Ok(())
    }

    /// Takes an order that the request does not have, as if it were sent.
    pub(in crate::decide) fn start_with(&mut self, order: Order) -> Result<(), Refusal> {
        let client = self.request.channel.is_client();
        self.price_source = if client { PriceSource::Catalogue } else { PriceSource::Sent };
        self.order = Some(Fact::own(order));
        self.price()
    }

    fn price(&mut self) -> Result<(), Refusal> {
        let Case { order: Some(order), priced, missing, price_source, .. } = self else { return Ok(()) };
        price(order, self.facts, *price_source, &mut |fact| missing.add(fact), priced)?;
        if *price_source == PriceSource::Catalogue
            && let Some(settled) = priced.with_catalogue_fields(order)
        {
            *order = Fact::Shared(Arc::new(settled));
        }
        let of_line = |position: usize| [("sku", priced.sku(position)), ("product", priced.product(position))];
        let all = (0..order.items.len()).flat_map(of_line);
        // Their prices and scopes are unknown.
        let unreadable = all.filter_map(|(kind, goods)| Some((kind, goods.filter(|goods| goods.unreadable)?))).next();
        if let Some((kind, goods)) = unreadable {
            let name = goods.id.as_deref().or(goods.source_id.as_deref()).unwrap_or_default();
            self.unreadable = Some(Refusal::unreadable(kind, name));
        }
        Ok(())
    }

    /// Finds the order of the request (docs/spec/calculation.md#2.1). For a stored order named by `id`, sent fields
    /// win; for one named by `source_id`, stored fields do. An order that a client may not use counts as not stored,
    /// and the request's is a new one.
    fn find_order(&mut self) -> Result<(), Refusal> {
        let Some(sent) = self.request.order.as_ref() else { return Ok(()) };
        let client = self.request.channel.is_client();
        self.price_source = if client { PriceSource::Catalogue } else { PriceSource::Sent };
        self.order = Some(Fact::Borrowed(sent));
        let Some(key) = sent.id.as_deref().or(sent.source_id.as_deref()) else { return Ok(()) };
        if self.request.channel.client.as_ref().is_some_and(|client| !client.trusts_customer()) {
            self.start_order(sent);
            return Ok(());
        }
        match self.facts.order(key) {
            Known::Is(stored) if self.may_touch(&stored) => {
                let is_stored = sent.id.is_none() || sent.items.is_empty();
                if is_stored {
                    // The stored prices are trusted (docs/spec/calculation.md#19, D13).
                    self.price_source = PriceSource::Sent;
                }
                self.counted = CountedAs::stored(&stored);
                let order = self.change_stored(key, stored.into_owned(), sent)?;
                self.order = Some(Fact::Shared(Arc::new(order)));
            }
            Known::Is(_) => {
                self.missing.extend(self.request_customer.unknown.clone());
                self.start_order(sent);
            }
            Known::Absent | Known::Unreadable if !self.may_read_orders() => self.start_order(sent),
            Known::Absent => {
                let other = sent.source_id.as_ref().filter(|_| sent.id.is_some());
                if let Some(source_id) = other.filter(|source_id| stored::is_taken(self.facts, source_id)) {
                    return Err(Refusal::duplicate("order", source_id));
                }
            }
            Known::Unknown => self.add_missing("order", key),
            Known::Unreadable => self.unreadable = Some(Refusal::unreadable("order", key)),
        }
        Ok(())
    }

    /// Puts the sent fields over a stored order. Units that are left out are returned with their shares of the
    /// discounts. A client cannot return units of a paid order: the stored lines count.
    fn change_stored(&mut self, key: &str, stored: Order, sent: &Order) -> Result<Order, Refusal> {
        let client = self.request.channel.is_client();
        let changes = sent.id.is_some() && (!sent.items.is_empty() || sent.amount.is_some());
        if !changes || stored.redemptions.is_empty() {
            return Ok(stored::merge_stored_order(stored, sent, client));
        }
        let Some(decide_change) = self.decide_change else {
            self.add_missing("order", key);
            return Ok(stored::merge_stored_order(stored, sent, client));
        };
        let order = stored::merge_stored_order(stored.clone(), sent, client);
        let has_discount = sent.discount_amount.is_some();
        let change = OrderChange { stored: &stored, order, has_discount, price_source: self.price_source };
        // The ids of the return differ from those of the redemption.
        let mut seed = self.context.seed;
        seed.iter_mut().for_each(|byte| *byte = !*byte);
        let changed = decide_change(self.facts, change, &Context { now: self.context.now, seed, first_number: None })?;
        let was_paid = stored.status.is_some_and(is_returnable);
        if client && was_paid && changed.returned.is_some() {
            self.price_source = PriceSource::Sent;
            return Ok(Order { status: sent.status.or(stored.status), ..stored });
        }
        self.returned = changed.returned.map(Box::new);
        Ok(changed.order)
    }

    /// Takes an order as one that is not stored, regardless of a sent id.
    fn start_order(&mut self, sent: &'a Order) {
        if sent.id.is_some() {
            self.order = Some(Fact::Shared(Arc::new(Order { id: None, ..sent.clone() })));
        }
    }

    fn resolve_all(&mut self) {
        for named in &self.request.redeemables {
            let resolved = self.resolve(named);
            self.push_resolved(resolved);
        }
    }

    /// Replaces a stack by its tiers, in their order (docs/spec/calculation.md#11.2, step 2).
    pub(in crate::decide) fn expand(&mut self, named: &RequestedRedeemable) -> Result<(), Refusal> {
        let stack = match self.facts.stack(&named.id) {
            Known::Is(stack) => stack,
            Known::Absent => {
                self.push_resolved(ResolvedName::Refused(Refusal::not_found(named.object.name(), &named.id)));
                return Ok(());
            }
            Known::Unknown => {
                self.add_missing(named.object.name(), &named.id);
                self.push_resolved(ResolvedName::Unknown);
                return Ok(());
            }
            Known::Unreadable => {
                self.push_resolved(ResolvedName::Refused(Refusal::unreadable(named.object.name(), &named.id)));
                return Ok(());
            }
        };
        check_stack(&stack, &self.stacking)?;
        let tier = |id: &Text| RequestedRedeemable {
            object: RedeemableObject::PromotionTier,
            ..RequestedRedeemable::named(id.clone())
        };
        let tiers: Vec<RequestedRedeemable> = stack.tiers.iter().map(tier).collect();
        for tier in &tiers {
            let resolved = self.resolve(tier);
            self.push_resolved(resolved);
        }
        self.redeemables = Cow::Owned(tiers);
        self.stack = Some(stack.id.clone());
        Ok(())
    }

    #[inline]
    pub(in crate::decide) fn resolve(&mut self, redeemable: &RequestedRedeemable) -> ResolvedName<'a> {
        match self.facts.offer(redeemable) {
            Some(offer) if redeemable.reward.is_none() && !self.is_hidden(&offer.incentive, &redeemable.id) => {
                ResolvedName::Offer(Fact::Borrowed(offer))
            }
            _ => self.resolve_parts(redeemable),
        }
    }

    #[inline(never)]
    fn resolve_parts(&mut self, redeemable: &RequestedRedeemable) -> ResolvedName<'a> {
        let kind = redeemable.object.name();
        let found = match redeemable.object {
            RedeemableObject::Voucher => self.facts.voucher(&redeemable.id),
            RedeemableObject::PromotionTier => self.facts.tier(&redeemable.id),
            // A stack is the only redeemable of its request, and was expanded.
            RedeemableObject::PromotionStack => Known::Absent,
        };
        match found {
            Known::Is(incentive) if !self.is_hidden(&incentive, &redeemable.id) => {
                self.complete(incentive, redeemable.reward.as_ref())
            }
            // Only the server may know the holder.
            Known::Is(_) if self.request_customer.unknown.is_some() => {
                self.missing.extend(self.request_customer.unknown.clone());
                ResolvedName::Unknown
            }
            Known::Is(_) | Known::Absent => ResolvedName::Refused(Refusal::not_found(kind, &redeemable.id)),
            Known::Unknown => {
                self.add_missing(kind, &redeemable.id);
                ResolvedName::Unknown
            }
            Known::Unreadable => ResolvedName::Refused(Refusal::unreadable(kind, &redeemable.id)),
        }
    }

    /// Finds the parts of a redeemable: its campaign, category and rules, and the reward that a card is exchanged for.
    pub fn complete(
        &mut self,
        incentive: Fact<'a, RedeemableTerms>,
        requested: Option<&RequestedReward>,
    ) -> ResolvedName<'a> {
        match self.find_offer(incentive, requested) {
            Ok(offer) => ResolvedName::Offer(Fact::Shared(Arc::new(offer))),
            Err(instead) => instead,
        }
    }

    /// Finds the parts of an offer; `Err` is the resolution to use instead.
    fn find_offer(
        &mut self,
        incentive: Fact<'a, RedeemableTerms>,
        requested: Option<&RequestedReward>,
    ) -> Result<Offer<'a>, ResolvedName<'a>> {
        let campaign = match incentive.campaign_id.as_deref() {
            Some(id) => self.need("campaign", id, self.facts.campaign(id))?,
            None => None,
        };
        let inherited = || campaign.as_ref().and_then(|campaign| campaign.category_id.as_ref());
        let category = match incentive.category_id.as_ref().or_else(inherited) {
            Some(id) => self.need("category", id, self.facts.category(id))?,
            None => None,
        };
        let mut rules = self.need_rules(&incentive.id, self.facts.rules(&incentive))?;
        let exchange = self.find_exchange(&incentive, requested)?.map(Box::new);
        if let Some(exchange) = &exchange {
            let id = &exchange.assignment.id;
            rules.extend(self.need_rules(id, self.facts.rules_of(id))?);
        }
        Ok(Offer::new(incentive, campaign, category, rules, exchange))
    }

    /// Returns a part of an offer that may be absent, but must be readable if it is stored.
    fn need<T: Clone>(
        &mut self,
        kind: &str,
        id: &str,
        fact: Known<Fact<'a, T>>,
    ) -> Result<Option<Fact<'a, T>>, ResolvedName<'a>> {
        match fact {
            Known::Is(fact) => Ok(Some(fact)),
            Known::Absent => Ok(None),
            Known::Unknown => {
                self.add_missing(kind, id);
                Ok(None)
            }
            Known::Unreadable => Err(ResolvedName::Refused(Refusal::unreadable(kind, id))),
        }
    }

    /// Returns rules, all of which must be known and readable: a skipped rule would give money away.
    fn need_rules(
        &mut self,
        id: &str,
        rules: Known<Vec<Fact<'a, Rule>>>,
    ) -> Result<Vec<Fact<'a, Rule>>, ResolvedName<'a>> {
        match rules {
            Known::Is(rules) => Ok(rules),
            Known::Absent => Ok(Vec::new()),
            Known::Unknown => {
                self.add_missing("rules", id);
                Err(ResolvedName::Unknown)
            }
            Known::Unreadable => {
                Err(ResolvedName::Refused(Refusal::unreadable("a validation rule of what is known", id)))
            }
        }
    }

    /// Finds the reward that a loyalty card is to be exchanged for; `Err` if only the server can. A missing reward is
    /// reported by the checks.
    fn find_exchange(
        &mut self,
        voucher: &RedeemableTerms,
        requested: Option<&RequestedReward>,
    ) -> Result<Option<Exchange<'a>>, ResolvedName<'a>> {
        let (Grant::Loyalty(_), Some(requested)) = (&voucher.grant, requested) else { return Ok(None) };
        let reward = self.facts.reward(&requested.id);
        let campaign = voucher.campaign_id.as_deref().unwrap_or_default();
        let assignment = self.facts.reward_assignment(&requested.id, campaign);
        match (reward, assignment) {
            (Known::Unreadable, _) | (_, Known::Unreadable) => {
                Err(ResolvedName::Refused(Refusal::unreadable("reward", &requested.id)))
            }
            (Known::Unknown, _) | (_, Known::Unknown) => {
                self.add_missing("reward", &requested.id);
                Err(ResolvedName::Unknown)
            }
            (Known::Is(reward), Known::Is(assignment)) => {
                let assignment = self.priced(voucher, assignment)?;
                Ok(Some(Exchange { reward, assignment }))
            }
            (Known::Absent, _) | (_, Known::Absent) => Ok(None),
        }
    }

    /// Returns an assignment with its price for the holder of a card.
    fn priced(
        &mut self,
        card: &RedeemableTerms,
        assignment: Fact<'a, RewardAssignment>,
    ) -> Result<Fact<'a, RewardAssignment>, ResolvedName<'a>> {
        match self.facts.campaign_tier(card) {
            Known::Absent => Ok(assignment),
            Known::Is(tier) => {
                let mut priced = RewardAssignment::clone(&assignment);
                priced.points = priced.points.map(|points| tier.price(&priced.id, &priced.reward_id, points));
                priced.tier_id = Some(tier.id.clone());
                Ok(Fact::own(priced))
            }
            Known::Unknown => {
                self.add_missing("loyalty_tier", &card.id);
                Err(ResolvedName::Unknown)
            }
            Known::Unreadable => Err(ResolvedName::Refused(Refusal::unreadable("loyalty tier", &card.id))),
        }
    }

    /// Returns whether one voucher is named twice: by equivalent forms of its code, by its id, or by both.
    #[inline(never)]
    fn has_duplicates(&self) -> bool {
        any_twice(&mut self.redeemables.iter().zip(&self.resolved).map(|(named, resolved)| match resolved {
            ResolvedName::Offer(offer) => (offer.incentive.id.as_str(), named.object.name()),
            ResolvedName::Refused(_) | ResolvedName::Unknown => (named.id.as_str(), named.object.name()),
        }))
    }
}

fn named_twice(redeemables: &[RequestedRedeemable]) -> bool {
    any_twice(&mut redeemables.iter().map(|named| (named.id.as_str(), named.object.name())))
}

/// Returns whether a name occurs twice among those of one kind.
fn any_twice(names: &mut dyn Iterator<Item = (&str, &'static str)>) -> bool {
    let mut known = BTreeSet::new();
    for name in names {
        if !known.insert(name) {
            return true;
        }
    }
    false
}
