//! The supplement of a bundle: the facts that one customer, verified by a token, adds to the core. Results of its numbered conditions, and own
//! counts of its offers, and the customer's vouchers; not the profile that they come from.

use crate::domain::bundle::customer_conditions::NumberedConditions;
use crate::domain::bundle::signing_keys;
use crate::domain::decisions::facts;
use crate::domain::decisions::own_offers::{OwnOffers, SupplementOwner};
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::bundle_heads::{self, BundleOffers};
use crate::store::facts::StoreFacts;
use crate::store::ledger::{self, movements};
use crate::store::sql::Fault;
use scrip::bundle::{is_independent_of, next_turn_of_new_customer, read_condition, request_of};
use scrip::decide::met_conditions;
use scrip::facts::{Facts, Known};
use scrip::model::customer::ProfilePart;
use scrip::rules::{Clock, Rule};
use scrip::text::sha256_hex;
use scrip::time::{Instant, TimeZone};
use serde::Serialize;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Type of a supplement, in its header.
const TYPE: &str = "scrip-supplement+jwt";
/// Format of the bundle that it supplements.
const FORMAT: u32 = 2;
/// Maximum lifetime in seconds.
const LIFE_SECONDS: i64 = 300;
/// Lifetime in seconds where the result of a condition may change at any time.
const SHORT_LIFE_SECONDS: i64 = 10;
/// Maximum number of accounts, and of movements in a month. A customer with more has no counts in the supplement.
const ACCOUNTS_MAX: usize = 500;
const MOVES_MAX: usize = 5_000;
/// Maximum number of bytes of the facts, and of their vouchers: the signed text has four thirds of them, below 8 kB.
const FACTS_BYTES_MAX: usize = 5_500;
const OFFERS_BYTES_MAX: usize = 3_500;

/// Claims of a supplement, in their order.
#[derive(Serialize)]
struct SupplementClaims<'s> {
    iss: &'s str,
    fmt: u32,
    /// SHA-256 of the core.
    core: &'s str,
    /// SHA-256 of the customer's token.
    th: String,
    iat: i64,
    exp: i64,
    facts: SupplementFacts<'s>,
}

/// Rule set that joins the core.
#[derive(Serialize)]
struct SupplementFacts<'s> {
    customers: [SupplementCustomer<'s>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    own_counts: Option<OwnCounts<'s>>,
    #[serde(flatten)]
    offers: OwnOffers,
}

/// The customer, by the name that the token proves.
#[derive(Serialize)]
struct SupplementCustomer<'s> {
    id: &'s str,
    source_id: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tracking_id: Option<String>,
    /// Numbers of the conditions that are met; absent if a fact of one cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    conditions: Option<Vec<String>>,
    /// Numbers of the conditions, met or not, whose results stay the same if a request sends metadata of the customer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions_beside_metadata: Vec<String>,
    /// Likewise for other fields of the profile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions_beside_fields: Vec<String>,
}

/// Counts in total and since the starts of the present day, week and month; `null` where sessions hold units.
#[derive(Serialize)]
struct OwnCounts<'s> {
    customer: &'s str,
    since: [String; 3],
    accounts: BTreeMap<String, Option<[u64; 4]>>,
}

/// A token of a customer.
#[derive(Debug, Clone, Copy)]
pub struct VerifiedToken<'t> {
    /// The name that it proves.
    pub customer: &'t str,
    /// Its text.
    pub text: &'t str,
    /// Its end, in seconds since 1970.
    pub end: i64,
}

/// Returns the supplement for the present core as a compact JWS; `None` while no core is there.
pub fn sign(call: &mut Call<'_, '_>, token: VerifiedToken<'_>) -> Result<Option<String>, CallError> {
    let Some(core) = bundle_heads::find_offers(call.store)? else { return Ok(None) };
    let now = call.context.now;
    let iat = now.millis().div_euclid(1_000);
    let decided = decide_facts(call, token.customer, &core)?;
    // Saturates at the end of time.
    let longest = iat.saturating_add(decided.valid_seconds);
    let exp = [longest, token.end].into_iter().chain(decided.ends).min().unwrap_or(iat);
    let claims = SupplementClaims {
        iss: &call.caller.project,
        fmt: FORMAT,
        core: &core.core,
        th: sha256_hex(token.text.as_bytes()),
        iat,
        exp,
        facts: decided.facts,
    };
    Ok(Some(signing_keys::sign(call.store, call.context, TYPE, &claims)?))
}

