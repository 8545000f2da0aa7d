//! The supplement of a bundle: what one customer, proven by a token, adds to the core. Results of its numbered conditions, and own
//! counts of its offers, and the customer's vouchers; not the profile that they come from.

use crate::domain::bundle::customer_conditions::NumberedConditions;
use crate::domain::bundle::signing_keys;
use crate::domain::decisions::facts;
use crate::domain::decisions::own_offers::{OwnOffers, SupplementOwner};
use crate::http::reply::CallError;
use crate::http::route::Call;
use crate::store::bundle_heads::{self, BundleOffers};
use crate::store::facts::StoreFacts;
use crate::store::ledger;
use crate::store::sql::Fault;
use scrip::Context;
use scrip::bundle::{read_condition, request_of, stays_beside};
use scrip::decide::met_conditions;
use scrip::facts::{Facts, Known};
use scrip::model::customer::ProfilePart;
use scrip::rules::Rule;
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
/// Lifetime in seconds where the result of a condition changes within the maximum one.
const SHORT_LIFE_SECONDS: i64 = 10;
/// Maximum number of accounts, and of movements in a month. A customer with more has no counts in the supplement.
const ACCOUNTS_MAX: usize = 500;
const MOVES_MAX: usize = 5_000;
/// Maximum number of bytes of the facts, and of the vouchers among them: the signed text has four thirds of them, below 8 kB.
const FACTS_BYTES_MAX: usize = 5_500;
const OFFERS_BYTES_MAX: usize = 3_500;

/// Claims of a supplement, in their order.
#[derive(Serialize)]
struct Claims<'s> {
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
    /// The same for other fields of the profile.
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
pub struct ProvingToken<'t> {
    /// The name that it proves.
    pub customer: &'t str,
    /// Its text.
    pub text: &'t str,
    /// Its end, in seconds since 1970.
    pub end: i64,
}

/// Returns the supplement for the present core as a compact JWS; `None` while no core is there.
pub fn sign(call: &mut Call<'_, '_>, token: ProvingToken<'_>) -> Result<Option<String>, CallError> {
    let Some(core) = bundle_heads::find_offers(call.store)? else { return Ok(None) };
    let now = call.context.now;
    let iat = now.millis().div_euclid(1_000);
    let decided = decide_facts(call, token.customer, &core)?;
    // Saturates at the end of time.
    let exp = [iat.saturating_add(decided.life), token.end].into_iter().chain(decided.ends).min().unwrap_or(iat);
    let claims = Claims {
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

/// Facts of a supplement, and how long they hold.
struct DecidedFacts<'s> {
    facts: SupplementFacts<'s>,
    /// Seconds for which the results of the conditions stay the same.
    life: i64,
    /// The seconds before which facts change: another day begins, or points of a card turn.
    ends: Vec<i64>,
}

/// Decides the facts about a customer. Vouchers that would make them too large are left out, and then the counts.
fn decide_facts<'s>(call: &Call<'_, '_>, name: &'s str, core: &BundleOffers) -> Result<DecidedFacts<'s>, CallError> {
    let owned = facts::facts(call)?;
    let zone = owned.time_zone();
    let stored = find_customer(&owned, name);
    let mut numbered = NumberedConditions::beside(&core.conditions);
    let mut offers = match &stored.id {
        Some(id) => OwnOffers::load(call, SupplementOwner { id, name }, &mut numbered)?,
        None => OwnOffers::of_nobody(),
    };
    let second_of = |at: Instant| at.millis().div_euclid(1_000);
    let turn = offers.turns_at.map(second_of);
    // Nothing holds for a second.
    let is_turning = turn.is_some_and(|turn| turn <= second_of(call.context.now));
    if is_turning || size_of(&offers)? > OFFERS_BYTES_MAX {
        (offers, numbered) = (OwnOffers::default(), NumberedConditions::beside(&core.conditions));
    }
    let conditions = read_conditions(&numbered.into_present())?;
    let (results, life) = results_for_a_while(call, &owned, &stored, name, &conditions)?;
    let own_counts = match &stored.id {
        Some(id) => {
            own_counts(call, &zone, SupplementOwner { id, name }, stored.source_id.as_deref(), &ids_of(core, &offers))?
        }
        None => None,
    };
    let midnight = zone.day(call.context.now).and_then(|today| zone.start_of(today.plus(1)?)).map(second_of);
    drop(zone);
    let beside = |part: ProfilePart| -> Vec<String> {
        let those = conditions.iter().filter(|(_, condition)| stays_beside(condition, part, &owned));
        those.map(|(number, _)| number.to_string()).collect()
    };
    let [beside_metadata, beside_fields] = [ProfilePart::Metadata, ProfilePart::Fields].map(beside);
    owned.end()?;
    let met = results.filter(|_| !is_turning).map(|results| {
        let met = conditions.keys().zip(results).filter(|(_, is_met)| *is_met);
        met.map(|(number, _)| number.to_string()).collect()
    });
    let customer = SupplementCustomer {
        id: name,
        source_id: name,
        tracking_id: stored.tracking_id,
        conditions: met,
        conditions_beside_metadata: beside_metadata,
        conditions_beside_fields: beside_fields,
    };
    let mut facts = SupplementFacts { customers: [customer], own_counts, offers };
    if size_of(&facts)? > FACTS_BYTES_MAX {
        facts.own_counts = None;
    }
    let ends = turn.filter(|_| !is_turning).into_iter().chain(midnight).collect();
    Ok(DecidedFacts { facts, life, ends })
}

