//! Reads a setup, or reports the error with project, field and value. An invalid setup is not applied at all, because half of
//! the keys would be worse than none.

use crate::access::address;
use crate::directory::setup::{Setup, SetupKey, SetupProject, take_client};
use crate::http::caller::{CredentialClass, REPLAY_DAYS_MAX};
use crate::http::time_zone;
use crate::store::sql::Fault;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Maximum length of a login in bytes.
const LOGIN_BYTES_MAX: usize = 255;

/// Length of a project's webhook secret in bytes.
const WEBHOOK_TOKEN_BYTES: std::ops::RangeInclusive<usize> = 16..=255;

/// Reads a setup.
pub(super) fn read(text: &str) -> Result<Setup, Fault> {
    if text.trim().is_empty() {
        return Err(wrong("it is empty; it must hold projects and their keys as JSON"));
    }
    let mut reader = serde_json::Deserializer::from_str(text);
    let setup: Setup = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        // Invalid JSON has no path, and an error of the whole document has an empty one.
        let path = error.path().to_string();
        if path == "." || !error.inner().is_data() {
            wrong(error.inner().to_string())
        } else {
            wrong(format!("`{path}`: {}", error.inner()))
        }
    })?;
    reader.end().map_err(|error| wrong(error.to_string()))?;
    check(&setup)?;
    Ok(setup)
}

fn wrong(details: impl std::fmt::Display) -> Fault {
    Fault(format!("SCRIP_SETUP cannot be used: {details}"))
}

fn check(setup: &Setup) -> Result<(), Fault> {
    if setup.projects.iter().all(|project| project.keys.is_empty()) {
        return Err(wrong("`projects` must have a project with a key; no caller could use this service"));
    }
    if let Some(name) = setup.address_header.as_deref().filter(|name| !address::is_header(&name.to_ascii_lowercase())) {
        return Err(wrong(format!(
            "`address_header` is `{name}`; it must be the name of a header: 1 to {} alphanumeric characters, `-` and `_`",
            address::NAME_MAX
        )));
    }
    let mut ids = BTreeSet::new();
    let mut keys = BTreeSet::new();
    for (place, project) in setup.projects.iter().enumerate() {
        let at = format!("projects[{place}]");
        check_project(project, &at)?;
        if !ids.insert(project.id.as_str()) {
            return Err(wrong(format!("`{at}.id`: there are two projects `{}`", project.id)));
        }
        for (place, key) in project.keys.iter().enumerate() {
            let at = format!("{at}.keys[{place}]");
            check_key(key, &at)?;
            if !keys.insert((format!("{:?}", key.class), key.id.as_str())) {
                return Err(wrong(format!("`{at}.id`: there are two keys `{}` of one class", key.id)));
            }
        }
    }
    Ok(())
}

fn check_project(project: &SetupProject, at: &str) -> Result<(), Fault> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if project.id.is_empty() || !project.id.bytes().all(is_plain) {
        return Err(wrong(format!(
            "`{at}.id` is `{}`; it must have alphanumeric characters, `_` and `-` only",
            project.id
        )));
    }
    let zone = time_zone::of_setup(&project.settings.time_zone);
    zone.map_err(|fault| wrong(format!("`{at}.time_zone` (project `{}`): {}", project.id, fault.0)))?;
    if !(project.settings.client.is_object() || project.settings.client == Json::Bool(true)) {
        return Err(wrong(format!("`{at}.client` (project `{}`) must be an object", project.id)));
    }
    let days = project.settings.replay_days;
    if !(0..=REPLAY_DAYS_MAX).contains(&days) {
        return Err(wrong(format!(
            "`{at}.replay_days` (project `{}`) is `{days}`; it must be 0 to {REPLAY_DAYS_MAX}",
            project.id
        )));
    }
    if let Some(length) =
        project.webhook_token.as_ref().map(String::len).filter(|length| !WEBHOOK_TOKEN_BYTES.contains(length))
    {
        let (least, most) = (WEBHOOK_TOKEN_BYTES.start(), WEBHOOK_TOKEN_BYTES.end());
        return Err(wrong(format!(
            "`{at}.webhook_token` (project `{}`) must have {least} to {most} bytes (actual length is `{length}`)",
            project.id
        )));
    }
    take_client(&mut project.clone()).map_err(|fault| wrong(format!("`{at}`: {}", fault.0)))?;
    Ok(())
}

