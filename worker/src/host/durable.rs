//! Runs statements on the SQLite database of a Durable Object.
//! It never awaits: every row is read before it returns.

use crate::store::sql::{Fault, Sql, SqlRow, SqlValue};
use js_sys::{Array, Error};
use scrip::money::LARGEST;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen]
extern "C" {
    /// `sql` of a Durable Object's storage.
    pub type ObjectSql;

    #[wasm_bindgen(method, variadic, catch)]
    fn exec(this: &ObjectSql, statement: &str, params: &Array) -> Result<Cursor, JsValue>;

    #[wasm_bindgen(method, getter, catch, js_name = databaseSize)]
    fn database_size(this: &ObjectSql) -> Result<f64, JsValue>;

    type Cursor;

    #[wasm_bindgen(method, catch)]
    fn raw(this: &Cursor) -> Result<RawRows, JsValue>;

    type RawRows;

    #[wasm_bindgen(method, catch, js_name = toArray)]
    fn to_array(this: &RawRows) -> Result<Array, JsValue>;
}

impl Sql for ObjectSql {
    fn run(&self, statement: &str, params: &[SqlValue]) -> Result<Vec<SqlRow>, Fault> {
        let bound = Array::new();
        for param in params {
            bound.push(&write_value(param)?);
        }
        let rows = self.exec(statement, &bound).and_then(|cursor| cursor.raw()).and_then(|rows| rows.to_array());
        let rows = rows.map_err(|error| Fault::new(format!("{} in `{statement}`", describe(&error))))?;
        rows.iter().map(|row| Array::from(&row).iter().map(|value| read_value(&value)).collect()).collect()
    }

    fn bytes(&self) -> Result<i64, Fault> {
        self.database_size().map(|bytes| bytes as i64).map_err(|error| Fault(describe(&error)))
    }
}

/// Describes a thrown JavaScript value.
pub(super) fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<Error>() {
        Some(error) => error.message().into(),
        None => format!("{error:?}"),
    }
}

/// Converts a parameter to a JavaScript value.
fn write_value(value: &SqlValue) -> Result<JsValue, Fault> {
    match value {
        SqlValue::Null => Ok(JsValue::NULL),
        // Beyond this bound a different number would be stored.
        SqlValue::Int(number) if !(-LARGEST..=LARGEST).contains(number) => {
            Err(Fault::new(format!("the parameter `{number}` is beyond 2^53-1")))
        }
        SqlValue::Int(number) => Ok(JsValue::from_f64(*number as f64)),
        SqlValue::Text(text) => Ok(JsValue::from_str(text)),
    }
}

/// Converts a column to a value of the store.
fn read_value(value: &JsValue) -> Result<SqlValue, Fault> {
    if value.is_null() {
        return Ok(SqlValue::Null);
    }
    if let Some(text) = value.as_string() {
        return Ok(SqlValue::Text(text));
    }
    match value.as_f64() {
        // The cast saturates and drops fractions, so only an integer in range is equal after it.
        Some(number) if (number as i64) as f64 == number => Ok(SqlValue::Int(number as i64)),
        _ => Err(Fault::new(format!("a column holds {value:?}, neither a whole number nor text"))),
    }
}
