//! How a code is drawn: as a QR code and as a bar code (Code 128), in SVG. It must not know whose code it is.

use barcoders::sym::code128::Code128;
use qrcode::render::svg;
use qrcode::{EcLevel, QrCode};

/// The least side of a QR code and the height of a bar code, in pixels; both grow with what shows them.
const QR_SIDE: u32 = 240;
const BAR_HEIGHT: u32 = 80;
/// How wide the narrowest bar is.
const MODULE_WIDTH: usize = 2;
/// So many narrow bars are left blank on both sides, for a reader to see where the code begins.
const QUIET: usize = 10;
/// By what the encoder knows that the character set B is meant: all of ASCII that is printed.
const SET_B: char = '\u{0181}';
/// The longest text that is drawn as bars: a longer one is no code that any reader takes in.
const BARS_MAX: usize = 80;
/// The most bytes of a QR code that is mended least.
const QR_BYTES_MAX: usize = 2_953;

/// Draws a code.
pub type Draw = fn(&str) -> Option<String>;

/// Whether a text can be drawn as a QR code: everything but what is too long for the largest.
pub fn has_qr(text: &str) -> bool {
    !text.is_empty() && text.len() <= QR_BYTES_MAX
}

/// Whether a text can be drawn as bars, which have no letters beyond ASCII.
pub fn has_bars(text: &str) -> bool {
    !text.is_empty() && text.len() <= BARS_MAX && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// A QR code, mended as well as its length lets it.
pub fn qr(text: &str) -> Option<String> {
    let mended =
        [EcLevel::M, EcLevel::L].into_iter().find_map(|level| QrCode::with_error_correction_level(text, level).ok());
    Some(mended?.render::<svg::Color<'_>>().min_dimensions(QR_SIDE, QR_SIDE).build())
}

/// A bar code.
pub fn bars(text: &str) -> Option<String> {
    if !has_bars(text) {
        return None;
    }
    let modules = Code128::new(format!("{SET_B}{text}")).ok()?.encode();
    let (mut bars, mut at) = (String::new(), QUIET);
    // Modules that lie side by side are one bar: between two there would be a seam wherever it is shown smaller or larger.
    for run in modules.chunk_by(|one, other| one == other) {
        if run.first() == Some(&1) {
            bars.push_str(&format!("M{at} 0h{width}v{BAR_HEIGHT}h-{width}z", width = run.len()));
        }
        at = at.saturating_add(run.len());
    }
    let modules = at.saturating_add(QUIET);
    let width = modules.saturating_mul(MODULE_WIDTH);
    Some(format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{width}" height="{BAR_HEIGHT}" viewBox="0 0 {modules} {BAR_HEIGHT}" preserveAspectRatio="none" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{modules}v{BAR_HEIGHT}H0z"/><path fill="#000" d="{bars}"/></svg>"##
    ))
}