fn check_key(key: &SetupKey, at: &str) -> Result<(), Fault> {
    if matches!(
        key.class,
        CredentialClass::OAuth | CredentialClass::Link | CredentialClass::Image | CredentialClass::Bundle
    ) {
        let word = if key.class == CredentialClass::OAuth { "oauth" } else { "link" };
        return Err(wrong(format!("`{at}.class` is `{word}`; tokens are issued to a server key and are not set up")));
    }
    if key.id.is_empty() {
        return Err(wrong(format!("`{at}.id` is empty")));
    }
    if key.token.is_empty() {
        return Err(wrong(format!("`{at}.token` (key `{}`) is empty; every caller could use it", key.id)));
    }
    match key.user.as_deref() {
        // Logins are parts of account names, which are separated by slashes.
        Some(login) if login.is_empty() || login.len() > LOGIN_BYTES_MAX || login.contains('/') => Err(wrong(format!(
            "`{at}.user` (key `{}`) is `{login}`; a login must have 1 to {LOGIN_BYTES_MAX} bytes without `/`",
            key.id
        ))),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may fail loudly")]
    use super::*;

    fn problem_text(text: &str) -> String {
        read(text).err().map(|fault| fault.0).unwrap_or_default()
    }

    #[test]
    fn the_setups_of_the_tests_are_sound() {
        assert_eq!(problem_text(include_str!("../../../tests/stories/setup.json")), "");
    }

    #[test]
    fn faults_of_a_setup_are_named() {
        let key = r#"{"class":"server","id":"a","token":"t"}"#;
        let project = |more: &str| format!(r#"{{"projects":[{{"id":"one","keys":[{key}]}},{{{more}}}]}}"#);
        for (setup, part) in [
            (String::new(), "it is empty"),
            (" \n".into(), "it is empty"),
            ("{".into(), "EOF"),
            ("{}".into(), "missing field `projects`"),
            (r#"{"projects":[]}"#.into(), "`projects` must have a project with a key"),
            (r#"{"projects":[{"id":"one"}]}"#.into(), "`projects` must have a project with a key"),
            (project("\"id\":\"one\"") + "x", "trailing characters"),
            (project(r#""keys":[]"#), "`projects[1]`: missing field `id`"),
            (project(r#""id":"a b""#), "`projects[1].id` is `a b`"),
            (project(r#""id":"one""#), "there are two projects `one`"),
            (project(&format!(r#""id":"two","keys":[{key}]"#)), "`projects[1].keys[0].id`: there are two keys `a`"),
            (
                project(r#""id":"two","time_zone":"Mars""#),
                "`projects[1].time_zone` (project `two`): `Mars` must be `UTC` or the IANA name",
            ),
            (
                project(r#""id":"two","time_zone":"Europe/Atlantis""#),
                "`Europe/Atlantis` must be `UTC` or the IANA name",
            ),
            (project(r#""id":"two","time_zone":3"#), "`3` must be `UTC` or the IANA name"),
            (
                project(r#""id":"two","time_zone":{"name":"Mars","offset":"3600"}"#),
                "Property .offset must be an integer of seconds",
            ),
            (
                project(
                    r#""id":"two","time_zone":{"name":"Mars","transitions":[{"at":"2026-03-29","offset":1},{"at":"2026-03-28","offset":2}]}"#,
                ),
                "must have its transitions in the order of time",
            ),
            (
                project(r#""id":"two","client":{"redeem":"yes"}"#),
                "`projects[1]`: `client` of the project `two`: redeem: invalid",
            ),
            (project(r#""id":"two","client":{"customers":"all"}"#), "`projects[1]`: `client` of the project `two`: "),
            (project(r#""id":"two","client":[]"#), "`projects[1].client` (project `two`) must be an object"),
            (
                project(r#""id":"two","replay_days":367"#),
                "`projects[1].replay_days` (project `two`) is `367`; it must be 0 to 366",
            ),
            (project(r#""id":"two","replay_days":-1"#), "is `-1`; it must be 0 to 366"),
            (project(r#""id":"two","keys":[{"class":"boss"}]"#), "`projects[1].keys[0].class`: unknown variant `boss`"),
            (project(r#""id":"two","keys":[{"class":"oauth","id":"b","token":"t"}]"#), "`projects[1].keys[0].class`"),
            (
                project(r#""id":"two","webhook_token":"short""#),
                "`projects[1].webhook_token` (project `two`) must have 16 to 255 bytes (actual length is `5`)",
            ),
            (
                project(r#""id":"two","keys":[{"class":"server","id":"b"}]"#),
                "`projects[1].keys[0]`: missing field `token`",
            ),
            (
                project(r#""id":"two","keys":[{"class":"server","id":"","token":"t"}]"#),
                "`projects[1].keys[0].id` is empty",
            ),
            (
                project(r#""id":"two","keys":[{"class":"server","id":"b","token":""}]"#),
                "`projects[1].keys[0].token` (key `b`)",
            ),
            (
                project(r#""id":"two","keys":[{"class":"server","id":"b","token":"t","user":"a/b"}]"#),
                "`projects[1].keys[0].user`",
            ),
        ] {
            let details = problem_text(&setup);
            assert!(
                details.starts_with("SCRIP_SETUP cannot be used: ") && details.contains(part),
                "{setup} gives: {details}"
            );
        }
    }
}
