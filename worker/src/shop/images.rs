//! Where the images of a voucher's code are found. It must not know how one is drawn, nor who asks for one.

use crate::access::images::Images;
use crate::http::intake;
use crate::http::route::Call;
use crate::shop::drawings::{has_bars, has_qr};
use crate::store::document::Document;
use crate::store::sql::Fault;
use serde_json::{Value as Json, json};

/// What the addresses of a project's images begin with.
pub struct Addresses {
    images: Images,
    origin: String,
}

impl Addresses {
    /// Those under which the caller reached the service.
    pub fn of(call: &Call<'_, '_>) -> Result<Addresses, Fault> {
        let images = Images::of(call.store, &call.caller.project)?;
        Ok(Addresses { images, origin: intake::origin(call.request).to_owned() })
    }

    /// `assets` of a voucher; null for what its code cannot be drawn as (objects.md section 5).
    pub fn show(&self, voucher: &Document) -> Result<Json, Fault> {
        let code = voucher.body.get("code").and_then(Json::as_str).unwrap_or_default();
        let id = self.images.id(&voucher.id)?;
        let image = |can: bool, kind: &str| match can {
            true => json!({ "id": id, "url": format!("{}/v1/assets/{kind}/{id}", self.origin) }),
            false => Json::Null,
        };
        Ok(json!({ "qr": image(has_qr(code), "qr"), "barcode": image(has_bars(code), "barcode") }))
    }
}
