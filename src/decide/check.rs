//! Decides whether one incentive may be used, in the order of validation-rules.md section 8; the first reason counts.
//! It must not know what it gives or what else is applied.

use crate::decide::case::{Case, Offer};
use crate::decide::items::Items;
use crate::decide::loyalty::check_card;
use crate::decide::rule_input::{RunningOrder, check_rules};
use crate::facts::{Known, credits_account, incentive_account};
use crate::ledger::{AccountId, Standing};
use crate::model::discount::{Discount, GiftEffect};
use crate::model::incentive::{Grant, IncentiveObject};
use crate::model::request::Redeemable;
use crate::pricing::{Bundles, Cart, bundles, count_bundles};
use crate::refusal::{Reason, Refusal};
use crate::rules::Needs;
use crate::text::{Text, joined};

/// What the checks of one voucher found besides a reason against it.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    /// Credits left on a gift card, other locks counted; `None` when only the server knows.
    pub credits: Option<u64>,
    /// Points left on a loyalty card, other locks counted.
    pub points: Option<u64>,
    /// Points that the reward takes.
    pub paid: Option<u64>,
    /// Codes left of the campaign of which the reward takes one, if they end.
    pub codes: Option<u64>,
    /// Facts that only the server has.
    pub lacks: Vec<Text>,
    /// The bundles in the order, when the rules ask for any.
    pub bundles: Option<Box<Bundles>>,
    /// The discount with the numbers that its formulas came to and the names of the goods that it gives, when it has any.
    pub resolved: Option<Box<Discount>>,
}

/// What the checks of a request found, by the place of the redeemable, in order: of nearly all of them nothing.
#[derive(Debug, Clone, Default)]
pub struct Findings(Vec<(usize, Finding)>);

impl Findings {
    /// What was found of the redeemable at this place, if anything.
    pub fn get(&self, place: usize) -> Option<&Finding> {
        let at = self.at(place).ok()?;
        self.0.get(at).map(|(_, found)| found)
    }

    /// The same, to write into.
    pub fn of(&mut self, place: usize) -> Option<&mut Finding> {
        let at = self.at(place).unwrap_or_else(|at| {
            self.0.insert(at, (place, Finding::default()));
            at
        });
        self.0.get_mut(at).map(|(_, found)| found)
    }

    /// Puts what was found in place of what was found before, and leaves nothing behind.
    #[inline]
    pub fn put(&mut self, place: usize, found: &mut Finding) {
        let Finding { credits, points, paid, codes, lacks, bundles, resolved } = &*found;
        let is_nothing = credits.or(*points).or(*paid).or(*codes).is_none()
            && lacks.is_empty()
            && bundles.is_none()
            && resolved.is_none();
        if !(is_nothing && self.0.is_empty())
            && let Some(slot) = self.of(place)
        {
            *slot = std::mem::take(found);
        }
    }

    /// Adds facts that only the server has.
    #[inline]
    pub fn lack(&mut self, place: usize, lacks: Vec<Text>) {
        if !lacks.is_empty() {
            self.add(place, lacks);
        }
    }

    #[inline(never)]
    fn add(&mut self, place: usize, mut lacks: Vec<Text>) {
        if let Some(found) = self.of(place) {
            found.lacks.append(&mut lacks);
        }
    }

    /// All facts that only the server has.
    pub fn lacks(&self) -> impl Iterator<Item = &Text> {
        self.0.iter().flat_map(|(_, found)| &found.lacks)
    }

    fn at(&self, place: usize) -> Result<usize, usize> {
        self.0.binary_search_by_key(&place, |(at, _)| *at)
    }
}

/// Checks a voucher against the running order. What it found is told even when it refuses.
#[inline]
pub fn check(
    case: &Case<'_>,
    redeemable: &Redeemable,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    check_readable(offer, running_order.items)?;
    check_terms(case, redeemable, offer, running_order, found)?;
    if offer.capped {
        check_caps(case, offer, found)?;
    }
    check_rules(case, offer, running_order, found)?;
    if !offer.needs.meets(Needs::BUNDLE) {
        return Ok(());
    }
    check_bundles(case, offer, (running_order.cart, running_order.items), found)
}

