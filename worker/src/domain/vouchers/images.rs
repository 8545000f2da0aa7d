//! Renders a code as a QR code and as a barcode (Code 128), in SVG. Widths in modules saturate only in form: the length of a code bounds
//! them.

use barcoders::sym::code128::Code128;
use qrcode::render::svg;
use qrcode::{EcLevel, QrCode};

/// Minimum side of a QR code and height of a barcode, in pixels; images are scalable.
const QR_SIDE: u32 = 240;
const BAR_HEIGHT: u32 = 80;
/// Width of the narrowest bar, in pixels.
const MODULE_WIDTH: usize = 2;
/// Number of narrow bars left blank on both sides, so that readers find the start of the code.
const QUIET: usize = 10;
/// Selects character set B (printable ASCII) in the encoder.
const SET_B: char = '\u{0181}';
/// Maximum length of the text of a barcode; readers do not accept longer ones.
const BARS_MAX: usize = 80;
/// Maximum number of bytes in a QR code with the lowest error correction.
const QR_BYTES_MAX: usize = 2_953;

/// Renders a code as an image.
pub type CodeRenderer = fn(&str) -> Option<String>;

/// Tests if a text fits a QR code: every text up to the size of the largest.
pub fn fits_qr_code(text: &str) -> bool {
    !text.is_empty() && text.len() <= QR_BYTES_MAX
}

/// Tests if a text fits a barcode: printable ASCII only.
pub fn fits_barcode(text: &str) -> bool {
    !text.is_empty() && text.len() <= BARS_MAX && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

/// Returns a QR code with the highest of two levels of error correction that fits.
pub fn render_qr_code(text: &str) -> Option<String> {
    let image =
        [EcLevel::M, EcLevel::L].into_iter().find_map(|level| QrCode::with_error_correction_level(text, level).ok());
    Some(image?.render::<svg::Color<'_>>().min_dimensions(QR_SIDE, QR_SIDE).build())
}

/// Returns a barcode.
pub fn render_barcode(text: &str) -> Option<String> {
    if !fits_barcode(text) {
        return None;
    }
    let modules = Code128::new(format!("{SET_B}{text}")).ok()?.encode();
    let (mut bars, mut at) = (String::new(), QUIET);
    // Sizes of a drawing: a code has at most some hundred modules.
    // Adjacent modules form one bar: scaling would show a seam between two.
    for run in modules.chunk_by(|one, other| one == other) {
        if run.first() == Some(&1) {
            bars.push_str(&format!("M{at} 0h{width}v{BAR_HEIGHT}h-{width}z", width = run.len()));
        }
        // The length of a code bounds the width.
        at = at.saturating_add(run.len());
    }
    // The length of a code bounds the width.
    let modules = at.saturating_add(QUIET);
    // The length of a code bounds the width.
    let width = modules.saturating_mul(MODULE_WIDTH);
    Some(format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="{width}" height="{BAR_HEIGHT}" viewBox="0 0 {modules} {BAR_HEIGHT}" preserveAspectRatio="none" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{modules}v{BAR_HEIGHT}H0z"/><path fill="#000" d="{bars}"/></svg>"##
    ))
}
