//! Decides what the names of a request are: the vouchers and tiers with all that belongs to them, the customer, the order with
//! its prices. The only file that asks facts on behalf of a whole request; everything after it is total. It must not know what
//! any of them leads to.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::decide::case::{Case, Offer, Resolved, stored};
use crate::decide::combination::{check_combination, check_stack, duplicated};
use crate::decide::tally::Counted;
use crate::facts::{Exchange, Fact, Known};
use crate::model::incentive::{Grant, Incentive};
use crate::model::order::Order;
use crate::model::request::{Redeemable, RedeemableObject, WantedReward};
use crate::model::reward::RewardAssignment;
use crate::pricing::lines::{Trust, price};
use crate::refusal::Refusal;
use crate::rules::Rule;
use crate::text::Text;

impl<'a> Case<'a> {
    /// Resolves the request, or refuses it as a whole (calculation.md section 11.2, steps 1 to 3).
    pub fn open(&mut self) -> Result<(), Refusal> {
        let request = self.request;
        check_combination(&request.redeemables, &self.stacking)?;
        self.buyer = stored::find_buyer(self.facts, request, &mut self.unreadable)?;
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
                // What is named twice is told before what is wrong with the order; one voucher under two names, after it, and
                // to a page only of vouchers that it may know of.
                let has_twins = self.has_twins();
                if has_twins && named_twice(&request.redeemables) {
                    return Err(duplicated());
                }
                priced?;
                self.conceal();
                if has_twins && self.has_twins() {
                    return Err(duplicated());
                }
            }
        }
        Ok(())
    }

    fn price(&mut self) -> Result<(), Refusal> {
        let Case { order: Some(order), priced, lacks, trust, .. } = self else { return Ok(()) };
        price(order, self.facts, *trust, &mut |lack| lacks.add(lack), priced)?;
        if *trust == Trust::Catalogue
            && let Some(settled) = priced.overruled(order)
        {
            *order = Fact::Own(Arc::new(settled));
        }
        let of_line = |place: usize| [("sku", priced.sku(place)), ("product", priced.product(place))];
        let all = (0..order.items.len()).flat_map(of_line);
        // Nobody can say what they cost, or which scopes they are in.
        let unreadable = all.filter_map(|(kind, goods)| Some((kind, goods.filter(|goods| goods.unreadable)?))).next();
        if let Some((kind, goods)) = unreadable {
            let name = goods.id.as_deref().or(goods.source_id.as_deref()).unwrap_or_default();
            self.unreadable = Some(Refusal::unreadable(kind, name));
        }
        Ok(())
    }

    /// Finds the order of the request (calculation.md section 2.1): of a stored one named by `id`, what is sent wins; of
    /// one named by `source_id`, what is stored. For a page one that it may not touch is as one that is not stored, and the order
    /// is a new one.
    fn find_order(&mut self) -> Result<(), Refusal> {
        let Some(sent) = self.request.order.as_ref() else { return Ok(()) };
        let client = self.request.channel.is_page();
        self.trust = if client { Trust::Catalogue } else { Trust::Sent };
        self.order = Some(Fact::Lent(sent));
        let Some(key) = sent.id.as_deref().or(sent.source_id.as_deref()) else { return Ok(()) };
        if self.request.channel.page.as_ref().is_some_and(|page| !page.is_believed()) {
            self.begin_order(sent);
            return Ok(());
        }
        match self.facts.order(key) {
            Known::Is(stored) if self.may_touch(&stored) => {
                let is_stored = sent.id.is_none() || sent.items.is_empty();
                if is_stored {
                    // Somebody vouched for what is stored (calculation.md section 19, D13).
                    self.trust = Trust::Sent;
                }
                self.counted = Counted::stored(&stored);
                let order = stored::overlaid(stored.into_owned(), sent, client);
                self.order = Some(Fact::Own(Arc::new(order)));
            }
            Known::Is(_) => self.begin_order(sent),
            Known::Absent | Known::Unreadable if !self.sees_orders() => self.begin_order(sent),
            Known::Absent => {
                let other = sent.source_id.as_ref().filter(|_| sent.id.is_some());
                if let Some(source_id) = other.filter(|source_id| stored::is_taken(self.facts, source_id)) {
                    return Err(Refusal::taken("order", source_id));
                }
            }
            Known::Unknown => self.lack("order", key),
            Known::Unreadable => self.unreadable = Some(Refusal::unreadable("order", key)),
        }
        Ok(())
    }

    /// Takes an order as one that is not stored, whatever id was sent with it.
    fn begin_order(&mut self, sent: &'a Order) {
        if sent.id.is_some() {
            self.order = Some(Fact::Own(Arc::new(Order { id: None, ..sent.clone() })));
        }
    }

    fn resolve_all(&mut self) {
        for named in &self.request.redeemables {
            let resolved = self.resolve(named);
            self.put(resolved);
        }
    }

    /// Puts the tiers of a stack in its place, in their order (calculation.md section 11.2, step 2).
    pub(super) fn expand(&mut self, named: &Redeemable) -> Result<(), Refusal> {
        let stack = match self.facts.stack(&named.id) {
            Known::Is(stack) => stack,
            Known::Absent => {
                self.put(Resolved::Refused(Refusal::not_found(named.object.name(), &named.id)));
                return Ok(());
            }
            Known::Unknown => {
                self.lack(named.object.name(), &named.id);
                self.put(Resolved::Unknown);
                return Ok(());
            }
            Known::Unreadable => {
                self.put(Resolved::Refused(Refusal::unreadable(named.object.name(), &named.id)));
                return Ok(());
            }
        };
        check_stack(&stack, &self.stacking)?;
        let tier = |id: &Text| Redeemable { object: RedeemableObject::PromotionTier, ..Redeemable::named(id.clone()) };
        let tiers: Vec<Redeemable> = stack.tiers.iter().map(tier).collect();
        for tier in &tiers {
            let resolved = self.resolve(tier);
            self.put(resolved);
        }
        self.redeemables = Cow::Owned(tiers);
        self.stack = Some(stack.id.clone());
        Ok(())
    }

    #[inline]
    pub(super) fn resolve(&mut self, redeemable: &Redeemable) -> Resolved<'a> {
        match self.facts.offer(redeemable) {
            Some(offer) if redeemable.reward.is_none() && !self.hides(&offer.incentive) => {
                Resolved::Offer(Fact::Lent(offer))
            }
            _ => self.resolve_parts(redeemable),
        }
    }

    #[inline(never)]
    fn resolve_parts(&mut self, redeemable: &Redeemable) -> Resolved<'a> {
        let kind = redeemable.object.name();
        let found = match redeemable.object {
            RedeemableObject::Voucher => self.facts.voucher(&redeemable.id),
            RedeemableObject::PromotionTier => self.facts.tier(&redeemable.id),
            // A stack is alone in its request, and was expanded.
            RedeemableObject::PromotionStack => Known::Absent,
        };
        match found {
            Known::Is(incentive) if !self.hides(&incentive) => self.complete(incentive, redeemable.reward.as_ref()),
            Known::Is(_) | Known::Absent => Resolved::Refused(Refusal::not_found(kind, &redeemable.id)),
            Known::Unknown => {
                self.lack(kind, &redeemable.id);
                Resolved::Unknown
            }
            Known::Unreadable => Resolved::Refused(Refusal::unreadable(kind, &redeemable.id)),
        }
    }

    /// Finds what belongs to an incentive: its campaign, category and rules, and the reward that a card is exchanged for.
    pub fn complete(&mut self, incentive: Fact<'a, Incentive>, wanted: Option<&WantedReward>) -> Resolved<'a> {
        match self.find_offer(incentive, wanted) {
            Ok(offer) => Resolved::Offer(Fact::Own(Arc::new(offer))),
            Err(instead) => instead,
        }
    }

    /// The same; `Err` is what it is instead of an offer.
    fn find_offer(
        &mut self,
        incentive: Fact<'a, Incentive>,
        wanted: Option<&WantedReward>,
    ) -> Result<Offer<'a>, Resolved<'a>> {
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
        let exchange = self.find_exchange(&incentive, wanted)?.map(Box::new);
        if let Some(exchange) = &exchange {
            let id = &exchange.assignment.id;
            rules.extend(self.need_rules(id, self.facts.rules_of(id))?);
        }
        Ok(Offer::new(incentive, (campaign, category), rules, exchange))
    }

    /// A part of an offer that may be missing, but must be readable when it is there.
    fn need<T: Clone>(
        &mut self,
        kind: &str,
        id: &str,
        fact: Known<Fact<'a, T>>,
    ) -> Result<Option<Fact<'a, T>>, Resolved<'a>> {
        match fact {
            Known::Is(fact) => Ok(Some(fact)),
            Known::Absent => Ok(None),
            Known::Unknown => {
                self.lack(kind, id);
                Ok(None)
            }
            Known::Unreadable => Err(Resolved::Refused(Refusal::unreadable(kind, id))),
        }
    }

    /// Rules, all of which must be known and readable: one that is passed over would give money away.
    fn need_rules(&mut self, id: &str, rules: Known<Vec<Fact<'a, Rule>>>) -> Result<Vec<Fact<'a, Rule>>, Resolved<'a>> {
        match rules {
            Known::Is(rules) => Ok(rules),
            Known::Absent => Ok(Vec::new()),
            Known::Unknown => {
                self.lack("rules", id);
                Err(Resolved::Unknown)
            }
            Known::Unreadable => Err(Resolved::Refused(Refusal::unreadable("a validation rule of what is known", id))),
        }
    }

    /// Finds the reward that a loyalty card is to be exchanged for; `Err` when only the server could. That there is
    /// none is told at its place among the checks.
    fn find_exchange(
        &mut self,
        voucher: &Incentive,
        wanted: Option<&WantedReward>,
    ) -> Result<Option<Exchange<'a>>, Resolved<'a>> {
        let (Grant::Loyalty(_), Some(wanted)) = (&voucher.grant, wanted) else { return Ok(None) };
        let reward = self.facts.reward(&wanted.id);
        let campaign = voucher.campaign_id.as_deref().unwrap_or_default();
        let assignment = self.facts.reward_assignment(&wanted.id, campaign);
        match (reward, assignment) {
            (Known::Unreadable, _) | (_, Known::Unreadable) => {
                Err(Resolved::Refused(Refusal::unreadable("reward", &wanted.id)))
            }
            (Known::Unknown, _) | (_, Known::Unknown) => {
                self.lack("reward", &wanted.id);
                Err(Resolved::Unknown)
            }
            (Known::Is(reward), Known::Is(assignment)) => {
                let assignment = self.priced(voucher, assignment)?;
                Ok(Some(Exchange { reward, assignment }))
            }
            (Known::Absent, _) | (_, Known::Absent) => Ok(None),
        }
    }

    /// An assignment with the price that it has for the holder of a card.
    fn priced(
        &mut self,
        card: &Incentive,
        assignment: Fact<'a, RewardAssignment>,
    ) -> Result<Fact<'a, RewardAssignment>, Resolved<'a>> {
        match self.facts.campaign_tier(card) {
            Known::Absent => Ok(assignment),
            Known::Is(tier) => {
                let mut priced = RewardAssignment::clone(&assignment);
                priced.points = priced.points.map(|points| tier.price(&priced.id, &priced.reward_id, points));
                priced.tier_id = Some(tier.id.clone());
                Ok(Fact::own(priced))
            }
            Known::Unknown => {
                self.lack("loyalty tier", &card.id);
                Err(Resolved::Unknown)
            }
            Known::Unreadable => Err(Resolved::Refused(Refusal::unreadable("loyalty tier", &card.id))),
        }
    }

    /// Whether one voucher is named twice: by its code, by its id, or once by each.
    #[inline(never)]
    fn has_twins(&self) -> bool {
        if named_twice(&self.redeemables) {
            return true;
        }
        // Those that are all named by their codes are told apart by them.
        let offers = || {
            self.redeemables.iter().zip(&self.resolved).filter_map(|(named, resolved)| match resolved {
                Resolved::Offer(offer) => Some((named, offer)),
                Resolved::Refused(_) | Resolved::Unknown => None,
            })
        };
        offers().any(|(named, offer)| offer.incentive.code != named.id)
            && any_twice(&mut offers().map(|(_, offer)| (offer.incentive.id.as_str(), "")))
    }
}

fn named_twice(redeemables: &[Redeemable]) -> bool {
    any_twice(&mut redeemables.iter().map(|named| (named.id.as_str(), named.object.name())))
}

/// Whether a name is there twice, of those of one kind.
fn any_twice(names: &mut dyn Iterator<Item = (&str, &'static str)>) -> bool {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return true;
        }
    }
    false
}
