//! Creates vouchers: their initial body, one at once, or many in a job.

use crate::domain::trash_bin;
use crate::domain::vouchers::bulk_jobs::{VOUCHERS_GENERATE, VoucherCreationJob};
use crate::domain::vouchers::code_checks::check_code;
use crate::domain::vouchers::code_generator;
use crate::domain::vouchers::code_generator::CodeShape;
use crate::http::reply::{CallError, duplicate, error};
use crate::http::route::{Call, RequestBody};
use crate::jobs::async_actions;
use crate::store::amount::CheckedAmount;
use crate::store::document::{Document, DocumentBody};
use crate::store::documents::vouchers;
use crate::store::index::code_key;
use crate::store::records::VoucherConfig;
use crate::timestamp;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use scrip::wire::voucher::campaign_fields;
use serde_json::{Map, Value as Json, json};

/// Members in which a voucher may differ from its campaign.
pub const OVERRIDES: &[&str] =
    &["category", "category_id", "metadata", "additional_info", "start_date", "expiration_date", "redemption"];

/// Tests if a campaign is a referral program.
pub fn is_referral(campaign: &Document) -> bool {
    campaign.as_campaign().is_referral_program()
}

/// Refuses further vouchers for a promotion campaign and for a campaign with one generic code.
pub fn check_open(campaign: &Document) -> Result<(), CallError> {
    let campaign = campaign.as_campaign();
    let closed = match (campaign.is_promotion(), campaign.is_standalone()) {
        (true, _) => "PROMOTION",
        (false, true) => "STANDALONE",
        (false, false) => return Ok(()),
    };
    let message = format!("You can not generate vouchers for {closed} type campaign.");
    Err(error(400, "invalid_campaign", "Invalid Campaign", message).into())
}

/// Removes from a new voucher the members that all vouchers of the campaign have, and refuses different values. Clients may
/// send back a response.
pub fn check_granted(campaign: &Document, sent: &mut RequestBody) -> Result<(), Problem> {
    let config = campaign.as_campaign().vouchers();
    for name in ["type", "discount", "gift", "loyalty_card"] {
        let Some(value) = sent.remove(name) else { continue };
        let own = config.part(name).unwrap_or(&Json::Null);
        if !is_contained(&value, own) {
            let [own, sent] = [own.to_string(), value.to_string()];
            let message =
                format!("must be that of the campaign, `{}` (actual value is `{}`)", shortened(&own), shortened(&sent));
            return Err(Problem::at(name, message));
        }
    }
    Ok(())
}

/// Tests if each member of a value is in another value, except members of single vouchers.
fn is_contained(value: &Json, of: &Json) -> bool {
    /// Members of one voucher: its balance and its next expiration.
    const OF_ONE_VOUCHER: &[&str] = &["balance", "subtracted_amount", "next_expiration_date", "next_expiration_points"];
    let Some(members) = value.as_object() else { return value == of };
    let is_own = |name: &str, value: &Json| {
        value.is_null() || OF_ONE_VOUCHER.contains(&name) || of.get(name).is_some_and(|own| is_contained(value, own))
    };
    of.is_object() && members.iter().all(|(name, value)| is_own(name, value))
}

/// Returns the body of a campaign's next voucher, without id and code.
pub fn template(campaign: &Document, overrides: &RequestBody, now_ms: i64) -> DocumentBody {
    let config = campaign.as_campaign().vouchers();
    let of_campaign = |name: &str| campaign.body.get(name).cloned().unwrap_or(Json::Null);
    let mut body = Map::new();
    for name in ["type", "discount", "gift", "loyalty_card"] {
        body.insert(name.into(), config.part(name).cloned().unwrap_or_default());
    }
    for name in campaign_fields::INHERITED {
        body.insert((*name).into(), of_campaign(name));
    }
    let quantity = VoucherConfig::of(overrides).quantity().or_else(|| config.quantity()).cloned().unwrap_or_default();
    body.insert("redemption".into(), json!({ "quantity": quantity }));
    body.insert("metadata".into(), json!({}));
    body.insert("additional_info".into(), Json::Null);
    for name in OVERRIDES.iter().filter(|name| **name != "redemption") {
        if let Some(value) = overrides.get(*name) {
            body.insert((*name).into(), value.clone());
        }
    }
    body.insert("id".into(), Json::Null);
    body.insert("code".into(), Json::Null);
    body.insert("campaign".into(), of_campaign("name"));
    body.insert("campaign_id".into(), campaign.id.clone().into());
    body.insert("active".into(), true.into());
    body.insert("is_referral_code".into(), is_referral(campaign).into());
    body.insert("created_at".into(), timestamp::text(now_ms).into());
    body.insert("updated_at".into(), Json::Null);
    body.insert("object".into(), "voucher".into());
    body
}

