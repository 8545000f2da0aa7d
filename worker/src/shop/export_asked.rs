//! What is asked for when an export begins: fields, order and filters of its parameters. It must not know whose documents they are.

use crate::document::fields::KEY;
use crate::http::reply::CallError;
use crate::http::shape::{Field, Kind, may};
use crate::shop::export_kinds;
use crate::shop::export_work::Wanted;
use crate::store::sql::Fault;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::{Map, Value as Json};

/// The order of an export.
pub const ORDER: Field = may("order", KEY).says("What it is ordered by; with `-` before it downwards");
/// The columns of an export.
pub const FIELDS: Field = may("fields", Kind::List(&KEY, 0, 100))
    .says("Its columns, in this order; `metadata.<name>` is one of the custom data");

/// What a kind of export is asked for by its parameters, and the parameters as they are shown.
pub fn asked(word: &str, parameters: Option<&Json>) -> Result<(Wanted, Json), CallError> {
    let kind = export_kinds::named(word).ok_or_else(|| Fault(format!("nothing is exported as `{word}`")))?;
    let parameters = parameters.and_then(Json::as_object).cloned().unwrap_or_default();
    let fields = parameters.get("fields").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let fields = fields.iter().filter_map(Json::as_str).map(str::to_owned);
    let mut fields: Vec<String> = fields.collect();
    if fields.is_empty() {
        fields = kind.usual.iter().map(|name| (*name).to_owned()).collect();
    }
    let usual = kind.orders.first().map_or("", |(name, _)| *name);
    let (order, is_downwards) = match parameters.get("order").and_then(Json::as_str) {
        None => (usual, !kind.is_upwards),
        Some(order) => order.strip_prefix('-').map_or((order, false), |name| (name, true)),
    };
    if !kind.orders.iter().any(|(name, _)| *name == order) {
        let known: Vec<String> = kind.orders.iter().map(|(name, _)| format!("{name}, -{name}")).collect();
        let sign = if is_downwards { "-" } else { "" };
        let told = format!("must be one of {} (actual value is `{sign}{}`)", known.join(", "), shortened(order));
        return Err(Problem::at("parameters.order", told).into());
    }
    let filters = parameters.get("filters").and_then(Json::as_object).cloned().unwrap_or_else(Map::new);
    let order = order.to_owned();
    let wanted = Wanted { word: word.to_owned(), fields, order, is_downwards, filters, parent: None, campaign: None };
    Ok((wanted, Json::Object(parameters)))
}
