//! Addresses of images: `{project}.{seal}`. The name of the project, which is no secret, leads to its object; the seal holds what the image
//! is of, and opens with the project's key alone. An address lasts as long as what it is of, whatever becomes of the keys of servers, because
//! it stands in letters and on paper. It must not know what is drawn.

use crate::http::reply::{ErrorBody, not_found};
use crate::store::Store;
use crate::store::sql::Fault;
use crate::store::tracking::Tracker;
use base64ct::{Base64UrlUnpadded, Encoding};

/// What addresses are sealed for, so that nothing else that is sealed is one.
const PURPOSE: &str = "images";

/// What makes the ids of a project's images.
#[derive(Debug)]
pub struct Images {
    tracker: Tracker,
    project: String,
}

impl Images {
    /// Those of a project, whose store it is.
    pub fn of(store: &Store<'_>, project: &str) -> Result<Images, Fault> {
        Ok(Images { tracker: Tracker::stored(store)?, project: name_of(project) })
    }

    /// The id of the image of what has an id.
    pub fn id(&self, of: &str) -> Result<String, Fault> {
        let seal = Base64UrlUnpadded::encode_string(&self.tracker.sealed(PURPOSE, of)?);
        Ok(format!("{}.{seal}", self.project))
    }
}

/// The id of what an image is of; none where the project did not seal it.
pub fn opened(store: &Store<'_>, id: &str) -> Result<Option<String>, Fault> {
    let Some((_, seal)) = id.split_once('.') else { return Ok(None) };
    let Ok(sealed) = Base64UrlUnpadded::decode_vec(seal) else { return Ok(None) };
    Tracker::stored(store)?.opened(PURPOSE, &sealed)
}

/// The name of the project that an address leads to, as the directory is asked for it.
pub fn project_named(id: &str) -> Option<&str> {
    let (name, _) = id.split_once('.')?;
    project_of(name).map(|_| name)
}

/// Says that there is no image at an address.
pub fn unknown(id: &str) -> ErrorBody {
    not_found("asset", id)
}

/// The project of a name.
pub fn project_of(name: &str) -> Option<String> {
    let project = Base64UrlUnpadded::decode_vec(name).ok().and_then(|bytes| String::from_utf8(bytes).ok())?;
    (!project.is_empty()).then_some(project)
}

/// The name of a project in addresses.
pub fn name_of(project: &str) -> String {
    Base64UrlUnpadded::encode_string(project.as_bytes())
}

/// Under which key the entry keeps what the directory says of a project by its name.
pub fn kept_as(name: &str) -> String {
    format!("images:{name}")
}
