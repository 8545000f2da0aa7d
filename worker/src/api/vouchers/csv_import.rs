//! Import of vouchers from CSV files, without a campaign or into one: each row is written like a separate call.

use crate::api::publications::publications;
use crate::api::vouchers::imports;
use crate::api::vouchers::vouchers;
use crate::api::vouchers::vouchers::CREATE;
use crate::documents::common_fields::KEY;
use crate::documents::csv_columns::{CellType, CsvColumn, column};
use crate::documents::csv_file::{self, body};
use crate::documents::json_members;
use crate::documents::shapes;
use crate::domain::campaigns::campaign::CAMPAIGN;
use crate::domain::metadata::csv_cells;
use crate::domain::vouchers::creation;
use crate::domain::vouchers::voucher::schema_of;
use crate::http::reply::CallError;
use crate::http::route::{Call, HandlerResult, Route, post};
use crate::http::shape::{self, Field, FieldType, Nulls, may};
use crate::jobs::bulk_items;
use crate::store::document::Document;
use crate::store::records::VoucherRecord;
use crate::store::transfer_rows::TransferRow;
use scrip::facts::{redeemed_account, redemptions_account};
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json};

/// The kinds of the jobs.
pub const IMPORT_STANDALONE: &str = "VOUCHERS.IMPORT_CSV";
/// See [`IMPORT_STANDALONE`].
pub const IMPORT_INTO_CAMPAIGN: &str = "CAMPAIGN.VOUCHERS_IMPORT_CSV";

const BODY: &[Field] = &[
    csv_file::FILE,
    may(bulk_items::WEBHOOKS_ENABLE, FieldType::Bool)
        .description("`true` to send webhook events for the imported vouchers. Default `true`."),
];
const OF_CAMPAIGN: &[Field] = &[csv_file::FILE];

/// Columns of a file; all others are metadata.
const COLUMNS: &[CsvColumn] = &[
    column(&["code"], "code", CellType::Text),
    column(&["voucher_type", "type"], "type", CellType::Text),
    column(&["formula"], "row.formula", CellType::Text).with_fields(&[
        "discount.percent_off_formula",
        "discount.amount_off_formula",
        "discount.unit_off_formula",
        "discount.fixed_amount_formula",
    ]),
    column(&["discount_type"], "row.discount_type", CellType::Text).with_fields(&["discount.type"]),
    column(&["discount_amount"], "row.discount_amount", CellType::Integer)
        .with_fields(&["discount_amount", "discount.amount_off"]),
    column(&["discount_amount_limit"], "row.amount_limit", CellType::Integer).with_fields(&["discount.amount_limit"]),
    column(&["discount_effect"], "row.effect", CellType::Text).with_fields(&["gift.effect", "discount.effect"]),
    column(&["discount_unit_type"], "row.unit_type", CellType::Text).with_fields(&["discount.unit_type"]),
    column(&["discount_unit_effect"], "row.unit_effect", CellType::Text).with_fields(&["discount.effect"]),
    column(&["gift_amount"], "row.gift_amount", CellType::Integer).with_fields(&["gift.amount"]),
    column(&["gift_balance"], "row.gift_balance", CellType::Integer).with_fields(&["gift.balance"]),
    column(&["loyalty_points"], "row.loyalty_points", CellType::Integer).with_fields(&["loyalty_card.points"]),
    column(&["loyalty_balance"], "row.loyalty_balance", CellType::Integer).with_fields(&["loyalty_card.balance"]),
    column(&["value"], "row.value", CellType::Text).with_fields(&[
        "gift.amount",
        "loyalty_card.points",
        "discount.percent_off",
        "discount.amount_off",
        "discount.unit_off",
        "discount.fixed_amount",
    ]),
    column(&["redeemed_amount"], "row.redeemed_amount", CellType::Integer).with_fields(&[
        "redeemed_amount",
        "gift.balance",
        "loyalty_card.balance",
    ]),
    column(&["redemption_count", "redeemed_quantity"], "row.redeemed", CellType::Integer)
        .with_fields(&["redemption_count"]),
    column(&["redemption_quantity", "redemption_limit"], "redemption.quantity", CellType::Integer),
    column(&["campaign"], "campaign", CellType::Text),
    column(&["category"], "category", CellType::Text),
    column(&["category_id"], "category_id", CellType::Text),
    column(&["start_date"], "start_date", CellType::Text),
    column(&["expiration_date"], "expiration_date", CellType::Text),
    column(&["active"], "active", CellType::Flag),
    column(&["validity_timeframe_interval"], "validity_timeframe.interval", CellType::Text),
    column(&["validity_timeframe_duration"], "validity_timeframe.duration", CellType::Text),
    column(&["validity_day_of_week"], "validity_day_of_week", CellType::Json),
    column(&["visibility"], "visibility", CellType::Text),
    column(&["additional_info"], "additional_info", CellType::Text),
    column(&["validation_rules_id"], "validation_rules", CellType::List),
    column(&["customer_source_id"], "holder.source_id", CellType::Text),
    column(&["customer_id"], "holder.id", CellType::Text),
    column(
        &["id", "campaign_id", "qr_code", "bar_code", "is_referral_code", "created_at", "updated_at"],
        "",
        CellType::Passed,
    ),
];

