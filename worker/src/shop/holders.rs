//! Who has a referral code: the customer who passes it on, and those to whom it was passed on. One row for a code and a customer.
//! It must not know what anybody gets for it.

use crate::document::resource::{plain_key, show_body};
use crate::document::shapes;
use crate::http::listing::List;
use crate::http::reply::{CallError, ErrorBody, bare_error, error, not_found};
use crate::http::route::{Call, Resource};
use crate::moment;
use crate::shop::generation;
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde_json::{Value as Json, json};

/// Holders of referral codes as a resource: one is found by the code and the customer.
pub const HOLDER: Resource = Resource {
    object: "redeemable_holder",
    shape: shapes::codes::HOLDER.described(),
    parameter: "holderId",
    key: plain_key,
    show: show_body,
    list: List {
        data_ref: "data",
        page_max: 1,
        orders: &[],
        filters: &[],
        conditions: &[
            ("id", "id"),
            ("created_at", "json_extract(body, '$.created_at')"),
            ("holder_role", "json_extract(body, '$.holder_role')"),
            ("customer_id", "holder"),
        ],
    },
};

/// What a customer is to a referral code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Passes it on: whom it was published to.
    Referrer,
    /// Got it from somebody.
    Referee,
}

impl Role {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Role::Referrer => "REFERRER",
            Role::Referee => "REFEREE",
        }
    }
}

/// Whether a holder is who passes the code on.
pub fn is_referrer(holder: &Document) -> bool {
    holder.body.get("holder_role").and_then(Json::as_str) == Some(Role::Referrer.word())
}

/// The name of a holder, which no other has.
fn key(code_id: &str, customer_id: &str) -> String {
    format!("{code_id}/{customer_id}")
}

/// The holders of a code among these customers.
pub fn among(call: &Call<'_, '_>, code: &Document, customers: &[&str]) -> Result<Vec<Document>, Fault> {
    let keys: Vec<String> = customers.iter().map(|customer| key(&code.id, customer)).collect();
    let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
    call.store.documents_by_names(HOLDER.object, &keys, &[])
}

/// Writes a holder of a code down at the commit, and gives what is shown of it.
pub fn add(call: &mut Call<'_, '_>, code: &Document, customer_id: &str, role: Role, metadata: &Json) -> Json {
    let id = call.ids.hex18("rh_").to_string();
    let now_ms = call.now_ms();
    let body = json!({
        "id": id, "created_at": moment::text(now_ms), "redeemable_id": code.id, "redeemable_object": "voucher", "customer_id": customer_id,
        "holder_role": role.word(), "campaign_id": code.parent, "campaign_type": "REFERRAL_PROGRAM",
        "voucher_type": code.body.get("type").cloned().unwrap_or(Json::Null), "metadata": metadata, "object": HOLDER.object,
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

/// The code, if it is one that is passed on; `name` is what whoever asks calls it.
pub fn find_code(call: &Call<'_, '_>, code: Document, name: &str) -> Result<Document, CallError> {
    let campaign = code.parent.as_deref().map(|id| call.store.document("campaign", id)).transpose()?.flatten();
    match campaign.is_some_and(|campaign| generation::is_referral(&campaign)) {
        true => Ok(code),
        false => Err(not_found("referral_code", name).into()),
    }
}

/// The customer who passes a code on, by id; nobody does before it was published.
pub fn referrer(code: &Document) -> Result<&str, ErrorBody> {
    let told = "Referral code must be first published to Referrer before assigning it to Referee";
    let not_published = || error(400, "not_published", "Voucher is not published", told);
    code.body.get("referrer_id").and_then(Json::as_str).ok_or_else(not_published)
}

/// Nobody holds a code that is gone.
pub fn detach(call: &mut Call<'_, '_>, code_id: &str) {
    call.store.write("DELETE FROM document WHERE kind = 'redeemable_holder' AND parent = +?1", vec![code_id.into()]);
}

/// A customer is one thing to a code, and once.
pub fn assigned_already() -> CallError {
    bare_error(409, "holder_assignement_duplication", "Customer is already assigned to given redeemable").into()
}
