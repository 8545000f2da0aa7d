//! Compares texts without case: two are equal if their NFC forms have an equal full case folding.

use std::borrow::Cow;

use unicase::UniCase;

/// Returns the folded form of a text, which is shared by all texts that differ only by case (Unicode, definition D145,
/// composed again).
///
/// ```
/// use scrip::text::fold;
/// assert_eq!(fold("STRASSE"), fold("straße"));
/// assert_eq!(fold("CAFE\u{301}"), fold("café"));
/// assert_ne!(fold("I"), fold("ı"));
/// ```
pub fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Borrowed(text),
        };
    }
    Cow::Owned(composed(&UniCase::unicode(decomposed(text)).to_folded_case()))
}

/// Returns the NFD form of a text, by the runtime's own tables: they are too large for the package.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
fn decomposed(text: &str) -> String {
    js_sys::JsString::from(text).normalize("NFD").into()
}

/// Returns the NFC form of a text, by the runtime's own tables.
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
fn composed(text: &str) -> String {
    js_sys::JsString::from(text).normalize("NFC").into()
}

/// Returns the NFD form of a text.
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
fn decomposed(text: &str) -> String {
    unicode_normalization::UnicodeNormalization::nfd(text).collect()
}

/// Returns the NFC form of a text.
#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
fn composed(text: &str) -> String {
    unicode_normalization::UnicodeNormalization::nfc(text).collect()
}