/// Holder of a voucher, by one of both names.
const HOLDER: &[Field] =
    &[may("id", KEY), may("source_id", KEY).description("Identifier of the customer in the merchant's system.")];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/vouchers/importCSV", "Import vouchers from a CSV file", import)
        .describe(
            "importVouchersCsv",
            "Starts a job that creates one voucher for each row of a CSV file of at most 100,000 rows. A row may name a campaign, earlier redemptions, and a customer who becomes the holder. A refused row is reported in the result and does not affect the others. A file without a `code` column is refused with `invalid_payload`.",
        )
        .returns("The ID of the async action that creates the vouchers.")
        .scope("vouchers")
        .upload(BODY)
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/campaigns/{campaignId}/importCSV", "Import vouchers into a campaign from a CSV file", import_into)
        .describe(
            "importCampaignVouchersCsv",
            "Starts a job that creates one voucher of the campaign for each row of a CSV file of at most 100,000 rows. A row takes over the configuration of the campaign, except for the columns that are filled. A refused row is reported in the result and does not affect the others. A promotion or standalone campaign is refused with `invalid_campaign`, an unreadable file with `invalid_payload`.",
        )
        .returns("The ID of the async action that creates the vouchers.")
        .scope("campaigns")
        .upload(OF_CAMPAIGN)
        .answers(200, shapes::project::ASYNC_ACTION_STARTED),
];

fn import(call: &mut Call<'_, '_>) -> HandlerResult {
    bulk_items::answer_file(call, IMPORT_STANDALONE, COLUMNS, &["code"], None)
}

/// Imports rows into the campaign that the path names; each row gets its id.
fn import_into(call: &mut Call<'_, '_>) -> HandlerResult {
    let campaign = CAMPAIGN.find(call)?;
    creation::check_open(&campaign)?;
    bulk_items::answer_file(call, IMPORT_INTO_CAMPAIGN, COLUMNS, &["code"], Some(campaign.id))
}

/// Creates the voucher of one row.
pub fn write_standalone(call: &mut Call<'_, '_>, row: Map<String, Json>) -> Result<(), CallError> {
    let named = row.get("campaign").and_then(Json::as_str);
    let campaign = named.map(|name| call.store.document_by_name(CAMPAIGN.object, name, name)).transpose()?.flatten();
    let CsvRow { sent, redeemed, holder, is_dated } = read(call, row, campaign.as_ref())?;
    check_code(&sent)?;
    let voucher = vouchers::insert_voucher(call, sent)?.voucher;
    count(call, &voucher, redeemed)?;
    publish_to_holder(call, holder, is_dated, campaign, voucher)
}

