//! Asks the runtime for the offsets of a zone, by `Intl.DateTimeFormat`. It must not know what they are for, nor ask what time
//! it is.

use js_sys::wasm_bindgen::{JsCast, JsValue};
use js_sys::{Array, Date, Function, Intl, Object, Reflect, global};

/// The offsets of one zone: what formats a date as `1/1/1970, GMT+01:00`.
pub(super) struct Offsets(Function);

impl Offsets {
    /// Nothing where the runtime does not know the zone, or no zones at all.
    pub(super) fn of(name: &str) -> Option<Offsets> {
        let options = Object::new();
        for (option, value) in [("timeZone", name), ("timeZoneName", "longOffset")] {
            Reflect::set(&options, &option.into(), &value.into()).ok()?;
        }
        let intl = Reflect::get(&global(), &"Intl".into()).ok()?;
        let format: Function = Reflect::get(&intl, &"DateTimeFormat".into()).ok()?.dyn_into().ok()?;
        let format = Reflect::construct(&format, &Array::of2(&"en-US".into(), &options)).ok()?;
        Some(Offsets(format.unchecked_into::<Intl::DateTimeFormat>().format()))
    }

    /// Seconds east of UTC at a second since 1970.
    pub(super) fn at(&self, second: u32) -> Option<i32> {
        let date = Date::new(&JsValue::from(0_u32));
        date.set_utc_seconds(second);
        read(&self.0.call1(&JsValue::UNDEFINED, &date).ok()?.as_string()?)
    }
}

/// Reads what follows `GMT`: nothing, or `+01:00`, or `-00:44:30`.
fn read(shown: &str) -> Option<i32> {
    let (_, offset) = shown.rsplit_once("GMT")?;
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
