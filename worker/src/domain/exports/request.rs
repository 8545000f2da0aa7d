//! Reads the parameters of an export request: fields, order and filters.

use crate::documents::common_fields::KEY;
use crate::domain::exports::filters::ExportFilters;
use crate::domain::exports::job::ExportRequest;
use crate::domain::exports::kinds;
use crate::http::reply::CallError;
use crate::http::shape::{Field, FieldType, may};
use crate::store::records::ExportParameters;
use crate::store::sql::Fault;
use scrip::wire::Problem;
use scrip::wire::problem::shortened;
use serde_json::Value as Json;

/// Order of an export.
pub const ORDER: Field = may("order", KEY).description("Property by which the rows are sorted; a leading `-` means descending. The default depends on the type of the exported objects.");
/// Columns of an export.
pub const FIELDS: Field = may("fields", FieldType::List(&KEY, 0, 100))
    .description("Columns of the CSV file, in this order; `metadata.<name>` is one key of the metadata. Absent or empty means the default columns of the type.");

/// Reads the parameters of an export of a kind; returns the request and the parameters as the API returns them.
pub fn read(name: &str, parameters: Option<&Json>) -> Result<(ExportRequest, Json), CallError> {
    let kind = kinds::find_by_name(name).ok_or_else(|| Fault(format!("nothing is exported as `{name}`")))?;
    let parameters = parameters.and_then(Json::as_object).cloned().unwrap_or_default();
    let fields = ExportParameters::of(&parameters).fields();
    let fields = fields.iter().filter_map(Json::as_str).map(str::to_owned);
    let mut fields: Vec<String> = fields.collect();
    if fields.is_empty() {
        fields = kind.default_fields.iter().map(|name| (*name).to_owned()).collect();
    }
    let default_order = kind.orders.first().map_or("", |(name, _)| *name);
    let (order, is_descending) = match ExportParameters::of(&parameters).order() {
        None => (default_order, !kind.is_ascending),
        Some(order) => order.strip_prefix('-').map_or((order, false), |name| (name, true)),
    };
    if !kind.orders.iter().any(|(name, _)| *name == order) {
        let known: Vec<String> = kind.orders.iter().map(|(name, _)| format!("{name}, -{name}")).collect();
        let sign = if is_descending { "-" } else { "" };
        let message = format!("must be one of {} (actual value is `{sign}{}`)", known.join(", "), shortened(order));
        return Err(Problem::at("parameters.order", message).into());
    }
    let filters = ExportFilters::of(ExportParameters::of(&parameters));
    let order = order.to_owned();
    let request =
        ExportRequest { kind: name.to_owned(), fields, order, is_descending, filters, parent: None, campaign: None };
    Ok((request, Json::Object(parameters)))
}