/// Creates the voucher of one row in its campaign; the row may omit the campaign's name.
pub fn write_into(call: &mut Call<'_, '_>, mut row: Map<String, Json>) -> Result<(), CallError> {
    let id = row.remove(bulk_items::SUBJECT).unwrap_or_default();
    row.remove("campaign");
    let campaign = call.store.document(CAMPAIGN.object, id.as_str().unwrap_or_default())?;
    let CsvRow { mut sent, redeemed, holder, is_dated } = read(call, row, campaign.as_ref())?;
    check_code(&sent)?;
    sent.insert("campaign_id".into(), id);
    let voucher = imports::create_in_campaign(call, sent)?;
    count(call, &voucher, redeemed)?;
    publish_to_holder(call, holder, is_dated, campaign, voucher)
}

fn check_code(sent: &Map<String, Json>) -> Result<(), Problem> {
    if sent.contains_key("code") { Ok(()) } else { Err(Problem::missing("", "code")) }
}

/// Contents of a row.
struct CsvRow {
    /// Fields of the voucher, as in a call.
    sent: Map<String, Json>,
    /// Number of previous redemptions.
    redeemed: Option<Json>,
    /// Holder, as a call names a customer.
    holder: Option<Map<String, Json>>,
    /// True if it contains the active period of the voucher.
    is_dated: bool,
}

fn read(call: &Call<'_, '_>, row: Map<String, Json>, campaign: Option<&Document>) -> Result<CsvRow, CallError> {
    let mut members = body(COLUMNS, row);
    let mut block = |name: &str| match members.remove(name) {
        Some(Json::Object(cells)) => Some(cells),
        _ => None,
    };
    let (mut cells, mut holder) = (block("row").unwrap_or_default(), block("holder"));
    if let Some(holder) = holder.as_mut().filter(|holder| holder.contains_key("source_id")) {
        // The id belongs to the project from which the file was exported.
        holder.remove("id");
    }
    csv_cells::convert(call, schema_of(campaign), &mut members)?;
    let redeemed = cells.remove("redeemed");
    write_grant(&mut members, &mut cells)?;
    let holder = holder.map(|holder| shape::read(HOLDER, holder, Nulls::Dropped)).transpose();
    let holder = holder.map_err(|problem| problem.within("holder"))?;
    let is_dated = ["start_date", "expiration_date"].iter().any(|name| members.contains_key(*name));
    Ok(CsvRow { sent: shape::read(CREATE, members, Nulls::Dropped)?, redeemed, holder, is_dated })
}

/// Publishes a voucher to the customer that its row names; an unknown customer is created. If the campaign activates codes at their
/// publication, dates in the row have precedence.
fn publish_to_holder(
    call: &mut Call<'_, '_>,
    holder: Option<Map<String, Json>>,
    is_dated: bool,
    mut campaign: Option<Document>,
    voucher: Document,
) -> Result<(), CallError> {
    let Some(holder) = holder else { return Ok(()) };
    if let Some(campaign) = campaign.as_mut().filter(|_| is_dated) {
        campaign.body.remove("activity_duration_after_publishing");
    }
    publications::publish_created(call, holder, campaign.as_ref(), voucher)
}

