//! Redeemables of a customer: vouchers that were published to them, and referral codes that they pass on
//! or were given.

use crate::documents::common_fields::{KEY, LIMIT};
use crate::documents::keyset_list::{self, KeysetPage};
use crate::documents::shapes;
use crate::domain::clock;
use crate::domain::customers::customer::CUSTOMER;
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::list_options::List;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Response, Route, get};
use crate::http::shape::{FieldType, may};
use crate::store::document::Document;
use crate::store::documents::customers::{self, CustomerRedeemable, customer_redeemable_column};
use crate::store::records::VoucherRecord;
use crate::timestamp;
use serde_json::{Value as Json, json};

/// The routes of the area.
pub const ROUTES: &[Route] =
    &[get("/v1/customers/{customerId}/redeemables", "List the redeemables of a customer", list)
        .describe(
            "listCustomerRedeemables",
            "Returns the vouchers that were published to a customer, and the referral codes that the customer passes on or has received. An unknown customer is refused with `not_found`, an unknown filter or `starting_after_id` with `invalid_query_params`.",
        )
        .returns("The redeemables of this page, each with the present voucher, the total, and the ID to continue after.")
        .scope("customers")
        .query(&[
            LIMIT,
            may("order", FieldType::OneOf(&["id", "-id"]))
                .description("Field to sort by, descending with a minus sign."),
            may("starting_after_id", KEY)
                .description("ID of a listed redeemable. The page continues after this redeemable."),
            may("filters", FieldType::Map).description("Conditions by field of the redeemable, joined by `junction`."),
        ])
        .lists("data", shapes::customers::CUSTOMER_REDEEMABLE, shapes::TOTAL_MORE_AND_NEXT)];

const REDEEMABLES: List = List {
    data_ref: "data",
    page_max: 1,
    orders: &[],
    filters: &[],
    conditions: &[
        ("id", customer_redeemable_column::ID),
        ("created_at", customer_redeemable_column::SINCE),
        ("redeemable_id", customer_redeemable_column::VOUCHER_ID),
        ("redeemable_object", customer_redeemable_column::OBJECT),
        ("holder_role", customer_redeemable_column::ROLE),
        ("campaign_id", customer_redeemable_column::CAMPAIGN_ID),
        ("campaign_type", customer_redeemable_column::CAMPAIGN_TYPE),
        ("voucher_type", customer_redeemable_column::VOUCHER_TYPE),
    ],
};

fn list(call: &mut Call<'_, '_>) -> HandlerResult {
    let customer = CUSTOMER.find(call)?;
    let base_clause = clock::at_call(call, customers::customer_redeemables())?;
    let clause_of_holder = || {
        let mut clause = base_clause.clone();
        customers::narrow_to_holder(&mut clause, &customer.id);
        clause
    };
    let find_position = |id: &str| customers::find_redeemable_position(call.store, &customer.id, id);
    let KeysetPage { documents, has_more } = keyset_list::select(
        &REDEEMABLES,
        call.store,
        &call.query,
        clause_of_holder(),
        "something that the customer holds",
        &find_position,
    )?;
    let total = REDEEMABLES.count(call.store, &call.query, clause_of_holder())?;
    let redeemables = to_json(call, documents, &customer.id)?;
    let mut envelope = keyset_list::envelope(redeemables, has_more);
    envelope.insert("total".into(), total.into());
    Ok(Response::json(Json::Object(envelope)))
}

fn to_json(call: &mut Call<'_, '_>, rows: Vec<Document>, customer_id: &str) -> Result<Vec<Json>, CallError> {
    let voucher_id = |row: &Document| match row.key.is_some() && row.body.contains_key("code") {
        true => row.id.clone(),
        false => row.parent.clone().unwrap_or_default(),
    };
    let ids: Vec<String> = rows.iter().map(voucher_id).collect();
    let listed: Vec<&str> = ids.iter().map(String::as_str).collect();
    let codes = call.store.documents_by_names(VOUCHER.object, &[], &listed)?;
    let vouchers = (VOUCHER.to_json)(call, codes)?;
    let mut redeemables = Vec::new();
    for (row, id) in rows.into_iter().zip(ids) {
        let voucher = vouchers.iter().find(|voucher| VoucherRecord::of_value(voucher).id() == Some(&id));
        let voucher = voucher.cloned().unwrap_or(Json::Null);
        let CustomerRedeemable { id: held_id, since, role } = customers::load_customer_redeemable(call.store, &row.id)?;
        let voucher_record = VoucherRecord::of_value(&voucher);
        let campaign_id = voucher_record.campaign_id();
        let campaign = campaign_id.map(|id| call.store.document("campaign", id)).transpose()?.flatten();
        redeemables.push(json!({
            "id": held_id, "created_at": since, "redeemable_id": id, "redeemable_object": "voucher",
            "customer_id": customer_id, "holder_role": role, "campaign_id": campaign_id,
            "campaign_type": campaign.and_then(|mut campaign| campaign.body.remove("campaign_type")), "voucher_type": voucher_record.voucher_type(),
            "redeemable": { "type": "voucher", "status": status(&voucher, call.now_ms()), "voucher": voucher },
        }));
    }
    Ok(redeemables)
}

/// Returns the status of a voucher: the first reason that forbids its redemption.
fn status(voucher: &Json, now_ms: i64) -> &'static str {
    let number = |path: &str| voucher.pointer(path).and_then(Json::as_i64);
    let date = |name: &str| voucher.get(name).and_then(Json::as_str).and_then(timestamp::parse);
    let is_used = number("/redemption/quantity")
        .is_some_and(|quantity| number("/redemption/redeemed_quantity").unwrap_or(0) >= quantity);
    let is_empty =
        ["/gift/balance", "/loyalty_card/balance"].into_iter().filter_map(number).any(|balance| balance <= 0);
    match () {
        () if VoucherRecord::of_value(voucher).is_disabled() => "DISABLED",
        () if date("expiration_date").is_some_and(|end| end <= now_ms) => "EXPIRED",
        () if date("start_date").is_some_and(|start| start > now_ms) => "NOT_ACTIVE_YET",
        () if is_used => "USED",
        () if is_empty => "NO_BALANCE",
        () => "ACTIVE",
    }
}
