//! Decides how many units may still be discounted in the lifetime of a campaign or tier, and which accounts count them.
//!
//! docs/spec/calculation.md#7.1. Only an entry with a cap is counted: a cap that is set later begins to count then.

use crate::count::Countable;
use crate::decide::case::{Case, Offer};
use crate::decide::postings::Posting;
use crate::facts::{Known, discounted_units_account, units_account};
use crate::ledger::AccountId;
use crate::model::redeemable::IncentiveObject;
use crate::model::scope::{Cap, ScopeEntry};
use crate::pricing::{CapLookup, Gain, NumberResolver};
use crate::rules::{OrderLines, ResolvedLine};
use crate::text::Text;

/// The units that redeemables of one request have used up, by account.
pub struct Caps<'c> {
    case: &'c Case<'c>,
    used: Vec<(AccountId, u64)>,
    /// Units of the current redeemable, which may still be refused because of the resulting order.
    recorded: Vec<(AccountId, u64)>,
}

impl<'c> Caps<'c> {
    /// Returns caps of which nothing is used up.
    pub fn new(case: &'c Case<'c>) -> Caps<'c> {
        Caps { case, used: Vec::new(), recorded: Vec::new() }
    }

    /// Returns the units that redeemables have used up, by account.
    pub fn used(&self) -> &[(AccountId, u64)] {
        &self.used
    }

    /// Replaces the units that redeemables have used up.
    pub fn reset(&mut self, used: &[(AccountId, u64)]) {
        self.used = used.to_vec();
        self.recorded.clear();
    }

    /// Returns the remaining caps of one redeemable.
    pub fn start<'a>(
        &'a self,
        offer: &'a Offer<'a>,
        items: OrderLines<'a>,
        numbers: &'a NumberResolver<'a>,
    ) -> RemainingCaps<'a> {
        RemainingCaps { caps: self, offer, items, numbers, taken: Vec::new(), missing: std::cell::RefCell::default() }
    }

    /// Records the units that a redeemable would use.
    pub fn record(&mut self, offer: &Offer<'_>, items: OrderLines<'_>, gain: &Gain) {
        self.recorded.clear();
        if offer.capped {
            let customer = customer_key(self.case);
            self.recorded = counted(offer, items, gain, customer.as_deref());
        }
    }

    /// Counts the units recorded last as used, because their redeemable is applied.
    pub fn confirm(&mut self) {
        self.used.append(&mut self.recorded);
    }
}

/// The remaining caps while the units of one redeemable are selected.
pub struct RemainingCaps<'a> {
    caps: &'a Caps<'a>,
    offer: &'a Offer<'a>,
    items: OrderLines<'a>,
    numbers: &'a NumberResolver<'a>,
    taken: Vec<(AccountId, u64)>,
    missing: std::cell::RefCell<Vec<Text>>,
}

impl RemainingCaps<'_> {
    /// Returns the facts that only the server has.
    pub fn missing(self) -> Vec<Text> {
        self.missing.into_inner()
    }
}

impl CapLookup for RemainingCaps<'_> {
    fn left(&self, entry: &ScopeEntry, position: usize) -> u64 {
        let mut left = u64::MAX;
        let customer = customer_key(self.caps.case);
        for cap in &entry.terms.caps {
            let Some(most) = self.numbers.max_units(&cap.most, Some(position)) else { continue };
            let account =
                self.items.get(position).and_then(|item| account_of(cap, entry, self.offer, item, customer.as_deref()));
            let Some(account) = account else { continue };
            let known = match self.caps.case.account_state(&account, Some(most)) {
                Known::Is(account_state) => account_state.available().unwrap_or(most),
                _ => {
                    self.missing.borrow_mut().push(Text::from(account.as_str()));
                    most
                }
            };
            let used = self.caps.used.iter().chain(&self.taken).filter(|(used, _)| *used == account);
            left = left.min(used.fold(known, |left, (_, units)| left.remaining_after(*units)));
        }
        left
    }

    fn take(&mut self, entry: &ScopeEntry, position: usize, units: u64) {
        let Some(item) = self.items.get(position) else { return };
        let customer = customer_key(self.caps.case);
        let accounts = accounts_of(entry, self.offer, item, customer.as_deref());
        self.taken.extend(accounts.into_iter().map(|account| (account, units)));
    }
}

