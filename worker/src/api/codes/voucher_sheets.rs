//! Vouchers from CSV files, alone or into a campaign: each row as a call of its own would write it. It must not know how a file is read.

use crate::api::codes::publications;
use crate::api::codes::voucher_imports;
use crate::api::codes::vouchers::{self, CREATE};
use crate::document::columns::{Cell, Column, column};
use crate::document::fields::KEY;
use crate::document::part;
use crate::document::shapes;
use crate::document::sheet::{self, body};
use crate::http::reply::CallError;
use crate::http::route::{Call, Outcome, Route, post};
use crate::http::shape::{self, Field, Kind, Nulls, may};
use crate::shop::campaigns::CAMPAIGN;
use crate::shop::vouchers::schema_of;
use crate::shop::{generation, metadata_cells};
use crate::store::document::Document;
use crate::store::post::Post;
use crate::work::batch;
use scrip::facts::{redeemed_account, redemptions_account};
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json};

/// The kinds of the jobs.
pub const ALONE: &str = "VOUCHERS.IMPORT_CSV";
/// See [`ALONE`].
pub const INTO: &str = "CAMPAIGN.VOUCHERS_IMPORT_CSV";

const BODY: &[Field] = &[
    sheet::FILE,
    may(batch::TELLS, Kind::Bool).says("Whether webhooks tell of the vouchers; they do where it is left out"),
];
const OF_CAMPAIGN: &[Field] = &[sheet::FILE];

/// The columns of a file; every other one is custom data.
const COLUMNS: &[Column] = &[
    column(&["code"], "code", Cell::Text),
    column(&["voucher_type", "type"], "type", Cell::Text),
    column(&["formula"], "row.formula", Cell::Text).becomes(&[
        "discount.percent_off_formula",
        "discount.amount_off_formula",
        "discount.unit_off_formula",
        "discount.fixed_amount_formula",
    ]),
    column(&["discount_type"], "row.discount_type", Cell::Text).becomes(&["discount.type"]),
    column(&["discount_amount_limit"], "row.amount_limit", Cell::Whole).becomes(&["discount.amount_limit"]),
    column(&["discount_effect"], "row.effect", Cell::Text).becomes(&["gift.effect", "discount.effect"]),
    column(&["discount_unit_type"], "row.unit_type", Cell::Text).becomes(&["discount.unit_type"]),
    column(&["discount_unit_effect"], "row.unit_effect", Cell::Text).becomes(&["discount.effect"]),
    column(&["gift_amount"], "row.gift_amount", Cell::Whole).becomes(&["gift.amount"]),
    column(&["gift_balance"], "row.gift_balance", Cell::Whole).becomes(&["gift.balance"]),
    column(&["loyalty_points"], "row.loyalty_points", Cell::Whole).becomes(&["loyalty_card.points"]),
    column(&["loyalty_balance"], "row.loyalty_balance", Cell::Whole).becomes(&["loyalty_card.balance"]),
    column(&["value"], "row.value", Cell::Text).becomes(&[
        "gift.amount",
        "loyalty_card.points",
        "discount.percent_off",
        "discount.amount_off",
        "discount.unit_off",
        "discount.fixed_amount",
    ]),
    column(&["redeemed_amount"], "row.redeemed_amount", Cell::Whole).becomes(&[
        "redeemed_amount",
        "gift.balance",
        "loyalty_card.balance",
    ]),
    column(&["redemption_count", "redeemed_quantity"], "row.redeemed", Cell::Whole).becomes(&["redemption_count"]),
    column(&["redemption_quantity"], "redemption.quantity", Cell::Whole),
    column(&["campaign"], "campaign", Cell::Text),
    column(&["category"], "category", Cell::Text),
    column(&["start_date"], "start_date", Cell::Text),
    column(&["expiration_date"], "expiration_date", Cell::Text),
    column(&["active"], "active", Cell::Flag),
    column(&["validity_timeframe_interval"], "validity_timeframe.interval", Cell::Text),
    column(&["validity_timeframe_duration"], "validity_timeframe.duration", Cell::Text),
    column(&["validity_day_of_week"], "validity_day_of_week", Cell::Json),
    column(&["additional_info"], "additional_info", Cell::Text),
    column(&["validation_rules_id"], "validation_rules", Cell::List),
    column(&["customer_source_id"], "holder.source_id", Cell::Text),
    column(&["customer_id"], "holder.id", Cell::Text),
    column(
        &["id", "campaign_id", "qr_code", "bar_code", "is_referral_code", "created_at", "updated_at"],
        "",
        Cell::Passed,
    ),
];

