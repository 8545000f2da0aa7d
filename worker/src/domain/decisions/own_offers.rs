//! The vouchers of one customer as offers of a bundle's supplement: those that the customer's qualifications list and no other client's.

use crate::access::client::response_filter;
use crate::domain::bundle::customer_conditions::NumberedConditions;
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::Store;
use crate::store::candidates::CandidateRows;
use crate::store::document::Document;
use crate::store::documents::any_kind;
use crate::store::sql::Fault;
use scrip::facts::{CandidateFilter, credits_account, incentive_account, points_account};
use scrip::model::qualification::Candidate;
use scrip::model::redeemable::{Grant, RedeemableTerms};
use scrip::rules::{RequiredFacts, Rule};
use scrip::time::Instant;
use serde::Serialize;
use serde_json::{Value as Json, json};
use std::collections::{BTreeMap, BTreeSet};

/// Customer of a supplement.
#[derive(Debug, Clone, Copy)]
pub struct SupplementOwner<'i, 'n> {
    /// Id of the stored profile.
    pub id: &'i str,
    /// Name that the token proves: it replaces the id, which clients do not learn.
    pub name: &'n str,
}

/// Vouchers of a customer, with the documents that a decision needs.
#[derive(Debug, Default, Serialize)]
pub struct OwnOffers {
    /// True if these are all that qualifications of the customer list.
    #[serde(rename = "own_candidates", skip_serializing_if = "is_false")]
    pub is_complete: bool,
    /// Balances of the accounts that limit them.
    #[serde(rename = "own_balances", skip_serializing_if = "BTreeMap::is_empty")]
    balances: BTreeMap<String, i64>,
    /// Documents, filtered as those of a core are.
    #[serde(flatten)]
    documents: BTreeMap<String, Json>,
    /// Ids of the vouchers and their campaigns.
    #[serde(skip)]
    pub ids: BTreeSet<String>,
    /// Time at which points of a card become spendable, or expire.
    #[serde(skip)]
    pub changes_at: Option<Instant>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl OwnOffers {
    /// Returns the offers of a customer without vouchers.
    pub fn none() -> OwnOffers {
        OwnOffers { is_complete: true, ..OwnOffers::default() }
    }

    /// Loads the vouchers of a stored customer. Conditions about customers in their rules get numbers.
    pub fn load(
        call: &Call<'_, '_>,
        owner: SupplementOwner<'_, '_>,
        conditions: &mut NumberedConditions,
    ) -> Result<OwnOffers, CallError> {
        let Some(page) = &call.client else { return Ok(OwnOffers::default()) };
        let filter = CandidateFilter { customer: Some(owner.id), only_own: true, stacks: false, client: true };
        let rows = CandidateRows::read(call.store, &filter, call.context.now)?;
        let mut own = OwnOffers::none();
        let mut own_documents = Vec::new();
        own.changes_at = rows.incentives.values().filter_map(|terms| next_points_change(&terms.grant)).min();
        for candidate in &rows.set.list {
            match own.read_voucher(&rows, candidate, owner) {
                Some(document) => own_documents.push((candidate, document)),
                None => own.is_complete = false,
            }
        }
        if own_documents.is_empty() {
            return Ok(own);
        }
        let mut lists = lists_of(call.store, &rows, &own_documents, conditions)?;
        lists.insert("vouchers".into(), own_documents.into_iter().map(|(_, document)| document).collect());
        let mut documents = serde_json::to_value(lists).map_err(|error| Fault(error.to_string()))?;
        response_filter::filter_own_offers(page, &mut documents);
        own.documents = serde_json::from_value(documents).map_err(|error| Fault(error.to_string()))?;
        Ok(own)
    }

    /// Returns the document of a voucher as its holder's client may have it; `None` if only the server can decide it.
    fn read_voucher(
        &mut self,
        rows: &CandidateRows,
        candidate: &Candidate,
        owner: SupplementOwner<'_, '_>,
    ) -> Option<Json> {
        let terms = rows.incentives.get(&candidate.id)?;
        let is_own = |id: &str| id == owner.id;
        if !terms.holder_id.as_deref().is_some_and(is_own) || !terms.referrer_id.as_deref().is_none_or(is_own) {
            return None;
        }
        if rules_of(rows, candidate, terms).any(|rule| rule.is_none_or(compares_goods_metadata)) {
            return None;
        }
        let accounts = accounts_of(terms);
        if accounts.iter().any(|account| !rows.unheld.contains(account)) {
            return None;
        }
        let mut document: Json = serde_json::from_str(&terms.document).ok()?;
        let members = document.as_object_mut()?;
        members.insert("holder_id".into(), owner.name.into());
        if terms.referrer_id.is_some() {
            members.insert("referrer_id".into(), owner.name.into());
        }
        if let Grant::Loyalty(card) = &terms.grant {
            members.insert("loyalty_card".into(), json!({ "points": card.credited_total() }));
        }
        self.ids.insert(candidate.id.to_string());
        self.ids.extend(terms.campaign_id.as_ref().map(ToString::to_string));
        let balance = |account: String| Some((rows.balances.get(&account).copied()?, account));
        self.balances.extend(accounts.into_iter().filter_map(balance).map(|(balance, account)| (account, balance)));
        Some(document)
    }
}

/// Returns the time at which the points of a card change next by time.
fn next_points_change(grant: &Grant) -> Option<Instant> {
    let Grant::Loyalty(card) = grant else { return None };
    let lots = card.lots.iter().map(|lot| lot.expiry.at);
    lots.chain(card.pending.iter().map(|points| points.activates_at)).min()
}

/// Returns the accounts that limit a voucher.
fn accounts_of(terms: &RedeemableTerms) -> Vec<String> {
    let counted = terms.quantity.map(|_| incentive_account(terms));
    let spent = match terms.grant {
        Grant::Gift(_) => Some(credits_account(&terms.id)),
        Grant::Loyalty(_) => Some(points_account(&terms.id)),
        Grant::Discount(_) => None,
    };
    [counted, spent].into_iter().flatten().map(|account| account.to_string()).collect()
}

/// Returns the names to which rules of a voucher are assigned.
fn names_of<'n>(candidate: &'n Candidate, terms: &'n RedeemableTerms) -> impl Iterator<Item = &'n str> {
    let names = [Some(&candidate.id), Some(&candidate.code), terms.campaign_id.as_ref()];
    names.into_iter().flatten().map(|name| name.as_str())
}

/// Returns the rules of a voucher; `None` for one that cannot be read.
fn rules_of<'r>(
    rows: &'r CandidateRows,
    candidate: &'r Candidate,
    terms: &'r RedeemableTerms,
) -> impl Iterator<Item = Option<&'r Rule>> {
    let ids = names_of(candidate, terms).filter_map(|name| rows.assigned.get(name)).flatten();
    ids.filter_map(|id| rows.rules.get(id)).map(Option::as_ref)
}