/// Facts of a supplement, with their times of validity.
struct DecidedFacts<'s> {
    facts: SupplementFacts<'s>,
    /// Seconds for which the results of the conditions stay the same.
    valid_seconds: i64,
    /// The seconds before which facts change: another day begins, or points of a card turn.
    ends: Vec<i64>,
}

/// Decides the facts about a customer. Vouchers that would make them too large are left out, and then the counts.
fn decide_facts<'s>(call: &Call<'_, '_>, name: &'s str, core: &BundleOffers) -> Result<DecidedFacts<'s>, CallError> {
    let owned = facts::facts(call)?;
    let zone = owned.time_zone();
    let stored = find_customer(&owned, name);
    let mut numbered = NumberedConditions::extending(&core.conditions);
    let mut offers = match &stored.id {
        Some(id) => OwnOffers::load(call, SupplementOwner { id, name }, &mut numbered)?,
        None => OwnOffers::none(),
    };
    let second_of = |at: Instant| at.millis().div_euclid(1_000);
    let points_change = offers.changes_at.map(second_of);
    // No fact is valid for a second.
    let is_changing = points_change.is_some_and(|points_change| points_change <= second_of(call.context.now));
    if is_changing || size_of(&offers)? > OFFERS_BYTES_MAX {
        (offers, numbered) = (OwnOffers::default(), NumberedConditions::extending(&core.conditions));
    }
    let conditions = read_conditions(&numbered.into_conditions())?;
    let (results, valid_seconds) = decide_conditions(call, &owned, &stored, name, &conditions)?;
    let own_counts = match &stored.id {
        Some(id) => own_counts(
            call,
            &zone,
            SupplementOwner { id, name },
            stored.source_id.as_deref(),
            &known_offer_ids(core, &offers),
        )?,
        None => None,
    };
    let midnight = zone.day(call.context.now).and_then(|today| zone.start_of(today.plus(1)?)).map(second_of);
    drop(zone);
    let unchanged_by = |part: ProfilePart| -> Vec<String> {
        let those = conditions.iter().filter(|(_, condition)| is_independent_of(condition, part, &owned));
        those.map(|(number, _)| number.to_string()).collect()
    };
    let [unchanged_by_metadata, unchanged_by_fields] = [ProfilePart::Metadata, ProfilePart::Fields].map(unchanged_by);
    owned.end()?;
    let met = results.filter(|_| !is_changing).map(|results| {
        let met = conditions.keys().zip(results).filter(|(_, is_met)| *is_met);
        met.map(|(number, _)| number.to_string()).collect()
    });
    let customer = SupplementCustomer {
        id: name,
        source_id: name,
        tracking_id: stored.tracking_id,
        conditions: met,
        conditions_beside_metadata: unchanged_by_metadata,
        conditions_beside_fields: unchanged_by_fields,
    };
    let mut facts = SupplementFacts { customers: [customer], own_counts, offers };
    if size_of(&facts)? > FACTS_BYTES_MAX {
        facts.own_counts = None;
    }
    let ends = points_change.filter(|_| !is_changing).into_iter().chain(midnight).collect();
    Ok(DecidedFacts { facts, valid_seconds, ends })
}

fn size_of(facts: &impl Serialize) -> Result<usize, Fault> {
    Ok(serde_json::to_string(facts).map_err(|error| Fault(error.to_string()))?.len())
}

fn read_conditions(conditions: &BTreeMap<u64, String>) -> Result<BTreeMap<u64, Rule>, Fault> {
    let read = |text: &str| -> Result<Rule, Fault> {
        let condition: Json = serde_json::from_str(text).map_err(|error| Fault(error.to_string()))?;
        read_condition(&condition)
            .map_err(|problem| Fault(format!("a condition of the bundle cannot be read: {problem}")))
    };
    conditions.iter().map(|(number, text)| Ok((*number, read(text)?))).collect()
}

/// Returns the results of the conditions in their order, and the number of seconds for which they stay the same. Returns `None` if a
/// fact of one cannot be read, or if the results are changing now.
fn decide_conditions(
    call: &Call<'_, '_>,
    facts: &StoreFacts<'_, '_>,
    stored: &KnownCustomer,
    name: &str,
    conditions: &BTreeMap<u64, Rule>,
) -> Result<(Option<Vec<bool>>, i64), CallError> {
    if conditions.is_empty() {
        return Ok((Some(Vec::new()), LIFE_SECONDS));
    }
    let rules: Vec<Rule> = conditions.values().cloned().collect();
    let request = request_of(name);
    let decided = met_conditions(facts, &request, &rules, call.context)?;
    // A tier may end at any time.
    let longest = if rules.iter().any(is_about_tiers) { SHORT_LIFE_SECONDS } else { LIFE_SECONDS };
    if stored.id.is_some() {
        // Of a stored profile only days are compared.
        return Ok((decided, longest));
    }
    let zone = facts.time_zone();
    let clock = Clock { now: call.context.now, zone: &zone, zone_use: None, budget: None };
    let turn = rules.iter().filter_map(|rule| next_turn_of_new_customer(rule, facts, &clock)).min();
    let second_of = |at: Instant| at.millis().div_euclid(1_000);
    // Times have no more than 13 digits.
    let seconds = turn.map_or(longest, |turn| second_of(turn).saturating_sub(second_of(call.context.now)));
    if seconds <= 0 {
        return Ok((None, SHORT_LIFE_SECONDS));
    }
    Ok((decided, seconds.min(longest)))
}

