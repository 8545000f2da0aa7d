//! Assignments of rewards to loyalty campaigns (v1).

use crate::documents::resource::{self, plain_key};
use crate::documents::shapes;
use crate::http::list_options::{List, ListFilter};
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::sql::Fault;

/// Assignments as a resource: the parent is the reward, the holder is the campaign.
pub const ASSIGNMENT: Resource = Resource {
    object: "reward_assignment",
    shape: shapes::loyalty::ASSIGNMENT.described(),
    parameter: "assignmentId",
    key: plain_key,
    to_json: resource::bodies_to_json,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[],
        filters: &[ListFilter::Is("assignment_id", "id"), ListFilter::Is("assignmentId", "id")],
        conditions: &[],
    },
};

/// Queues the deletion of the assignments of a deleted campaign.
pub fn delete_all(call: &mut Call<'_, '_>, campaign_id: &str) {
    call.store.delete_reward_assignments(campaign_id);
}

/// Returns the assignments of a campaign, the newest first.
pub fn list_assignments(call: &Call<'_, '_>, campaign_id: &str) -> Result<Vec<Document>, Fault> {
    call.store.list_reward_assignments(campaign_id)
}