/// Returns true if a rule compares metadata of goods, which may not be public.
fn compares_goods_metadata(rule: &Rule) -> bool {
    rule.needs.meets(RequiredFacts::GOODS_DATA) || !rule.own_collections.is_empty()
}

/// Loads the documents that some vouchers name, by their lists.
fn lists_of(
    store: &Store<'_>,
    rows: &CandidateRows,
    own_documents: &[(&Candidate, Json)],
    conditions: &mut NumberedConditions,
) -> Result<BTreeMap<String, Json>, Fault> {
    let (mut campaigns, mut categories, mut rules) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut assignments = BTreeSet::new();
    for (candidate, _) in own_documents {
        let Some(terms) = rows.incentives.get(&candidate.id) else { continue };
        let campaign = terms.campaign_id.as_ref();
        campaigns.extend(campaign.map(|id| id.as_str()));
        let inherited = campaign.and_then(|id| rows.campaigns.get(id)?.category_id.as_ref());
        categories.extend(terms.category_id.as_ref().or(inherited).map(|id| id.as_str()));
        for name in names_of(candidate, terms) {
            for rule in rows.assigned.get(name).into_iter().flatten().filter(|rule| rows.rules.contains_key(*rule)) {
                rules.insert(rule.as_str());
                assignments.insert((name, rule.as_str()));
            }
        }
    }
    let load = |kind: &str, ids: BTreeSet<&str>| match ids.is_empty() {
        true => Ok(Vec::new()),
        false => any_kind::list_with_ids(store, kind, &ids.into_iter().collect::<Vec<&str>>()),
    };
    let mut rules = load("validation_rules", rules)?;
    rules.iter_mut().try_for_each(|rule| conditions.number(rule))?;
    let bodies = |documents: Vec<Document>| documents.into_iter().map(|document| Json::Object(document.body)).collect();
    let assigned =
        assignments.into_iter().map(|(object, rule)| json!({ "rule_id": rule, "related_object_id": object }));
    let assigned = assigned.collect();
    let lists: [(&str, Json); 4] = [
        ("campaigns", bodies(load("campaign", campaigns)?)),
        ("categories", bodies(load("category", categories)?)),
        ("validation_rules", bodies(rules)),
        ("validation_rules_assignments", assigned),
    ];
    let is_used = |list: &(&str, Json)| list.1.as_array().is_some_and(|documents| !documents.is_empty());
    Ok(lists.into_iter().filter(is_used).map(|(name, list)| (name.to_owned(), list)).collect())
}