/// Who holds a voucher, by one of both names.
const HOLDER: &[Field] = &[may("id", KEY), may("source_id", KEY)];

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    post("/v1/vouchers/importCSV", "Import vouchers from a CSV file", import)
        .scope("vouchers")
        .upload(BODY)
        .answers(202, shapes::project::ASYNC_ACTION_STARTED),
    post("/v1/campaigns/{campaignId}/importCSV", "Import vouchers into a campaign from a CSV file", import_into)
        .scope("campaigns")
        .upload(OF_CAMPAIGN)
        .answers(200, shapes::project::ASYNC_ACTION_STARTED),
];

fn import(call: &mut Call<'_, '_>) -> Outcome {
    batch::answer_file(call, ALONE, (COLUMNS, &["code"]), None)
}

/// The rows are of the campaign that the path names; its id goes with each.
fn import_into(call: &mut Call<'_, '_>) -> Outcome {
    let campaign = CAMPAIGN.find(call)?;
    generation::check_open(&campaign)?;
    batch::answer_file(call, INTO, (COLUMNS, &["code"]), Some(campaign.id))
}

/// Makes the voucher of one row.
pub fn write_alone(call: &mut Call<'_, '_>, row: Map<String, Json>) -> Result<(), CallError> {
    let named = row.get("campaign").and_then(Json::as_str);
    let campaign = named.map(|name| call.store.document_by_name(CAMPAIGN.object, name, name)).transpose()?.flatten();
    let Said { sent, redeemed, holder, is_dated } = read(call, row, campaign.as_ref())?;
    check_code(&sent)?;
    let voucher = vouchers::put(call, sent)?.voucher;
    count(call, &voucher, redeemed)?;
    hand(call, (holder, is_dated), campaign, voucher)
}

/// Makes the voucher of one row in its campaign, whose name the row need not say.
pub fn write_into(call: &mut Call<'_, '_>, mut row: Map<String, Json>) -> Result<(), CallError> {
    let id = row.remove(batch::SUBJECT).unwrap_or_default();
    row.remove("campaign");
    let campaign = call.store.document(CAMPAIGN.object, id.as_str().unwrap_or_default())?;
    let Said { mut sent, redeemed, holder, is_dated } = read(call, row, campaign.as_ref())?;
    check_code(&sent)?;
    sent.insert("campaign_id".into(), id);
    let voucher = voucher_imports::put_into(call, sent)?;
    count(call, &voucher, redeemed)?;
    hand(call, (holder, is_dated), campaign, voucher)
}

fn check_code(sent: &Map<String, Json>) -> Result<(), Problem> {
    if sent.contains_key("code") { Ok(()) } else { Err(Problem::missing("", "code")) }
}

/// What a row says.
struct Said {
    /// Of the voucher, in the words of a call.
    sent: Map<String, Json>,
    /// How often it was redeemed before.
    redeemed: Option<Json>,
    /// Who holds it, as a call names a customer.
    holder: Option<Map<String, Json>>,
    /// Whether it says when the voucher is active.
    is_dated: bool,
}

fn read(call: &Call<'_, '_>, row: Map<String, Json>, campaign: Option<&Document>) -> Result<Said, CallError> {
    let mut said = body(COLUMNS, row);
    let mut block = |name: &str| match said.remove(name) {
        Some(Json::Object(cells)) => Some(cells),
        _ => None,
    };
    let (mut cells, mut holder) = (block("row").unwrap_or_default(), block("holder"));
    if let Some(holder) = holder.as_mut().filter(|holder| holder.contains_key("source_id")) {
        // The id is one of the project that the file comes from.
        holder.remove("id");
    }
    metadata_cells::settle(call, schema_of(campaign), &mut said)?;
    let redeemed = cells.remove("redeemed");
    grant(&mut said, &mut cells)?;
    let holder = holder.map(|holder| shape::read(HOLDER, holder, Nulls::Dropped)).transpose();
    let holder = holder.map_err(|problem| problem.within("holder"))?;
    let is_dated = ["start_date", "expiration_date"].iter().any(|name| said.contains_key(*name));
    Ok(Said { sent: shape::read(CREATE, said, Nulls::Dropped)?, redeemed, holder, is_dated })
}

