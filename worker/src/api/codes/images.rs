//! Images of codes, for whoever has their address: a letter, a page, a wallet. It must not know how one is drawn.

use crate::access::auth::IMAGE_ID;
use crate::access::images;
use crate::http::caller::Class;
use crate::http::route::{Answer, Body, Call, Outcome, Route, get};
use crate::shop::drawings::{self, Draw};
use crate::shop::vouchers::VOUCHER;
use serde_json::Value as Json;

/// What an image is, and what one looks like.
const SVG: &str = "image/svg+xml";
const EXAMPLE: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 240 240"></svg>"#;

/// The routes of the area.
pub const ROUTES: &[Route] = &[
    get("/v1/assets/qr/{assetId}", "Get the QR code of a voucher's code as an image", |call| show(call, drawings::qr))
        .for_classes(&[Class::Image])
        .file(SVG, EXAMPLE),
    get("/v1/assets/barcode/{assetId}", "Get the bar code of a voucher's code as an image", |call| {
        show(call, drawings::bars)
    })
    .for_classes(&[Class::Image])
    .file(SVG, EXAMPLE),
];

/// The image of the voucher that an address is sealed for, as long as there is one.
fn show(call: &mut Call<'_, '_>, draw: Draw) -> Outcome {
    let id = call.param(IMAGE_ID);
    let voucher = match images::opened(call.store, id)? {
        Some(of) => call.store.document(VOUCHER.object, &of)?,
        None => None,
    };
    let code = voucher.as_ref().and_then(|voucher| voucher.body.get("code")).and_then(Json::as_str);
    let drawn = code.and_then(draw).ok_or_else(|| images::unknown(id))?;
    let headers = vec![
        ("content-type", SVG.to_owned()),
        // A code is drawn the same for ever; a voucher that is deleted is soon not drawn any more.
        ("cache-control", "public, max-age=3600".to_owned()),
        ("content-security-policy", "default-src 'none'".to_owned()),
        ("x-content-type-options", "nosniff".to_owned()),
    ];
    Ok(Answer { status: 200, body: Body::Written(drawn.into_bytes()), headers })
}
