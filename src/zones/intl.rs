//! Reads the offsets of a zone from the runtime, with `Intl.DateTimeFormat`. It does not read the clock.

use js_sys::wasm_bindgen::{JsCast, JsValue};
use js_sys::{Array, Date, Function, Intl, Object, Reflect, global};

/// The offsets of one zone: a function that formats a date as `1/1/1970, GMT+01:00`.
pub(super) struct RuntimeOffsets(Function);

impl RuntimeOffsets {
    /// Returns the offsets of a zone; `None` if the runtime does not know the zone, or no zones at all.
    pub(super) fn of(name: &str) -> Option<RuntimeOffsets> {
        let options = Object::new();
        for (option, value) in [("timeZone", name), ("timeZoneName", "longOffset")] {
            Reflect::set(&options, &option.into(), &value.into()).ok()?;
        }
        let intl = Reflect::get(&global(), &"Intl".into()).ok()?;
        let format: Function = Reflect::get(&intl, &"DateTimeFormat".into()).ok()?.dyn_into().ok()?;
        let format = Reflect::construct(&format, &Array::of2(&"en-US".into(), &options)).ok()?;
        Some(RuntimeOffsets(format.unchecked_into::<Intl::DateTimeFormat>().format()))
    }

    /// Returns the seconds east of UTC at a second since 1970.
    pub(super) fn at(&self, second: u32) -> Option<i32> {
        let date = Date::new(&JsValue::from(0_u32));
        date.set_utc_seconds(second);
        read(&self.0.call1(&JsValue::UNDEFINED, &date).ok()?.as_string()?)
    }
}

/// Parses the text after `GMT`: empty, or `+01:00`, or `-00:44:30`.
fn read(text: &str) -> Option<i32> {
    let (_, offset) = text.rsplit_once("GMT")?;
    let Some((sign, parts)) = offset.split_at_checked(1) else { return Some(0) };
    let mut parts = parts.split(':').map(|part| part.parse::<i32>().ok());
    let (hours, minutes) = (parts.next()??, parts.next()??);
    let seconds = parts.next().unwrap_or(Some(0))?;
    let seconds = hours.checked_mul(60)?.checked_add(minutes)?.checked_mul(60)?.checked_add(seconds)?;
    match sign {
        "+" => Some(seconds),
        "-" | "\u{2212}" => seconds.checked_neg(),
        _ => None,
    }
}
