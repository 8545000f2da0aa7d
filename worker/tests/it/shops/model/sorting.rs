//! Resolves, sorts and groups redeemables: 11.2, steps 2 to 6.

use crate::shops::shop::Book;
use serde_json::Value as Json;

/// A redeemable of a request.
#[derive(Debug, Clone)]
pub struct Candidate {
    pub id: String,
    /// The voucher or the tier; none when it does not exist.
    pub thing: Option<Json>,
    pub campaign: Option<Json>,
    pub category: Option<String>,
    pub credits: Option<i128>,
}

impl Candidate {
    fn is_of(&self, list: &Json) -> bool {
        let category = self.category.as_deref();
        list.as_array().is_some_and(|list| list.iter().any(|one| one.as_str() == category && category.is_some()))
    }

    pub fn is_in(&self, stacking: &Json, list: &str) -> bool {
        self.is_of(&stacking[list])
    }
}

/// The redeemables of a request, a stack's tiers in place of the stack.
pub fn candidates(book: &Book, request: &Json) -> Vec<Candidate> {
    let mut found = Vec::new();
    for one in request["redeemables"].as_array().unwrap() {
        let id = one["id"].as_str().unwrap();
        if one["object"] == "promotion_stack" {
            let stack = Book::of(&book.stacks, "id", id).unwrap();
            let ids = stack["tiers"]["ids"].as_array().unwrap();
            found.extend(ids.iter().map(|id| candidate(book, id.as_str().unwrap(), &Json::Null)));
        } else {
            found.push(candidate(book, id, one));
        }
    }
    found
}

fn candidate(book: &Book, id: &str, one: &Json) -> Candidate {
    let thing = Book::of(&book.vouchers, "code", id).or_else(|| Book::of(&book.tiers, "id", id)).cloned();
    let campaign = thing.as_ref().and_then(|thing| thing["campaign_id"].as_str());
    let campaign = campaign.and_then(|id| Book::of(&book.campaigns, "id", id)).cloned();
    let category = |of: &Option<Json>| of.as_ref().and_then(|of| of["category_id"].as_str()).map(str::to_owned);
    let category = category(&thing).or_else(|| category(&campaign));
    let credits = one["gift"]["credits"].as_i64().map(i128::from);
    Candidate { id: id.to_owned(), thing, campaign, category, credits }
}

/// Returns the order of the walk; `exclusive` means that an exclusive one is valid, so that joint ones are last.
pub fn sort(book: &Book, mut list: Vec<Candidate>, exclusive: bool) -> Vec<Candidate> {
    let rank = |candidate: &Candidate| {
        let category = candidate.category.as_ref().and_then(|id| Book::of(&book.categories, "id", id));
        category.map_or(i64::MAX, |category| category["hierarchy"].as_i64().unwrap())
    };
    if book.stacking["redeemables_sorting_rule"] == "CATEGORY_HIERARCHY" {
        list.sort_by_key(rank);
    }
    if exclusive {
        list.sort_by_key(|candidate| candidate.is_in(&book.stacking, "joint_categories"));
    }
    list
}
