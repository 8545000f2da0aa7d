//! Domain events, and the points and incentives that they earn (v1 and v2).

pub mod campaign_facts;
pub mod campaign_revocation;
pub mod campaign_rules;
pub mod domain_events;
pub mod fired_rules;
pub mod follow_up;
pub mod grants;
pub mod program_facts;
pub mod program_revocation;
pub mod reaction;