/// Returns the postings that count the units of the redeemable at this position against its caps; nearly always none.
/// `customer` is the id of the redeeming customer.
pub fn cap_postings(case: &Case<'_>, position: usize, gain: &Gain, customer: Option<&str>) -> Vec<Posting> {
    let (Some(offer), Some(order)) = (case.offer(position), &case.order) else { return Vec::new() };
    if !offer.capped {
        return Vec::new();
    }
    // Lines that unit effects added are free, so that nothing more is taken off them.
    let priced = &case.priced;
    let items: Vec<ResolvedLine<'_>> =
        order.items.iter().enumerate().map(|(position, item)| priced.line(position, item)).collect();
    let used = counted(offer, OrderLines::of(&items), gain, customer);
    let posting = |(debit, amount)| Posting { debit, credit: Some(discounted_units_account()), quota: None, amount };
    used.into_iter().map(posting).collect()
}

/// Returns the units that an applied redeemable has used, by account. A unit counts when its line received money off,
/// or when it was replaced.
#[expect(clippy::arithmetic_side_effects, reason = "units of the lines of an order stay within 64 bits")]
fn counted(offer: &Offer<'_>, items: OrderLines<'_>, gain: &Gain, customer: Option<&str>) -> Vec<(AccountId, u64)> {
    let mut found: Vec<(AccountId, u64)> = Vec::new();
    let Some(scope) = offer.scope() else { return found };
    for covered in gain.covered.iter().filter(|covered| !covered.excluded && covered.units > 0) {
        let given = gain.line_discount(covered.position).is_some_and(|off| !off.is_zero());
        let replaced = gain.units_at(covered.position).is_some();
        let entry = covered.entry.and_then(|entry| scope.included.get(entry));
        let (Some(entry), Some(item)) = (entry.filter(|_| given || replaced), items.get(covered.position)) else {
            continue;
        };
        for debit in accounts_of(entry, offer, item, customer) {
            match found.iter_mut().find(|(known, _)| *known == debit) {
                Some((_, units)) => *units += covered.units,
                None => found.push((debit, covered.units)),
            }
        }
    }
    found
}

/// Returns the accounts of an entry's caps on one line, each once. If the entry is one product, a cap of each product
/// and a cap of the whole entry count the same account.
fn accounts_of(
    entry: &ScopeEntry,
    offer: &Offer<'_>,
    item: &ResolvedLine<'_>,
    customer: Option<&str>,
) -> Vec<AccountId> {
    let mut accounts = Vec::with_capacity(entry.terms.caps.len());
    for cap in &entry.terms.caps {
        accounts.extend(account_of(cap, entry, offer, item, customer).filter(|account| !accounts.contains(account)));
    }
    accounts
}

/// Returns the account of a cap on one line. A cap of each customer counts nothing without a customer. A cap of a
/// campaign or tier counts nothing for a redeemable without one.
fn account_of(
    cap: &Cap,
    entry: &ScopeEntry,
    offer: &Offer<'_>,
    item: &ResolvedLine<'_>,
    customer: Option<&str>,
) -> Option<AccountId> {
    let incentive = &offer.incentive;
    let owner = match cap.kind.tier {
        true => (incentive.object == IncentiveObject::PromotionTier).then_some(incentive.id.as_str())?,
        false => incentive.campaign_id.as_deref()?,
    };
    let own = || item.names().into_iter().flatten().next();
    let goods = if cap.kind.each { own()? } else { &entry.goods.id };
    let customer = if cap.kind.customer { Some(customer?) } else { None };
    Some(units_account(owner, goods, customer))
}

/// Returns the name by which the customer is counted.
fn customer_key(case: &Case<'_>) -> Option<Text> {
    case.request_customer.counted_name().cloned()
}