fn size_of(facts: &impl Serialize) -> Result<usize, Fault> {
    Ok(serde_json::to_string(facts).map_err(|error| Fault(error.to_string()))?.len())
}

fn read_conditions(conditions: &BTreeMap<u64, String>) -> Result<BTreeMap<u64, Rule>, Fault> {
    let read = |text: &str| -> Result<Rule, Fault> {
        let condition: Json = serde_json::from_str(text).map_err(|error| Fault(error.to_string()))?;
        read_condition(&condition)
            .map_err(|problem| Fault(format!("a condition of the bundle does not read: {problem}")))
    };
    conditions.iter().map(|(number, text)| Ok((*number, read(text)?))).collect()
}

/// Returns the results of the conditions in their order, and for how many seconds they stay the same; `None` if a fact of one cannot be
/// read, or if the results are changing now.
fn results_for_a_while(
    call: &Call<'_, '_>,
    facts: &StoreFacts<'_, '_>,
    stored: &NamedCustomer,
    name: &str,
    conditions: &BTreeMap<u64, Rule>,
) -> Result<(Option<Vec<bool>>, i64), CallError> {
    if conditions.is_empty() {
        return Ok((Some(Vec::new()), LIFE_SECONDS));
    }
    let rules: Vec<Rule> = conditions.values().cloned().collect();
    let request = request_of(name);
    let at = |seconds: i64| {
        // Saturates at the end of time.
        let moment = Instant::from_millis(call.now_ms().saturating_add(seconds.saturating_mul(1_000)));
        let context = Context { now: moment.unwrap_or(call.context.now), seed: call.context.seed };
        met_conditions(facts, &request, &rules, &context)
    };
    let mut decided = at(0).map(|now| (now, LIFE_SECONDS));
    if rules.iter().any(is_about_tiers) {
        // A tier may end at any moment.
        return Ok((decided?.0, SHORT_LIFE_SECONDS));
    }
    if stored.id.is_some() {
        // Of a stored profile only days are compared.
        return Ok(decided?);
    }
    for life in [LIFE_SECONDS, SHORT_LIFE_SECONDS, 0] {
        let Ok((now, until)) = &mut decided else { break };
        *until = life;
        match at(life) {
            Ok(later) if later == *now && life > 0 => break,
            Ok(_) if life > 0 => {}
            Ok(_) => (*now, *until) = (None, SHORT_LIFE_SECONDS),
            Err(refusal) => decided = Err(refusal),
        }
    }
    Ok(decided?)
}

fn is_about_tiers(rule: &Rule) -> bool {
    rule.tests.leaves.iter().any(|leaf| leaf.test.name.text == "customer.loyalty.tier")
}

/// A stored customer, as far as a supplement shows it.
#[derive(Default)]
struct NamedCustomer {
    id: Option<String>,
    source_id: Option<String>,
    tracking_id: Option<String>,
}

fn find_customer(facts: &StoreFacts<'_, '_>, name: &str) -> NamedCustomer {
    let found = facts.customer(name).found();
    let source_id = match &found {
        Some(customer) => customer.source_id.clone(),
        // The profile that a request would create has this name.
        None => Some(name.into()),
    };
    let tracking_id = source_id.as_ref().map_or(Known::Absent, |source_id| facts.tracking_id(source_id));
    NamedCustomer {
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
    let moves = ledger::list_own_moves(call.store, id, since_ms, one_more(MOVES_MAX))?;
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
fn ids_of<'i>(core: &'i BundleOffers, offers: &'i OwnOffers) -> BTreeSet<&'i str> {
    core.offers.iter().chain(&offers.ids).map(String::as_str).collect()
}

fn one_more(most: usize) -> i64 {
    // One more than the limit shows that it is exceeded.
    i64::try_from(most).unwrap_or(i64::MAX).saturating_add(1)
}
