//! Import of customers from a CSV file: each row is written like a separate call.

use crate::documents::common_fields::CUSTOMER as FIELDS;
use crate::documents::csv_columns::{CellType, CsvColumn, column};
use crate::documents::csv_file::{self, body};
use crate::documents::shapes;
use crate::domain::customers::customer;
use crate::domain::metadata::csv_cells;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Route, post};
use crate::http::shape::{self, Field, Nulls};
use crate::jobs::bulk_items;
use serde_json::{Map, Value as Json};

/// The kind of the job.
pub const IMPORT: &str = "CUSTOMERS.IMPORT_CSV";

const BODY: &[Field] = &[csv_file::FILE];

/// Columns of a file; all others are metadata.
const COLUMNS: &[CsvColumn] = &[
    column(&["name"], "name", CellType::Text),
    column(&["source_id", "sourceid"], "source_id", CellType::Text),
    column(&["email", "e_mail"], "email", CellType::Text),
    column(&["phone"], "phone", CellType::Text),
    column(&["description"], "description", CellType::Text),
    column(&["birthday"], "birthday", CellType::Text),
    column(&["birthdate"], "birthdate", CellType::Text),
    column(&["city", "address_city"], "address.city", CellType::Text),
    column(&["state", "address_state"], "address.state", CellType::Text),
    column(&["line_1", "address_line_1"], "address.line_1", CellType::Text),
    column(&["line_2", "address_line_2"], "address.line_2", CellType::Text),
    column(&["country", "address_country"], "address.country", CellType::Text),
    column(&["postal_code", "address_postal_code"], "address.postal_code", CellType::Text),
    // The service computes or generates the other columns of an export itself.
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
        CellType::Passed,
    ),
];

/// The routes of the area.
pub const ROUTES: &[Route] = &[post("/v1/customers/importCSV", "Import customers from a CSV file", import)
    .describe(
        "importCustomers",
        "Starts an async action that creates or updates the customer of each row, by `source_id`. Columns other than profile fields become metadata. The file, of at most 100,000 rows, is read before the action starts; afterwards each row succeeds or fails independently. A file that cannot be read is refused with `invalid_payload`.",
    )
    .returns("The ID of the async action, which reports the result of each row.")
    .scope("customers")
    .upload(BODY)
    .answers(202, shapes::project::ASYNC_ACTION_STARTED)];

fn import(call: &mut Call<'_, '_>) -> HandlerResult {
    bulk_items::answer_file(call, IMPORT, COLUMNS, &[], None)
}

/// Writes the customer of one row.
pub fn write_one(call: &mut Call<'_, '_>, row: Map<String, Json>) -> Result<(), CallError> {
    let mut members = body(COLUMNS, row);
    csv_cells::convert(call, "customer", &mut members)?;
    let sent = shape::read(FIELDS, members, Nulls::Dropped)?;
    customer::upsert(call, sent).map(drop)
}
