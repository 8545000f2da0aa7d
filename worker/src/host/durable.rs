//! Decides how a statement reaches the SQLite database of a Durable Object.
//! It must not know what the statements mean, and it never awaits: every row is read before it returns.

use crate::store::sql::{Fault, Row, Sql, Value};
use js_sys::{Array, Error};
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

#[wasm_bindgen]
extern "C" {
    /// The `sql` of a Durable Object's storage.
    pub type ObjectSql;

    #[wasm_bindgen(method, variadic, catch)]
    fn exec(this: &ObjectSql, statement: &str, params: &Array) -> Result<Cursor, JsValue>;

    type Cursor;

    #[wasm_bindgen(method, catch)]
    fn raw(this: &Cursor) -> Result<RawRows, JsValue>;

    type RawRows;

    #[wasm_bindgen(method, catch, js_name = toArray)]
    fn to_array(this: &RawRows) -> Result<Array, JsValue>;
}

/// The largest whole number that a JavaScript number keeps exactly.
const SAFE: i64 = 9_007_199_254_740_991;

impl Sql for ObjectSql {
    fn run(&self, statement: &str, params: &[Value]) -> Result<Vec<Row>, Fault> {
        let bound = Array::new();
        for param in params {
            bound.push(&write_value(param)?);
        }
        let rows = self.exec(statement, &bound).and_then(|cursor| cursor.raw()).and_then(|rows| rows.to_array());
        let rows = rows.map_err(|error| Fault::new(format!("{} in `{statement}`", describe(&error))))?;
        rows.iter().map(|row| Array::from(&row).iter().map(|value| read_value(&value)).collect()).collect()
    }
}

/// What a thrown JavaScript value says of itself.
pub(super) fn describe(error: &JsValue) -> String {
    match error.dyn_ref::<Error>() {
        Some(error) => error.message().into(),
        None => format!("{error:?}"),
    }
}

/// A parameter as JavaScript sees it.
fn write_value(value: &Value) -> Result<JsValue, Fault> {
    match value {
        Value::Null => Ok(JsValue::NULL),
        // Beyond this bound another number would be stored than the one that was meant.
        Value::Int(number) if !(-SAFE..=SAFE).contains(number) => {
            Err(Fault::new(format!("the parameter `{number}` is beyond 2^53-1")))
        }
        Value::Int(number) => Ok(JsValue::from_f64(*number as f64)),
        Value::Text(text) => Ok(JsValue::from_str(text)),
    }
}

/// A column as the store sees it.
fn read_value(value: &JsValue) -> Result<Value, Fault> {
    if value.is_null() {
        return Ok(Value::Null);
    }
    if let Some(text) = value.as_string() {
        return Ok(Value::Text(text));
    }
    match value.as_f64() {
        // The cast saturates and drops fractions, so that only a whole number in range is its own image.
        Some(number) if (number as i64) as f64 == number => Ok(Value::Int(number as i64)),
        _ => Err(Fault::new(format!("a column holds {value:?}, neither a whole number nor text"))),
    }
}
