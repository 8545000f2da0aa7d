//! Decides which codes of a client's request look to the client like unknown codes: those that cannot be used because
//! of their own state.
//!
//! A client that tries codes would otherwise learn which exist. Such a code is found before sorting and trying, and is
//! replaced by an unknown one. So no sequence, exclusion, category or metadata reveals it. The merchant still gets the
//! real reason.

use crate::decide::case::{Case, Offer, ResolvedName, WrongName};
use crate::decide::finding::Findings;
use crate::decide::items::Items;
use crate::decide::judge::CaseJudge;
use crate::model::request::RedeemableObject;
use crate::pricing::DiscountBase;
use crate::refusal::{Reason, Refusal};
use crate::rules::RequiredFacts;
use crate::stacking::{ApplyOutcome, Judge, Walk};

impl<'a> Case<'a> {
    /// Finds the hidden codes of a client's request and replaces them.
    pub(super) fn conceal(&mut self) {
        if !self.request.channel.is_client() {
            return;
        }
        let found: Vec<(usize, Refusal)> = {
            let case = &*self;
            let private = || (0..case.resolved.len()).filter(|position| case.is_private(*position));
            let items = private().any(|position| case.offer(position).is_some()).then(|| Items::new(case));
            private().filter_map(|position| Some((position, case.fault(position, items.as_ref())?))).collect()
        };
        for (position, refusal) in found {
            self.hide(position, refusal);
        }
    }

    /// Returns whether a position names a code that is not public. An unreadable one is not public either.
    fn is_private(&self, position: usize) -> bool {
        self.redeemables.get(position).is_some_and(|named| named.object == RedeemableObject::Voucher)
            && self.offer(position).is_none_or(|offer| !offer.is_public())
    }

    /// Returns why the code at a position cannot be used regardless of the other redeemables, if the reason is the code
    /// itself.
    fn fault(&self, position: usize, items: Option<&Items<'a>>) -> Option<Refusal> {
        let refusal = match (self.resolved.get(position)?, items) {
            (ResolvedName::Offer(offer), Some(items)) => self.own_refusal(position, offer, items)?,
            (ResolvedName::Refused(refusal), _) => refusal.clone(),
            // Unknown here.
            (ResolvedName::Unknown, _) | (ResolvedName::Offer(_), None) => return None,
        };
        reveals_code(refusal.reason).then_some(refusal)
    }

    /// Returns why an offer would be refused if no other were named.
    fn own_refusal(&self, position: usize, offer: &Offer<'a>, items: &Items<'a>) -> Option<Refusal> {
        let mut found = Findings::default();
        let mut judge = CaseJudge::new(self, items, &mut found);
        let cart = &self.priced.cart;
        let refusal = judge.refusal(position, cart);
        if refusal.is_some() || !offer.needs.meets(RequiredFacts::AFTER) {
            return refusal;
        }
        let gain = judge.gain(position, cart, None, DiscountBase::Discounted, false).ok()?;
        judge.refusal_after(position, cart, &gain, &|| cart.after(&gain))
    }

    /// Records that a name is wrong. Its offer is removed from the request, unless the project discloses reasons to
    /// clients.
    fn hide(&mut self, position: usize, refusal: Refusal) {
        let mut offer = None;
        if let Some(details) = self.client_refusal(position)
            && let Some(resolved) = self.resolved.get_mut(position)
            && let ResolvedName::Offer(hidden) = std::mem::replace(resolved, ResolvedName::Refused(details))
        {
            offer = Some(hidden);
        }
        self.wrong.push(WrongName { position, offer, refusal });
    }

    /// Returns the refusal that a client gets for a code that it cannot use, unless its project discloses the reason.
    fn client_refusal(&self, position: usize) -> Option<Refusal> {
        self.request.channel.client.as_ref().filter(|client| !client.policy.reasons)?;
        let named = self.redeemables.get(position)?;
        Some(Refusal::not_found(named.object.name(), &named.id))
    }

    /// Returns the refusal at a position as the caller may read it.
    pub(super) fn for_client(&self, position: usize, refusal: Refusal) -> Refusal {
        let refusal = self.with_requested_name(position, refusal);
        let hidden = reveals_code(refusal.reason) && self.is_private(position);
        self.client_refusal(position).filter(|_| hidden).unwrap_or(refusal)
    }

    /// Hides codes that were refused only in combination with the others of the request.
    pub(super) fn conceal_combinations(&mut self, walk: &mut Walk) {
        if !self.request.channel.is_client() {
            return;
        }
        for step in &mut walk.steps {
            let ApplyOutcome::Refused(refusal) = &mut step.outcome else { continue };
            let position = step.position;
            if reveals_code(refusal.reason) && self.is_private(position) && self.wrong_name_at(position).is_none() {
                let details = self.for_client(position, refusal.clone());
                self.hide(position, std::mem::replace(refusal, details));
            }
        }
    }
}

/// Returns whether a reason reveals more of a code than its requirements on the order or the customer.
fn reveals_code(reason: Reason) -> bool {
    let details = [
        Reason::MissingCustomer,
        Reason::MissingOrder,
        Reason::MissingAmount,
        Reason::MissingOrderItems,
        Reason::MissingOrderItemsAmount,
        Reason::CustomerRulesViolated,
        Reason::OrderRulesViolated,
        Reason::InvalidAmount,
    ];
    !details.contains(&reason)
}