/// Hands a voucher to whom its row names, as a publication does; one who is not known yet is written down. A code that the campaign makes
/// active from its publication on is active as the row says, where it says so.
fn hand(
    call: &mut Call<'_, '_>,
    (holder, is_dated): (Option<Map<String, Json>>, bool),
    mut campaign: Option<Document>,
    voucher: Document,
) -> Result<(), CallError> {
    let Some(holder) = holder else { return Ok(()) };
    if let Some(campaign) = campaign.as_mut().filter(|_| is_dated) {
        campaign.body.remove("activity_duration_after_publishing");
    }
    publications::publish_made(call, holder, campaign.as_ref(), voucher)
}

/// Puts what a voucher grants where its type has it.
fn grant(said: &mut Map<String, Json>, cells: &mut Map<String, Json>) -> Result<(), Problem> {
    let taken = cells.remove("redeemed_amount").map(|taken| whole("redeemed_amount", &taken)).transpose()?;
    let value = cells.remove("value");
    let read = |kind: Cell| value.as_ref().and_then(Json::as_str).map(|text| sheet::value(kind, text));
    for (kind, block, total, own, left) in [
        ("GIFT_VOUCHER", "gift", "amount", "gift_amount", "gift_balance"),
        ("LOYALTY_CARD", "loyalty_card", "points", "loyalty_points", "loyalty_balance"),
    ] {
        let is_said = said.get("type").and_then(Json::as_str) == Some(kind);
        let (own, left) = (cells.remove(own), cells.remove(left));
        let Some(whole) = own.or_else(|| read(Cell::Whole).filter(|_| is_said)) else { continue };
        if let Some((most, taken)) = whole.as_i64().zip(taken).filter(|(most, taken)| taken > most) {
            let told = format!("must be <= {most}, the {total} of the card (actual value is `{taken}`)");
            return Err(Problem::at("redeemed_amount", told));
        }
        let rest = whole.as_i64().zip(taken).map(|(whole, taken)| Json::from(whole.saturating_sub(taken)));
        let mut card = part::one(total, whole);
        if let Some(left) = left.or(rest) {
            card.insert("balance".into(), left);
        }
        if let Some(effect) = cells.remove("effect").filter(|_| block == "gift") {
            card.insert("effect".into(), effect);
        }
        said.insert(block.into(), Json::Object(card));
        return Ok(());
    }
    let Some(kind) = cells.remove("discount_type") else { return Ok(()) };
    let (own, formula, cell) = match kind.as_str().unwrap_or_default() {
        "PERCENT" => ("percent_off", "percent_off_formula", Cell::Number),
        "UNIT" => ("unit_off", "unit_off_formula", Cell::Whole),
        "FIXED" => ("fixed_amount", "fixed_amount_formula", Cell::Whole),
        _ => ("amount_off", "amount_off_formula", Cell::Whole),
    };
    let mut discount = part::one("type", kind);
    let effect = cells.remove("unit_effect");
    let effect = cells.remove("effect").or(effect);
    let pairs = [(own, read(cell)), (formula, cells.remove("formula")), ("effect", effect)];
    let pairs = pairs.into_iter().chain(["amount_limit", "unit_type"].map(|name| (name, cells.remove(name))));
    for (name, value) in pairs {
        value.map(|value| discount.insert(name.to_owned(), value));
    }
    said.insert("discount".into(), Json::Object(discount));
    Ok(())
}

/// What counts something in a cell that is no field of a call.
fn whole(name: &str, cell: &Json) -> Result<i64, Problem> {
    let told = || {
        let said = cell.as_str().map_or_else(|| cell.to_string(), str::to_owned);
        Problem::at(name, format!("must be a whole number >= 0 (actual value is `{}`)", shortened(&said)))
    };
    cell.as_i64().filter(|count| *count >= 0).ok_or_else(told)
}

/// Counts at the commit how often a voucher was redeemed before it came here.
fn count(call: &mut Call<'_, '_>, voucher: &Document, redeemed: Option<Json>) -> Result<(), CallError> {
    let Some(redeemed) = redeemed else { return Ok(()) };
    let amount = whole("redemption_count", &redeemed)?;
    if amount == 0 {
        return Ok(());
    }
    let id = call.ids.hex18("tr_").to_string();
    let (debit, credit) =
        (redemptions_account(&voucher.id).to_string(), redeemed_account(voucher.parent.as_deref()).to_string());
    call.store.post(vec![Post { chain: id.clone(), id, debit, credit, amount, reverses: None, at: call.now_ms() }]);
    Ok(())
}
