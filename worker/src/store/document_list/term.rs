//! Conditions of lists that an index may answer.

use super::clause::Statement;
use crate::store::sql::SqlValue;
use scrip::text::fold;
use serde_json::Value as Json;

/// A condition on a column that an index has in front.
#[derive(Debug, Clone)]
pub struct IndexTerm {
    /// The column.
    pub column: String,
    /// Statement that must be true of it.
    pub statement: Statement,
    /// The one value that it must have, where there is one.
    pub value: Option<String>,
}

impl IndexTerm {
    /// Returns the term that a column has one of some values.
    pub fn of(column: &str, values: &[String]) -> IndexTerm {
        let (condition, value) = match values {
            [one] => (format!("{column} = {{}}"), Some(one.clone())),
            _ => (format!("{column} IN (SELECT CAST(value AS TEXT) FROM json_each({{}}))"), None),
        };
        let param = value.clone().unwrap_or_else(|| Json::from(values.to_vec()).to_string());
        IndexTerm { column: column.to_owned(), statement: (condition, vec![param.into()]), value }
    }

    /// Returns the term that a column, the source of the key, has one of some values.
    pub(super) fn of_key(column: &str, values: &[String]) -> IndexTerm {
        let keys =
            values.iter().cloned().chain(values.iter().map(|value| fold(value).into_owned())).collect::<Vec<_>>();
        let listed = |values: Vec<String>| SqlValue::Text(Json::from(values).to_string());
        let condition = "IN (SELECT value FROM json_each({}))";
        let statement =
            (format!("key {condition} AND {column} {condition}"), vec![listed(keys), listed(values.to_vec())]);
        IndexTerm { column: "key".to_owned(), statement, value: None }
    }

    /// Returns the term that the column of the holder has one of some values, and `holder` as well.
    pub(super) fn of_holder(column: &str, values: &[String]) -> IndexTerm {
        let IndexTerm { column: holder, statement: (text, mut params), value } = IndexTerm::of("holder", values);
        params.extend(params.clone());
        IndexTerm {
            statement: (format!("{text} AND {}", text.replace("holder", column)), params),
            column: holder,
            value,
        }
    }

    /// Returns the term that a column, the source of the key, begins with a text.
    pub(super) fn with_prefix(column: &str, start: &str) -> IndexTerm {
        let range = "(key >= {} AND key < {})";
        let bounds = [start.to_owned(), fold(start).into_owned()].map(|from| [format!("{from}{}", char::MAX), from]);
        let bounds = bounds.into_iter().flat_map(|[behind, from]| [SqlValue::Text(from), SqlValue::Text(behind)]);
        let params = bounds.chain([start.into(), start.into()]).collect();
        let condition = format!("({range} OR {range}) AND substr({column}, 1, length({{}})) = {{}}");
        IndexTerm { column: "key".to_owned(), statement: (condition, params), value: None }
    }

    /// Returns the term that a column of instants lies before or after one.
    pub fn bound(column: &str, sign: &str, at_ms: i64) -> IndexTerm {
        let statement = (format!("{column} {sign} {{}}"), vec![at_ms.into()]);
        IndexTerm { column: column.to_owned(), statement, value: None }
    }
}