/// Writes the grant of a voucher to the member of its type. An amount in a separate column has precedence over the value.
fn write_grant(members: &mut Map<String, Json>, cells: &mut Map<String, Json>) -> Result<(), Problem> {
    let redeemed_units = cells
        .remove("redeemed_amount")
        .map(|redeemed_units| read_integer("redeemed_amount", &redeemed_units))
        .transpose()?;
    let value = cells.remove("value");
    let read = |kind: CellType| value.as_ref().and_then(Json::as_str).map(|text| csv_file::value(kind, text));
    for (kind, block, total, own, left) in [
        ("GIFT_VOUCHER", "gift", "amount", "gift_amount", "gift_balance"),
        ("LOYALTY_CARD", "loyalty_card", "points", "loyalty_points", "loyalty_balance"),
    ] {
        let is_declared = VoucherRecord::of(members).voucher_type() == Some(kind);
        let (own, left) = (cells.remove(own), cells.remove(left));
        let Some(units) = own.or_else(|| read(CellType::Integer).filter(|_| is_declared)) else { continue };
        if let Some((limit, redeemed_units)) =
            units.as_i64().zip(redeemed_units).filter(|(limit, redeemed_units)| redeemed_units > limit)
        {
            let message = format!("must be <= {limit}, the {total} of the card (actual value is `{redeemed_units}`)");
            return Err(Problem::at("redeemed_amount", message));
        }
        let rest = units
            .as_i64()
            .zip(redeemed_units)
            .and_then(|(units, redeemed_units)| units.checked_sub(redeemed_units))
            .map(Json::from);
        let mut card = json_members::object_of(total, units);
        if let Some(left) = left.or(rest) {
            card.insert("balance".into(), left);
        }
        if let Some(effect) = cells.remove("effect").filter(|_| block == "gift") {
            card.insert("effect".into(), effect);
        }
        members.insert(block.into(), Json::Object(card));
        return Ok(());
    }
    let amount = cells.remove("discount_amount");
    let Some(kind) = cells.remove("discount_type").or_else(|| amount.as_ref().map(|_| "AMOUNT".into())) else {
        return Ok(());
    };
    if amount.is_some() && kind != "AMOUNT" {
        let message =
            format!("must NOT be present where the discount is of the type {}", kind.as_str().unwrap_or_default());
        return Err(Problem::at("discount_amount", message));
    }
    let (own, formula, cell) = match kind.as_str().unwrap_or_default() {
        "PERCENT" => ("percent_off", "percent_off_formula", CellType::Number),
        "UNIT" => ("unit_off", "unit_off_formula", CellType::Integer),
        "FIXED" => ("fixed_amount", "fixed_amount_formula", CellType::Integer),
        _ => ("amount_off", "amount_off_formula", CellType::Integer),
    };
    let mut discount = json_members::object_of("type", kind);
    let effect = cells.remove("unit_effect");
    let effect = cells.remove("effect").or(effect);
    let pairs = [(own, amount.or_else(|| read(cell))), (formula, cells.remove("formula")), ("effect", effect)];
    let pairs = pairs.into_iter().chain(["amount_limit", "unit_type"].map(|name| (name, cells.remove(name))));
    for (name, value) in pairs {
        value.map(|value| discount.insert(name.to_owned(), value));
    }
    members.insert("discount".into(), Json::Object(discount));
    Ok(())
}

/// Reads an integer from a cell that is not a field of a call.
fn read_integer(name: &str, cell: &Json) -> Result<i64, Problem> {
    let message = || {
        let text = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
        Problem::at(name, format!("must be a whole number >= 0 (actual value is `{}`)", shortened(&text)))
    };
    cell.as_i64().filter(|count| *count >= 0).ok_or_else(message)
}

/// Queues the number of redemptions of a voucher before its import.
fn count(call: &mut Call<'_, '_>, voucher: &Document, redeemed: Option<Json>) -> Result<(), CallError> {
    let Some(redeemed) = redeemed else { return Ok(()) };
    let amount = read_integer("redemption_count", &redeemed)?;
    if amount == 0 {
        return Ok(());
    }
    let id = call.ids.hex18("tr_").to_string();
    let (debit, credit) =
        (redemptions_account(&voucher.id).to_string(), redeemed_account(voucher.parent.as_deref()).to_string());
    call.store.post(vec![TransferRow {
        chain: id.clone(),
        id,
        debit,
        credit,
        amount,
        reverses: None,
        part_of: None,
        at: call.now_ms(),
    }]);
    Ok(())
}