/// Refuses what names a collection, or looks at goods, of which nobody can say what they are.
#[inline]
pub fn check_readable(offer: &Offer<'_>, items: &Items<'_>) -> Result<(), Refusal> {
    match items.unreadable.is_empty() {
        true => Ok(()),
        false => items.refusal_of(offer).map_or(Ok(()), Err),
    }
}

/// Everything but the rules.
pub fn check_terms(
    case: &Case<'_>,
    redeemable: &Redeemable,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let asks_nothing = redeemable.credits.is_none() && redeemable.reward.is_none();
    if asks_nothing && offer.terms.plain && offer.terms.cover(case.context.now) {
        return Ok(());
    }
    check_validity(case, offer)?;
    check_referrer(case, offer, found)?;
    check_quantity(case, offer, running_order, found)?;
    check_gift(case, redeemable, offer, running_order, found)?;
    check_card(case, redeemable, offer, running_order, found)
}

/// Where units are counted of each customer, it must be possible to say who that is.
fn check_caps(case: &Case<'_>, offer: &Offer<'_>, found: &mut Finding) -> Result<(), Refusal> {
    let entries = || offer.scope().into_iter().flat_map(|scope| &scope.included);
    if !entries().flat_map(|entry| &entry.terms.caps).any(|cap| cap.kind.customer) {
        return Ok(());
    }
    found.lacks.extend(case.buyer.counted().unknown.clone());
    if case.buyer.is_identified() {
        return Ok(());
    }
    let details = joined(&[WHO, " required to count discounted products of each customer"]);
    Err(Refusal::new(Reason::MissingCustomer, details))
}

/// Who can be told from others.
pub(super) const WHO: &str = "A customer with a source_id, or with the id of a stored one, is";

