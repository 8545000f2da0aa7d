//! Names of the loyalty program documents that have states.

use crate::http::entity_names::EntityNames;
use crate::http::reply::{CallError, not_found};
use crate::http::route::Call;
use crate::store::Store;
use crate::store::document::Document;
use crate::store::sql::Fault;
use scrip::lifecycle::{Entity, EntityState};

/// Programs.
pub static PROGRAM: EntityNames = EntityNames {
    kind: Entity::Program,
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
pub static CARD_DEFINITION: EntityNames = EntityNames {
    kind: Entity::CardDefinition,
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
pub static EARNING_RULE: EntityNames = EntityNames {
    kind: Entity::EarningRule,
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

/// Incentives, by the name in the customer paths.
pub static INCENTIVE: EntityNames = EntityNames {
    kind: Entity::Incentive,
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

/// The rows of incentives by their later name.
pub static BENEFIT: EntityNames = EntityNames {
    kind: Entity::Benefit,
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
pub static TIER_STRUCTURE: EntityNames = EntityNames {
    kind: Entity::TierStructure,
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

/// Kind of the rows of tiers; their parent is the structure.
pub const TIER: &str = "loyalty_tier";

/// Rewards.
pub static REWARD: EntityNames = EntityNames {
    kind: Entity::Reward,
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
pub static MEMBER: EntityNames = EntityNames {
    kind: Entity::Member,
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

/// Cards of members, created and deleted with them.
pub static CARD: EntityNames = EntityNames {
    kind: Entity::Member,
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

/// Parts of documents, recorded when they are deleted with the document: kind of the rows and name in activities.
pub const PARTS: &[(&str, &str)] = &[(TIER, "tier")];

/// Documents that can be assigned to a program.
pub static ASSIGNABLE: [&EntityNames; 4] = [&CARD_DEFINITION, &EARNING_RULE, &TIER_STRUCTURE, &REWARD];

/// Documents that can refer to a card definition or an incentive.
pub static REFERRING: [&EntityNames; 4] = [&EARNING_RULE, &INCENTIVE, &TIER_STRUCTURE, &REWARD];

/// Returns the state of a document.
pub fn state_of(document: &Document) -> Result<EntityState, Fault> {
    let status = document.as_entity().status();
    status
        .and_then(EntityState::find)
        .ok_or_else(|| Fault(format!("`{}` has the unknown state {status:?}", document.id)))
}

/// Returns the document of a kind with this id, unless it is deleted.
pub fn find_by_id(store: &Store<'_>, entity: &EntityNames, id: &str) -> Result<Option<Document>, Fault> {
    store.document(entity.stored, id)
}

/// Finds the document that the path names, or 404.
pub fn find(call: &Call<'_, '_>) -> Result<Document, CallError> {
    let (resource, entity) = (call.resource()?, call.entity_names()?);
    let name = call.param(resource.parameter);
    find_within(call, entity, &(resource.key)(call, name))
}

/// Finds the document of a kind with this id in the parent that the path names, or 404.
pub fn find_within(call: &Call<'_, '_>, entity: &EntityNames, id: &str) -> Result<Document, CallError> {
    let parent = match entity.within {
        Some((parent, parameter)) => Some(find_within(call, parent, call.param(parameter))?.id),
        None => None,
    };
    let found = find_by_id(call.store, entity, id)?.filter(|found| parent.is_none() || found.parent == parent);
    found.ok_or_else(|| not_found(&entity.resource_type(), id).into())
}
