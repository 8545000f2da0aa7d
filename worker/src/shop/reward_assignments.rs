//! Assignments of rewards to programs, as both sides see them. It must not know what a reward gives.

use crate::document::resource::{self, plain_key};
use crate::document::shapes;
use crate::http::listing::{Filter, List};
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::sql::Fault;

/// Assignments as a resource: the parent is the reward, the holder is the campaign.
pub const ASSIGNMENT: Resource = Resource {
    object: "reward_assignment",
    shape: shapes::loyalty::ASSIGNMENT.described(),
    parameter: "assignmentId",
    key: plain_key,
    show: resource::show_body,
    list: List {
        data_ref: "data",
        page_max: 100,
        orders: &[],
        filters: &[Filter::Is("assignment_id", "id"), Filter::Is("assignmentId", "id")],
        conditions: &[],
    },
};

/// Removes the assignments of a program that goes, at the commit.
pub fn remove_all(call: &mut Call<'_, '_>, campaign_id: &str) {
    call.store.write(
        "DELETE FROM document WHERE kind = 'validation_rules_assignment' AND parent IN
           (SELECT id FROM document WHERE kind = 'reward_assignment' AND holder = +?1)",
        vec![campaign_id.into()],
    );
    call.store
        .write("DELETE FROM document WHERE kind = 'reward_assignment' AND holder = +?1", vec![campaign_id.into()]);
}

/// The assignments of a program, the last first.
pub fn of_program(call: &Call<'_, '_>, campaign_id: &str) -> Result<Vec<Document>, Fault> {
    call.store.documents(
        "SELECT id, key, parent, holder, created_at, updated_at, body FROM document
         WHERE kind = 'reward_assignment' AND holder = +?1 ORDER BY created_at DESC, seq DESC",
        &[campaign_id.into()],
    )
}
