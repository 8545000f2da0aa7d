//! Customers from a CSV file: each row as a call of its own would write it. It must not know how a file is read.

use crate::document::columns::{Cell, Column, column};
use crate::document::fields::CUSTOMER as FIELDS;
use crate::document::shapes;
use crate::document::sheet::{self, body};
use crate::http::reply::CallError;
use crate::http::route::{Call, Outcome, Route, post};
use crate::http::shape::{self, Field, Nulls};
use crate::shop::{customers, metadata_cells};
use crate::work::batch;
use serde_json::{Map, Value as Json};

/// The kind of the job.
pub const IMPORT: &str = "CUSTOMERS.IMPORT_CSV";

const BODY: &[Field] = &[sheet::FILE];

/// The columns of a file; every other one is custom data.
const COLUMNS: &[Column] = &[
    column(&["name"], "name", Cell::Text),
    column(&["source_id", "sourceid"], "source_id", Cell::Text),
    column(&["email", "e_mail"], "email", Cell::Text),
    column(&["phone"], "phone", Cell::Text),
    column(&["description"], "description", Cell::Text),
    column(&["birthday"], "birthday", Cell::Text),
    column(&["birthdate"], "birthdate", Cell::Text),
    column(&["city", "address_city"], "address.city", Cell::Text),
    column(&["state", "address_state"], "address.state", Cell::Text),
    column(&["line_1", "address_line_1"], "address.line_1", Cell::Text),
    column(&["line_2", "address_line_2"], "address.line_2", Cell::Text),
    column(&["country", "address_country"], "address.country", Cell::Text),
    column(&["postal_code", "address_postal_code"], "address.postal_code", Cell::Text),
    // What an export tells beside, the service counts or draws itself.
    column(
        &[
            "id",
            "created_at",
            "updated_at",
            "redemptions_total_redeemed",
            "redemptions_total_failed",
            "redemptions_total_succeeded",
            "redemptions_total_rolled_back",
            "redemptions_total_rollback_failed",
            "redemptions_total_rollback_succeeded",
            "orders_total_amount",
            "orders_total_count",
            "orders_average_amount",
            "orders_last_order_amount",
            "orders_last_order_date",
            "loyalty_points",
            "loyalty_referred_customers",
        ],
        "",
        Cell::Passed,
    ),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[post("/v1/customers/importCSV", "Import customers from a CSV file", import)
    .scope("customers")
    .upload(BODY)
    .answers(202, shapes::project::ASYNC_ACTION_STARTED)];

fn import(call: &mut Call<'_, '_>) -> Outcome {
    batch::answer_file(call, IMPORT, (COLUMNS, &[]), None)
}

/// Writes the customer of one row.
pub fn write_one(call: &mut Call<'_, '_>, row: Map<String, Json>) -> Result<(), CallError> {
    let mut said = body(COLUMNS, row);
    metadata_cells::settle(call, "customer", &mut said)?;
    let sent = shape::read(FIELDS, said, Nulls::Dropped)?;
    customers::upsert(call, sent).map(drop)
}
