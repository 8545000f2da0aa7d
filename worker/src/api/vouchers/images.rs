//! Images of codes for any holder of their address: an e-mail, a web page, a wallet.

use crate::access::auth::IMAGE_ID;
use crate::access::images;
use crate::domain::vouchers::images::{self as code_images, CodeRenderer};
use crate::domain::vouchers::voucher::VOUCHER;
use crate::http::caller::CredentialClass;
use crate::http::route::{Call, HandlerResult, Response, ResponseBody, Route, get};

/// Media type of an image, followed by an example.
const SVG: &str = "image/svg+xml";
const EXAMPLE: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 240"></svg>"#;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/assets/qr/{assetId}", "Get the QR code of a voucher", |call| answer_image(call, code_images::render_qr_code))
        .describe(
            "getVoucherQrCode",
            "Returns the code of a voucher as a QR code. Vouchers contain the address in `assets`. Receivers may cache the image for one hour. An unknown address, a deleted voucher and a code above 2953 bytes are refused with `not_found`.",
        )
        .returns("The image in SVG.")
        .for_classes(&[CredentialClass::Image])
        .file(SVG, EXAMPLE),
    get("/v1/assets/barcode/{assetId}", "Get the barcode of a voucher", |call| answer_image(call, code_images::render_barcode))
        .describe(
            "getVoucherBarcode",
            "Returns the code of a voucher as a barcode (Code 128). Vouchers contain the address in `assets`. Receivers may cache the image for one hour. A deleted voucher is refused with `not_found`, and so is a code above 80 characters or outside printable ASCII.",
        )
        .returns("The image in SVG.")
        .for_classes(&[CredentialClass::Image])
        .file(SVG, EXAMPLE),
];

/// Returns the image of the voucher that an address is sealed for, if the voucher exists.
fn answer_image(call: &mut Call<'_, '_>, render: CodeRenderer) -> HandlerResult {
    let id = call.param(IMAGE_ID);
    let voucher = match images::find_subject(call.store, id)? {
        Some(of) => call.store.document(VOUCHER.object, &of)?,
        None => None,
    };
    let code = voucher.as_ref().and_then(|voucher| voucher.as_voucher().code());
    let image = code.and_then(render).ok_or_else(|| images::unknown(id))?;
    let headers = vec![
        ("content-type", SVG.to_owned()),
        // The image of a code never changes; that of a deleted voucher is served for a short time only.
        ("cache-control", "public, max-age=3600".to_owned()),
        ("content-security-policy", "default-src 'none'".to_owned()),
        ("x-content-type-options", "nosniff".to_owned()),
    ];
    Ok(Response { status: 200, body: ResponseBody::Written(image.into_bytes()), headers })
}