fn is_about_tiers(rule: &Rule) -> bool {
    rule.tests.leaves.iter().any(|leaf| leaf.test.name.text == "customer.loyalty.tier")
}

/// Members of a stored customer that a supplement contains.
#[derive(Default)]
struct KnownCustomer {
    id: Option<String>,
    source_id: Option<String>,
    tracking_id: Option<String>,
}

fn find_customer(facts: &StoreFacts<'_, '_>, name: &str) -> KnownCustomer {
    let found = facts.customer(name).found();
    let source_id = match &found {
        Some(customer) => customer.source_id.clone(),
        // The profile that a request would create has this name.
        None => Some(name.into()),
    };
    let tracking_id = source_id.as_ref().map_or(Known::Absent, |source_id| facts.tracking_id(source_id));
    KnownCustomer {
        id: found.as_ref().and_then(|customer| customer.id.as_ref()).map(|id| id.to_string()),
        source_id: source_id.map(|source_id| source_id.to_string()),
        tracking_id: tracking_id.found().map(|tracking_id| tracking_id.to_string()),
    }
}

/// Returns the counts of a stored customer for the offers of the core; `None` if there are too many to count.
fn own_counts<'s>(
    call: &Call<'_, '_>,
    zone: &TimeZone,
    SupplementOwner { id, name }: SupplementOwner<'_, 's>,
    source_id: Option<&str>,
    ids: &BTreeSet<&str>,
) -> Result<Option<OwnCounts<'s>>, CallError> {
    let today = zone.day(call.context.now);
    let starts = today.and_then(|today| {
        Some([zone.start_of(today)?, zone.start_of(today.first_of_week()?)?, zone.start_of(today.first_of_month()?)?])
    });
    let Some(starts) = starts else { return Ok(None) };
    let since_ms = starts.iter().map(|start| start.millis()).min().unwrap_or_default();
    let balances = ledger::list_own_balances(call.store, id, one_more(ACCOUNTS_MAX))?;
    let moves = movements::list_own_movements(call.store, id, since_ms, one_more(MOVES_MAX))?;
    if balances.len() > ACCOUNTS_MAX || moves.len() > MOVES_MAX {
        return Ok(None);
    }
    let is_disclosed = |account: &str| account.split('/').any(|part| ids.contains(part));
    let mut accounts: BTreeMap<String, Option<[u64; 4]>> = BTreeMap::new();
    for units in balances.iter().chain(&moves).filter(|units| is_disclosed(&units.account)) {
        let Some(counts) = accounts.entry(units.account.clone()).or_insert(Some([0; 4])) else { continue };
        for (count, start) in counts.iter_mut().zip([None].into_iter().chain(starts.iter().map(Some))) {
            let is_counted = match (start, units.at) {
                (None, None) => true,
                (Some(start), Some(at)) => at >= start.millis(),
                _ => false,
            };
            if is_counted {
                let sum = count.checked_add(units.units);
                *count = sum.ok_or_else(|| Fault::new("a customer's count exceeds its range"))?;
            }
        }
    }
    let names: Vec<&str> = [Some(id), source_id].into_iter().flatten().collect();
    for held in ledger::list_own_held(call.store, &names, call.now_ms())? {
        if is_disclosed(&held) {
            accounts.insert(held, None);
        }
    }
    Ok(Some(OwnCounts { customer: name, since: starts.map(|start| start.text()), accounts }))
}

/// Returns the ids of the offers that the customer knows.
fn known_offer_ids<'i>(core: &'i BundleOffers, offers: &'i OwnOffers) -> BTreeSet<&'i str> {
    core.offers.iter().chain(&offers.ids).map(String::as_str).collect()
}

fn one_more(most: usize) -> i64 {
    // One row more than the limit: it exists if the limit is exceeded.
    i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1)
}