/// Every bundle that the rules ask for must be in the order once at least (calculation.md section 8). Which key a bundle
/// that is not there has is not public: it is a rule about the order that is violated. `[inferred]`
pub fn check_bundles(
    case: &Case<'_>,
    offer: &Offer<'_>,
    (cart, items): (&Cart, &Items<'_>),
    found: &mut Finding,
) -> Result<(), Refusal> {
    for rule in offer.rules.iter() {
        let Some(rules) = &rule.bundle else { continue };
        if !case.work.takes(bundles::steps(rules, items.basket())) {
            return case.within_bounds();
        }
        let bundles = count_bundles(rules, items.basket(), cart);
        let fewest = found.bundles.as_ref().is_none_or(|known| bundles.quantity < known.quantity);
        let is_missing = bundles.quantity == 0;
        if fewest {
            found.bundles = Some(Box::new(bundles));
        }
        if is_missing {
            let refusal = Refusal::new(Reason::OrderRulesViolated, "The order does not hold the bundle of products");
            return Err(refusal.worded(rule.message.as_deref()));
        }
    }
    Ok(())
}

fn refuse(reason: Reason, offer: &Offer<'_>) -> Refusal {
    Refusal::new(reason, offer.incentive.code.as_str())
}

/// The same at the wrong time: a tier has one key for all of it, and its own words (validation-rules.md section 10).
fn refuse_time(reason: Reason, offer: &Offer<'_>) -> Result<(), Refusal> {
    if offer.incentive.object == IncentiveObject::Voucher {
        return Err(refuse(reason, offer));
    }
    let (reason, state) = match reason {
        Reason::VoucherDisabled => (Reason::PromotionInactive, "disabled"),
        _ => (Reason::PromotionNotActiveNow, "not active now"),
    };
    let id = &offer.incentive.id;
    Err(Refusal::new(reason, ["Promotion Tier with id: ", id, " is ", state, "."].concat()))
}

/// Switches first, then beginnings, then ends, then recurring windows; the incentive's before the campaign's.
fn check_validity(case: &Case<'_>, offer: &Offer<'_>) -> Result<(), Refusal> {
    let incentive = &offer.incentive;
    let campaign = offer.campaign.as_deref();
    if !incentive.active || campaign.is_some_and(|campaign| !campaign.active) {
        return refuse_time(Reason::VoucherDisabled, offer);
    }
    // A window made when the voucher was published stands in place of the campaign's.
    let overrides = incentive.validity.expiration_date.is_some();
    let campaign = campaign
        .filter(|campaign| !(campaign.activity_after_publishing && overrides))
        .map(|campaign| &campaign.validity);
    let windows = [Some(&incentive.validity), campaign];
    let windows = || windows.iter().flatten();
    let now = case.context.now;
    if windows().any(|validity| !validity.has_begun(now)) {
        return refuse_time(Reason::VoucherNotActive, offer);
    }
    if windows().any(|validity| validity.is_over(now)) {
        return refuse_time(Reason::VoucherExpired, offer);
    }
    if windows().any(|validity| !validity.recurs(now, &case.zone)) {
        return refuse_time(Reason::VoucherNotActiveNow, offer);
    }
    Ok(())
}

/// A referral code is for others than the customer who passes it on (objects.md section 9).
fn check_referrer(case: &Case<'_>, offer: &Offer<'_>, found: &mut Finding) -> Result<(), Refusal> {
    let Some(referrer) = offer.referrer() else { return Ok(()) };
    let customer = case.buyer.customer.as_ref().and_then(|customer| customer.id.as_ref());
    if customer == Some(referrer) {
        return Err(refuse(Reason::ReferrerNotPermittedToRedeem, offer));
    }
    // Who it is may be for the server to say.
    found.lacks.extend(case.buyer.unknown.clone());
    Ok(())
}

/// How an account stands, and whether only the server knows. An account without a limit is never asked about.
pub fn standing(case: &Case<'_>, account: &AccountId, allotment: Option<u64>) -> Known<Standing> {
    if allotment.is_none() {
        return Known::Is(Standing::default());
    }
    let balance = match case.facts.balance(account) {
        Known::Is(balance) => balance,
        Known::Absent => 0,
        Known::Unknown => return Known::Unknown,
        Known::Unreadable => return Known::Unreadable,
    };
    let held = case.facts.held(account, case.context.now, case.own_session().as_ref());
    Known::Is(Standing { allotment, balance, held: held.found().unwrap_or(0) })
}

fn check_quantity(
    case: &Case<'_>,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    if offer.incentive.quantity.is_none() {
        return Ok(());
    }
    let account = incentive_account(&offer.incentive);
    match running_order.running.standing(case, &account, offer.incentive.quantity) {
        Known::Is(standing) if standing.available() == Some(0) => Err(refuse(Reason::QuantityExceeded, offer)),
        Known::Unknown => {
            found.lacks.push(Text::from(account.as_str()));
            Ok(())
        }
        Known::Unreadable => Err(Refusal::unreadable("account", &offer.incentive.code)),
        Known::Is(_) | Known::Absent => Ok(()),
    }
}

fn check_gift(
    case: &Case<'_>,
    redeemable: &Redeemable,
    offer: &Offer<'_>,
    running_order: &RunningOrder<'_>,
    found: &mut Finding,
) -> Result<(), Refusal> {
    let Grant::Gift(gift) = &offer.incentive.grant else {
        return match redeemable.credits {
            Some(_) => Err(refuse(Reason::InvalidGift, offer)),
            None => Ok(()),
        };
    };
    let account = credits_account(&offer.incentive.id);
    let allotment = gift.allotment().minor();
    let left = match running_order.running.standing(case, &account, Some(allotment)) {
        Known::Is(standing) => standing.available().unwrap_or(0),
        _ => {
            found.lacks.push(Text::from(account.as_str()));
            allotment
        }
    };
    found.credits = Some(left);
    let wanted = redeemable.credits.map_or(1, |credits| credits.minor());
    if left == 0 || wanted > left {
        return Err(refuse(Reason::GiftAmountExceeded, offer));
    }
    if case.order.is_none() {
        let details = "An order is required when redeeming a GIFT_VOUCHER";
        return Err(Refusal::new(Reason::MissingOrder, details));
    }
    if case.priced.cart.amount.is_none() && gift.effect == GiftEffect::ApplyToOrder {
        let details = "An order amount is required when redeeming a GIFT_VOUCHER";
        return Err(Refusal::new(Reason::MissingAmount, details));
    }
    Ok(())
}
