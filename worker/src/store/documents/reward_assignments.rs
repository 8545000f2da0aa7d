//! Queries of the assignments of rewards to loyalty campaigns.

use super::any_kind::{CountedIds, counted_ids, texts};
use crate::store::Store;
use crate::store::sql::Fault;

/// Finds the id of the assignment of a reward to a campaign.
pub fn find_id(store: &Store<'_>, reward_id: &str, campaign_id: &str) -> Result<Option<String>, Fault> {
    let rows = store.rows(
        "SELECT id FROM document WHERE kind = 'reward_assignment' AND parent = +?1 AND holder = +?2",
        &[reward_id.into(), campaign_id.into()],
    )?;
    Ok(texts(&rows)?.into_iter().next())
}

/// Lists the first ten assignments of a reward.
pub fn list_of_reward(store: &Store<'_>, reward_id: &str) -> Result<CountedIds, Fault> {
    let rows = store.rows(
        "SELECT id, COUNT(*) OVER () FROM document WHERE kind = 'reward_assignment' AND parent = +?1 ORDER BY seq LIMIT 10",
        &[reward_id.into()],
    )?;
    counted_ids(&rows)
}
