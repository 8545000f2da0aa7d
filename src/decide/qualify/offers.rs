//! Resolves candidates of a qualification to offers, and finds the best stack of them.

use crate::decide::best::{BestStack, StackOffers, find_best_stack};
use crate::decide::case::{Case, ResolvedName};
use crate::decide::qualify::page::Match;
use crate::facts::{Candidates, Known};
use crate::model::qualification::{Candidate, CandidateObject};
use crate::model::request::{RedeemableObject, RequestedRedeemable};
use crate::refusal::Refusal;

/// Finds the best stack of the newest matches, at most `most`, in at most `most_steps` of the search. A campaign has no code to redeem, and a
/// promotion stack cannot be combined.
pub(super) fn find_best<'a>(
    case: &mut Case<'a>,
    candidates: &Candidates,
    matches: &[Match<'a>],
    most: usize,
    most_steps: usize,
) -> BestStack<'a> {
    let mut offers = StackOffers::new(case, most_steps);
    let listed = matches.iter().filter_map(|matched| candidates.list.get(matched.position));
    let redeemable =
        listed.filter(|one| matches!(one.object, CandidateObject::Voucher | CandidateObject::PromotionTier));
    for (count, candidate) in redeemable.enumerate() {
        if count == most {
            offers.leave_others();
            break;
        }
        let resolved = resolve(case, candidate);
        if let Some(named) = requested(candidate) {
            offers.add(named, resolved);
        }
    }
    find_best_stack(case, offers)
}

/// Returns the offer of a candidate.
pub(super) fn resolve<'a>(case: &mut Case<'a>, candidate: &Candidate) -> ResolvedName<'a> {
    if let Some(named) = requested(candidate) {
        return case.resolve(&named);
    }
    match case.facts.campaign_voucher(&candidate.id) {
        Known::Is(voucher) => case.complete(voucher, None),
        Known::Absent => ResolvedName::Refused(Refusal::not_found("campaign", &candidate.id)),
        Known::Unknown => {
            case.add_missing("campaign", &candidate.id);
            ResolvedName::Unknown
        }
        Known::Unreadable => ResolvedName::Refused(Refusal::unreadable("campaign", &candidate.id)),
    }
}

/// Returns a candidate as a request names it; `None` for a campaign.
fn requested(candidate: &Candidate) -> Option<RequestedRedeemable> {
    let object = match candidate.object {
        CandidateObject::Voucher => RedeemableObject::Voucher,
        CandidateObject::PromotionTier => RedeemableObject::PromotionTier,
        CandidateObject::PromotionStack => RedeemableObject::PromotionStack,
        CandidateObject::Campaign => return None,
    };
    // A public code in a bundle is known only by its hash; its id finds it as well.
    let name = if candidate.code.is_empty() { &candidate.id } else { &candidate.code };
    Some(RequestedRedeemable { object, ..RequestedRedeemable::named(name.clone()) })
}
