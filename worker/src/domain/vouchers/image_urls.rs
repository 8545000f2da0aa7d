//! URLs of the images of a voucher's code.

use crate::access::images::Images;
use crate::domain::vouchers::images::{fits_barcode, fits_qr_code};
use crate::http::request_checks;
use crate::http::route::Call;
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde_json::{Value as Json, json};

/// Base of the image URLs of a project.
pub struct ImageUrls {
    images: Images,
    origin: String,
}

impl ImageUrls {
    /// Returns the base under which the caller reached the service.
    pub fn of(call: &Call<'_, '_>) -> Result<ImageUrls, Fault> {
        let images = Images::of(call.store, &call.caller.project)?;
        Ok(ImageUrls { images, origin: request_checks::origin(call.request).to_owned() })
    }

    /// Returns `assets` of a voucher; null for an image that its code does not fit (docs/spec/objects.md#5).
    pub fn to_json(&self, voucher: &Document) -> Result<Json, Fault> {
        let code = voucher.as_voucher().code().unwrap_or_default();
        let id = self.images.id(&voucher.id)?;
        let image = |can: bool, kind: &str| match can {
            true => json!({ "id": id, "url": format!("{}/v1/assets/{kind}/{id}", self.origin) }),
            false => Json::Null,
        };
        Ok(json!({ "qr": image(fits_qr_code(code), "qr"), "barcode": image(fits_barcode(code), "barcode") }))
    }
}
