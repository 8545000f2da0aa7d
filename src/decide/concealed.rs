//! Decides which codes of a page's request are to it as codes that there are not: those that cannot be used because of what
//! they are themselves. It must not know how that is told.
//!
//! Whoever tries codes would otherwise learn which there are. Such a code is found out before anything is sorted or tried, and
//! stands in the request from then on as an unknown one does, so that no order of trying, exclusion, category or metadata tells
//! of it either. What it was is kept beside it, for the shop.

use crate::decide::case::{Case, Offer, Resolved};
use crate::decide::check::Findings;
use crate::decide::items::Items;
use crate::decide::judge::CaseJudge;
use crate::decide::validate::Evaluated;
use crate::facts::Fact;
use crate::model::request::RedeemableObject;
use crate::pricing::Base;
use crate::refusal::{Reason, Refusal};
use crate::rules::Needs;
use crate::stacking::{Judge, Outcome, Step};

/// A name in a page's request that is of no use: a guess, as far as anybody can say.
#[derive(Debug, Clone)]
pub struct Wrong<'a> {
    /// Its place in the request.
    place: usize,
    /// What it names and the page is not told of, when it is anything.
    offer: Option<Fact<'a, Offer<'a>>>,
    /// Why it cannot be used.
    refusal: Refusal,
}

impl<'a> Case<'a> {
    /// Finds what a page named wrongly, and hides what that is.
    pub(super) fn conceal(&mut self) {
        if !self.request.channel.is_page() {
            return;
        }
        let found: Vec<(usize, Refusal)> = {
            let case = &*self;
            let private = || (0..case.resolved.len()).filter(|place| case.is_private(*place));
            let items = private().any(|place| case.offer(place).is_some()).then(|| Items::new(case));
            private().filter_map(|place| Some((place, case.fault(place, items.as_ref())?))).collect()
        };
        for (place, refusal) in found {
            self.hide(place, refusal);
        }
    }

    /// Whether a place names a code that nobody has made public. What stands there and cannot be read is not public either.
    fn is_private(&self, place: usize) -> bool {
        self.redeemables.get(place).is_some_and(|named| named.object == RedeemableObject::Voucher)
            && self.offer(place).is_none_or(|offer| !offer.is_public())
    }

    /// Why the code at a place cannot be used whatever else is in the request, if that lies in the code itself.
    fn fault(&self, place: usize, items: Option<&Items<'a>>) -> Option<Refusal> {
        let refusal = match (self.resolved.get(place)?, items) {
            (Resolved::Offer(offer), Some(items)) => self.alone(place, offer, items)?,
            (Resolved::Refused(refusal), _) => refusal.clone(),
            // Nobody can say here.
            (Resolved::Unknown, _) | (Resolved::Offer(_), None) => return None,
        };
        tells_of_the_code(refusal.reason).then_some(refusal)
    }

    /// Why an offer would be refused if nothing else was named.
    fn alone(&self, place: usize, offer: &Offer<'a>, items: &Items<'a>) -> Option<Refusal> {
        let mut found = Findings::default();
        let mut judge = CaseJudge::new(self, items, &mut found);
        let cart = &self.priced.cart;
        let refusal = judge.refusal(place, cart);
        if refusal.is_some() || !offer.needs.meets(Needs::AFTER) {
            return refusal;
        }
        let gain = judge.gain(place, cart, Base::Discounted, false).ok()?;
        judge.objection(place, cart, &gain)
    }

    /// Writes down that a name is wrong. What it names leaves the request, unless the project tells pages its reasons.
    fn hide(&mut self, place: usize, refusal: Refusal) {
        let mut offer = None;
        if let Some(told) = self.told_instead(place)
            && let Some(resolved) = self.resolved.get_mut(place)
            && let Resolved::Offer(hidden) = std::mem::replace(resolved, Resolved::Refused(told))
        {
            offer = Some(hidden);
        }
        self.wrong.push(Wrong { place, offer, refusal });
    }

    /// What a page is told of a code that it cannot use, unless its project tells it the reason.
    fn told_instead(&self, place: usize) -> Option<Refusal> {
        self.request.channel.page.as_ref().filter(|page| !page.terms.reasons)?;
        let named = self.redeemables.get(place)?;
        Some(Refusal::not_found(named.object.name(), &named.id))
    }

    /// A refusal of what is at a place as whoever asks may read it.
    pub(super) fn told(&self, place: usize, refusal: Refusal) -> Refusal {
        let hidden = tells_of_the_code(refusal.reason) && self.is_private(place);
        self.told_instead(place).filter(|_| hidden).unwrap_or(refusal)
    }

    fn wrong_at(&self, place: usize) -> Option<&Wrong<'a>> {
        self.wrong.iter().find(|wrong| wrong.place == place)
    }
}

impl<'a> Evaluated<'a> {
    /// The same for codes that were of no use only beside the others of the request.
    pub(super) fn conceal(&mut self) {
        let Evaluated { case, walk, .. } = self;
        if !case.request.channel.is_page() {
            return;
        }
        for step in &mut walk.steps {
            let Outcome::Refused(refusal) = &mut step.outcome else { continue };
            let place = step.place;
            if tells_of_the_code(refusal.reason) && case.is_private(place) && case.wrong_at(place).is_none() {
                let told = case.told(place, refusal.clone());
                case.hide(place, std::mem::replace(refusal, told));
            }
        }
    }

    /// How many names of codes in the request were of no use.
    pub fn guesses(&self) -> usize {
        self.wrong.len()
    }

    /// Why a step was refused, whatever a page is told.
    pub fn truth<'s>(&'s self, step: &'s Step) -> Option<&'s Refusal> {
        let Outcome::Refused(told) = &step.outcome else { return None };
        Some(self.wrong_at(step.place).map_or(told, |wrong| &wrong.refusal))
    }

    /// What a step is about, whatever a page is told.
    pub fn meant(&self, step: &Step) -> Option<&Offer<'a>> {
        let hidden = || self.wrong_at(step.place)?.offer.as_deref();
        self.offer(step.place).or_else(hidden)
    }
}

/// Whether a reason says anything of a code but what it wants of the basket or the customer.
fn tells_of_the_code(reason: Reason) -> bool {
    let told = [
        Reason::MissingCustomer,
        Reason::MissingOrder,
        Reason::MissingAmount,
        Reason::MissingOrderItems,
        Reason::MissingOrderItemsAmount,
        Reason::CustomerRulesViolated,
        Reason::OrderRulesViolated,
        Reason::InvalidAmount,
    ];
    !told.contains(&reason)
}
