//! Codes that a client may list: those of the customer that a token proves, and those that the merchant has made public, while they
//! are in force. A client key is public, so no other code without a holder is ever listed.

use crate::access::client;
use crate::documents::common_fields::{BEFORE_AFTER, KEY, LIMIT, PAGE_99};
use crate::documents::shapes;
use crate::domain::visibility::{JudgedOffers, is_public};
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::caller::CredentialClass;
use crate::http::list_options::{List, ListFilter};
use crate::http::reply::CallError;
use crate::http::route::Response;
use crate::http::route::{Call, ClientSwitch, HandlerResult, Route, get};
use crate::http::shape::may;
use crate::store::document_list::clause::Clause;
use crate::store::document_list::column::member;
use crate::store::documents::{campaigns, vouchers};
use scrip::model::client::ClientContext;

/// Filters of the list for clients. The owners of the codes are decided before.
const LISTED: List = List {
    orders: &[],
    filters: &[
        ListFilter::Name("campaign", "parent", "campaign"),
        ListFilter::Is("category", member!("category")),
        ListFilter::Instant("created_at", "created_at"),
        ListFilter::Instant("updated_at", "updated_at"),
    ],
    conditions: &[],
    ..VOUCHER.list
};

/// Maximum number of codes without a campaign that are examined, the newest first of those that have not ended.
const VISIBLE_MAX: i64 = 1_000;

/// The routes of the area. They are no longer published; existing clients call them.
pub const ROUTES: &[Route] = &[get("/client/v1/vouchers", "List vouchers from a client", list)
    .describe(
        "listClientVouchers",
        "Returns the vouchers of the customer of the token, and those in force whose `visibility`, or that of their standalone campaign, is `public`. A project whose customer trust is `open` lists the codes of all standalone campaigns that can be used now. Of codes without a campaign the newest 1,000 that have not ended and have a `visibility` are looked at. A client names a customer without a token only where the project's customer trust is `open`. A closed switch is refused with `forbidden`, a customer other than that of the token with `customer_mismatch`.",
    )
    .returns("The vouchers of this page, reduced to fields that a client may see, and the total.")
    .of(&VOUCHER)
    .lists_resource(shapes::TOTAL)
    .for_classes(&[CredentialClass::Client, CredentialClass::OAuth])
    .scope("vouchers")
    .allowed_by(ClientSwitch::Vouchers)
    .query(&[
        LIMIT,
        PAGE_99,
        may("campaign", KEY).description("Name or ID of a campaign. Only the vouchers of this campaign are listed."),
        may("category", KEY).description("Name of a category. Only vouchers in this category are listed."),
        may("customer", KEY)
            .description("ID or `source_id` of a customer. Only vouchers that this customer holds are listed, and none if the customer is not trusted."),
        may("created_at", BEFORE_AFTER).description("Bounds on the moment of creation, in UTC."),
        may("updated_at", BEFORE_AFTER).description("Bounds on the moment of the last change, in UTC."),
    ])];

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let mut clause = Clause::of_kind(VOUCHER.object).at(call.now_ms()).named();
    clause.with_ids(&visible_codes(call)?);
    let page = LISTED.select(call.store, &call.query, clause)?;
    let vouchers = (VOUCHER.to_json)(call, page.documents)?;
    Ok(Response::json(serde_json::Value::Object(LISTED.envelope(vouchers, page.total))))
}

/// Returns the ids of the codes that may be listed. A request that names a customer gets only that customer's codes; codes of an
/// unproven customer are never listed.
fn visible_codes(call: &Call<'_, '_>) -> Result<Vec<String>, CallError> {
    let named = call.query.parameter("customer");
    let customer = client::find_queried_customer(call, named)?;
    let mut ids = Vec::new();
    if let Some(customer) = &customer {
        ids.extend(vouchers::list_ids_of_holder(call.store, &customer.id)?);
    }
    if named.is_none() {
        ids.extend(list_public_ids(call)?);
    }
    Ok(ids)
}

/// Returns the ids of the codes that every client may know.
fn list_public_ids(call: &Call<'_, '_>) -> Result<Vec<String>, CallError> {
    let mut ids = Vec::new();
    if call.client.as_ref().is_none_or(ClientContext::is_open) {
        ids.extend(vouchers::list_public_ids(call.store, call.now_ms())?);
    }
    let judged = JudgedOffers::new(&campaigns::list_standalone_campaigns(call.store)?, call.context.now);
    let mut codes = vouchers::list_standalone(call.store)?;
    codes.extend(vouchers::list_visible(call.store, call.now_ms(), VISIBLE_MAX)?);
    ids.extend(codes.into_iter().filter(|code| is_public(judged.of_voucher(code))).map(|code| code.id));
    Ok(ids)
}
