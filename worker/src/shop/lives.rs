//! The documents of a loyalty program that have states, by their names. It must not know what any of them says.

use crate::http::life::Life;
use crate::http::reply::{CallError, not_found};
use crate::http::route::Call;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::lifecycle::{Kind, State};
use serde_json::Value as Json;

/// Programs.
pub static PROGRAM: Life = Life {
    kind: Kind::Program,
    stored: "program",
    object: "program",
    id: "lprg_",
    cursor: "lcrsprg_",
    activity: "laprg_",
    activities: "lcrsapr_",
    assigned: None,
    owned: &["program_card_definition", "program_earning_rule", "program_tier_structure", "program_reward"],
    within: None,
};

/// Card definitions.
pub static CARD_DEFINITION: Life = Life {
    kind: Kind::CardDefinition,
    stored: "card_definition",
    object: "card_definition",
    id: "lcdef_",
    cursor: "lcrscdef_",
    activity: "lacd_",
    activities: "lcrsacd_",
    assigned: Some("program_card_definition"),
    owned: &[],
    within: None,
};

/// Earning rules.
pub static EARNING_RULE: Life = Life {
    kind: Kind::EarningRule,
    stored: "loyalty_earning_rule",
    object: "earning_rule",
    id: "lern_",
    cursor: "lcrsern_",
    activity: "laer_",
    activities: "lcrsaer_",
    assigned: Some("program_earning_rule"),
    owned: &[],
    within: None,
};

/// Incentives, by the name that the customer's own paths have.
pub static INCENTIVE: Life = Life {
    kind: Kind::Incentive,
    stored: "incentive",
    object: "incentive",
    id: "linc_",
    cursor: "lcrsinc_",
    activity: "lainc_",
    activities: "lcrsainc_",
    assigned: None,
    owned: &[],
    within: None,
};

/// The same rows by their later name.
pub static BENEFIT: Life = Life {
    kind: Kind::Benefit,
    stored: "incentive",
    object: "benefit",
    id: "lben_",
    cursor: "lcrsben_",
    activity: "laben_",
    activities: "lcrsaben_",
    assigned: None,
    owned: &[],
    within: None,
};

/// Tier structures, with their tiers.
pub static TIER_STRUCTURE: Life = Life {
    kind: Kind::TierStructure,
    stored: "tier_structure",
    object: "tier_structure",
    id: "lts_",
    cursor: "lcrsts_",
    activity: "lats_",
    activities: "lcrsats_",
    assigned: Some("program_tier_structure"),
    owned: &[TIER],
    within: None,
};

/// The kind of the rows that are tiers, whose parent is their structure.
pub const TIER: &str = "loyalty_tier";

/// Rewards.
pub static REWARD: Life = Life {
    kind: Kind::Reward,
    stored: "loyalty_reward",
    object: "reward",
    id: "lrew_",
    cursor: "lcrsrew_",
    activity: "larew_",
    activities: "lcrsarew_",
    assigned: Some("program_reward"),
    owned: &[],
    within: None,
};

/// Members of programs, with their cards.
pub static MEMBER: Life = Life {
    kind: Kind::Member,
    stored: "member",
    object: "member",
    id: "lmbr_",
    cursor: "lcrsmbr_",
    activity: "lambr_",
    activities: "lcrsambr_",
    assigned: None,
    owned: &["loyalty_card", "member_tier"],
    within: Some((&PROGRAM, "programId")),
};

/// Cards of members, which come and go with them.
pub static CARD: Life = Life {
    kind: Kind::Member,
    stored: "loyalty_card",
    object: "card",
    id: "lcrd_",
    cursor: "lcrscrd_",
    activity: "lacrd_",
    activities: "lcrsacrd_",
    assigned: None,
    owned: &[],
    within: Some((&MEMBER, "memberId")),
};

/// What is a part of its document, so that it is told when it goes with it: the kind of its rows, and its word.
pub const PARTS: &[(&str, &str)] = &[(TIER, "tier")];

/// What may be assigned to a program.
pub static ASSIGNABLE: [&Life; 4] = [&CARD_DEFINITION, &EARNING_RULE, &TIER_STRUCTURE, &REWARD];

/// What may name a card definition or an incentive.
pub static NAMING: [&Life; 4] = [&EARNING_RULE, &INCENTIVE, &TIER_STRUCTURE, &REWARD];

/// How a document stands.
pub fn state_of(document: &Document) -> Result<State, Fault> {
    let word = document.body.get("status").and_then(Json::as_str);
    word.and_then(State::find).ok_or_else(|| Fault(format!("`{}` stands as {word:?}, which is no state", document.id)))
}

/// The document of a kind with this id. One that is deleted is not found.
pub fn named(store: &Store<'_>, life: &Life, id: &str) -> Result<Option<Document>, Fault> {
    store.document(life.stored, id)
}

/// The document that the path names, or 404.
pub fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let (resource, life) = (call.resource()?, call.life()?);
    let name = call.param(resource.parameter);
    find_as(call, life, &(resource.key)(call, name))
}

/// The document of a kind with this id, in whatever the path says that it is in, or 404.
pub fn find_as(call: &Call<'_, '_>, life: &Life, id: &str) -> Result<Document, CallError> {
    let outer = match life.within {
        Some((outer, parameter)) => Some(find_as(call, outer, call.param(parameter))?.id),
        None => None,
    };
    let found = named(call.store, life, id)?.filter(|found| outer.is_none() || found.parent == outer);
    found.ok_or_else(|| not_found(&life.resource_type(), id).into())
}
