//! Addresses of images: `{project}.{seal}`. The name of the project, which is not secret, leads to its object. The seal contains the
//! subject of the image and opens only with the project's key. An address is valid as long as its subject, independent of server
//! keys, because it is printed in e-mails and on paper.

use crate::http::reply::{ErrorBody, not_found};
use crate::store::Store;
use crate::store::sql::Fault;
use crate::store::tracking::{Sealer, Tracker};
use base64ct::{Base64UrlUnpadded, Encoding};

/// Purpose of the seal, so that no other sealed value is an address.
const PURPOSE: &str = "images";

/// Generator of the ids of a project's images.
pub struct Images {
    sealer: Sealer,
    project: String,
}

impl Images {
    /// Returns the generator of the project that owns the store.
    pub fn of(store: &Store<'_>, project: &str) -> Result<Images, Fault> {
        Ok(Images { sealer: Tracker::load(store)?.sealer(PURPOSE)?, project: name_of(project) })
    }

    /// Returns the id of the image of a subject with this id.
    pub fn id(&self, of: &str) -> Result<String, Fault> {
        let seal = Base64UrlUnpadded::encode_string(&self.sealer.encrypt(of)?);
        Ok(format!("{}.{seal}", self.project))
    }
}

/// Returns the id of an image's subject; `None` if the project did not seal it.
pub fn find_subject(store: &Store<'_>, id: &str) -> Result<Option<String>, Fault> {
    let Some((_, seal)) = id.split_once('.') else { return Ok(None) };
    let Ok(sealed) = Base64UrlUnpadded::decode_vec(seal) else { return Ok(None) };
    Tracker::load(store)?.decrypt(PURPOSE, &sealed)
}

/// Returns the name of the project that an address leads to, as requests to the directory use it.
pub fn project_named(id: &str) -> Option<&str> {
    let (name, _) = id.split_once('.')?;
    project_of(name).map(|_| name)
}

/// Returns the error for an address without an image.
pub fn unknown(id: &str) -> ErrorBody {
    not_found("asset", id)
}

/// Returns the project of a name.
pub fn project_of(name: &str) -> Option<String> {
    let project = Base64UrlUnpadded::decode_vec(name).ok().and_then(|bytes| String::from_utf8(bytes).ok())?;
    (!project.is_empty()).then_some(project)
}

/// Returns the name of a project in addresses.
pub fn name_of(project: &str) -> String {
    Base64UrlUnpadded::encode_string(project.as_bytes())
}

/// Returns the key under which the entry caches the directory's record of a project, by its name.
pub fn cache_key(name: &str) -> String {
    format!("images:{name}")
}
