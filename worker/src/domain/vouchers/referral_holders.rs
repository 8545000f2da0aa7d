//! Holders of referral codes: the referrer and the referees, one row for a code and a customer.

use crate::documents::resource::{bodies_to_json, plain_key};
use crate::documents::shapes;
use crate::domain::vouchers::creation;
use crate::http::list_options::List;
use crate::http::reply::{CallError, ErrorBody, bare_error, error, not_found};
use crate::http::route::{Call, Resource};
use crate::store::document::Document;
use crate::store::document_list::column::member;
use crate::store::documents::vouchers;
use crate::store::sql::Fault;
use crate::timestamp;
use serde_json::{Value as Json, json};

/// Holders of referral codes as a resource, found by code and customer.
pub const HOLDER: Resource = Resource {
    object: "redeemable_holder",
    shape: shapes::vouchers::HOLDER.described(),
    parameter: "holderId",
    key: plain_key,
    to_json: bodies_to_json,
    list: List {
        data_ref: "data",
        page_max: 1,
        orders: &[],
        filters: &[],
        conditions: &[
            ("id", "id"),
            ("created_at", member!("created_at")),
            ("holder_role", member!("holder_role")),
            ("customer_id", "holder"),
        ],
    },
};

/// Role of a customer for a referral code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HolderRole {
    /// Referrer: the code was published to this customer.
    Referrer,
    /// Customer who received the code from the referrer.
    Referee,
}

impl HolderRole {
    /// Returns the name of the role in the API.
    pub fn name(self) -> &'static str {
        match self {
            HolderRole::Referrer => "REFERRER",
            HolderRole::Referee => "REFEREE",
        }
    }
}

/// Tests if a holder is the referrer.
pub fn is_referrer(holder: &Document) -> bool {
    holder.as_holder().role() == Some(HolderRole::Referrer.name())
}

/// Returns the unique key of a holder.
fn key(code_id: &str, customer_id: &str) -> String {
    format!("{code_id}/{customer_id}")
}

/// Returns the holders of a code among these customers.
pub fn list_of_customers(call: &Call<'_, '_>, code: &Document, customers: &[&str]) -> Result<Vec<Document>, Fault> {
    let keys: Vec<String> = customers.iter().map(|customer| key(&code.id, customer)).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    call.store.documents_by_names(HOLDER.object, &keys, &[])
}

/// Queues a new holder of a code; returns its document.
pub fn add(call: &mut Call<'_, '_>, code: &Document, customer_id: &str, role: HolderRole, metadata: &Json) -> Json {
    let id = call.ids.hex18("rh_").to_string();
    let now_ms = call.now_ms();
    let body = json!({
        "id": id, "created_at": timestamp::text(now_ms), "redeemable_id": code.id, "redeemable_object": "voucher", "customer_id": customer_id,
        "holder_role": role.name(), "campaign_id": code.parent, "campaign_type": "REFERRAL_PROGRAM",
        "voucher_type": code.as_voucher().voucher_type(), "metadata": metadata, "object": HOLDER.object,
    });
    let document = Document {
        id,
        key: Some(key(&code.id, customer_id)),
        parent: Some(code.id.clone()),
        holder: Some(customer_id.to_owned()),
        created_at: now_ms,
        updated_at: None,
        body: body.as_object().cloned().unwrap_or_default(),
    };
    call.store.insert(HOLDER.object, &document);
    body
}

/// Returns the code if it is a referral code, else 404 for `name`.
pub fn find_code(call: &Call<'_, '_>, code: Document, name: &str) -> Result<Document, CallError> {
    let campaign = code.parent.as_deref().map(|id| call.store.document("campaign", id)).transpose()?.flatten();
    match campaign.is_some_and(|campaign| creation::is_referral(&campaign)) {
        true => Ok(code),
        false => Err(not_found("referral_code", name).into()),
    }
}

/// Returns the id of the referrer of a code; refuses an unpublished code.
pub fn require_referrer(code: &Document) -> Result<&str, ErrorBody> {
    let message = "Referral code must be first published to Referrer before assigning it to Referee";
    let not_published = || error(400, "not_published", "Voucher is not published", message);
    code.as_voucher().referrer_id().ok_or_else(not_published)
}

/// Queues the removal of the holders of a deleted code.
pub fn delete_all(call: &mut Call<'_, '_>, code_id: &str) {
    vouchers::delete_referral_holders(call.store, code_id);
}

/// Returns the error for a customer who is a holder of the code already.
pub fn already_assigned() -> CallError {
    bare_error(409, "holder_assignement_duplication", "Customer is already assigned to given redeemable").into()
}