/// Returns a voucher with this body and code.
pub fn new_voucher(call: &mut Call<'_, '_>, mut body: DocumentBody, code: &str, campaign_id: Option<&str>) -> Document {
    let id = call.ids.alphanumeric("v_", 32).to_string();
    body.insert("id".into(), id.clone().into());
    body.insert("code".into(), code.into());
    Document {
        id,
        key: Some(code_key::code_key(code, call.caller.settings.case_sensitive_codes)),
        parent: campaign_id.map(str::to_owned),
        holder: None,
        created_at: call.now_ms(),
        updated_at: None,
        body,
    }
}

/// Returns the shape of a campaign's codes, or the one that the call overrides.
pub fn find_code_shape(
    call: &Call<'_, '_>,
    campaign: &Document,
    overrides: &RequestBody,
) -> Result<CodeShape, CallError> {
    let overrides = VoucherConfig::of(overrides);
    let config = if overrides.has_code_config() { overrides } else { campaign.as_campaign().vouchers() };
    Ok(CodeShape::of(config.code_config(), &call.caller.settings)?)
}

/// Refuses a text at `path` that cannot be a code, and a code that is taken.
pub fn check_code_free(call: &Call<'_, '_>, code: &str, path: &str) -> Result<(), CallError> {
    check_code(code, path)?;
    let key = code_key::code_key(code, call.caller.settings.case_sensitive_codes);
    match call.store.document_by_name("voucher", &key, "")? {
        Some(_) => Err(duplicate("voucher", "id", code).into()),
        None => trash_bin::check_name_free(call, "voucher", &key, "id", code),
    }
}

/// Code that the caller chose.
pub struct RequestedCode<'c> {
    /// The code.
    pub code: &'c str,
    /// Path of its field.
    pub path: &'c str,
}

/// Queues one new voucher of a campaign, with a generated code unless one is given.
pub fn create_one(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    overrides: &RequestBody,
    code: Option<RequestedCode<'_>>,
) -> Result<Document, CallError> {
    let code = match code {
        Some(given) => {
            check_code_free(call, given.code, given.path)?;
            given.code.to_owned()
        }
        None => {
            let shape = find_code_shape(call, campaign, overrides)?;
            let codes = code_generator::generate(
                call.store,
                &mut call.ids,
                &campaign.id,
                &shape,
                1,
                call.caller.settings.case_sensitive_codes,
            )?;
            codes.into_iter().next().unwrap_or_default()
        }
    };
    let body = template(campaign, overrides, call.now_ms());
    let voucher = new_voucher(call, body, &code, Some(&campaign.id));
    call.store.insert("voucher", &voucher);
    Ok(voucher)
}

/// Generates vouchers of a campaign without writing them.
pub fn generate_vouchers(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    count: usize,
) -> Result<Vec<Document>, CallError> {
    let none = Map::new();
    let shape = find_code_shape(call, campaign, &none)?;
    let codes = code_generator::generate(
        call.store,
        &mut call.ids,
        &campaign.id,
        &shape,
        count,
        call.caller.settings.case_sensitive_codes,
    )?;
    let body = template(campaign, &none, call.now_ms());
    Ok(codes.iter().map(|code| new_voucher(call, body.clone(), code, Some(&campaign.id))).collect())
}

/// Queues the change of a campaign's number of vouchers.
pub fn update_count(call: &mut Call<'_, '_>, campaign_id: &str, added: i64) {
    if added != 0 {
        vouchers::update_count(call.store, campaign_id, added);
    }
}

/// Starts the job that creates many vouchers of a campaign; returns the id of its async action.
pub fn create_many(
    call: &mut Call<'_, '_>,
    campaign: &Document,
    overrides: &RequestBody,
    count: u64,
) -> Result<String, CallError> {
    let shape = find_code_shape(call, campaign, overrides)?;
    let generator = code_generator::Generator::open(call.store, &mut call.ids, &campaign.id, &shape)?;
    let needed = generator.counter.plus(count)?;
    if u128::from(needed) > shape.space() {
        return Err(shape.too_small(needed).into());
    }
    let job = VoucherCreationJob {
        campaign_id: campaign.id.clone(),
        template: template(campaign, overrides, call.now_ms()),
        code_config: shape.document().as_object().cloned().unwrap_or_default(),
        case_sensitive: call.caller.settings.case_sensitive_codes,
        total: count,
        created: 0,
    };
    let cursor = serde_json::to_value(&job).map_err(|error| crate::store::sql::Fault(error.to_string()))?;
    Ok(async_actions::start(call, VOUCHERS_GENERATE, &cursor))
}
