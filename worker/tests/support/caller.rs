//! Provides the caller of tests that call the service without its host: a server key whose project is in UTC.

use scrip_worker::http::caller::{Caller, CredentialClass, Settings};

/// The header in which the host describes a server of the merchant.
pub fn server() -> (String, String) {
    of(CredentialClass::Server, "dev-app")
}

/// The header in which the host describes a client.
#[allow(dead_code, reason = "not every program of tests has a client")]
pub fn client() -> (String, String) {
    of(CredentialClass::Client, "dev-client")
}

fn of(class: CredentialClass, key_id: &str) -> (String, String) {
    let settings = Settings {
        name: String::new(),
        time_zone: "UTC".into(),
        currency: "EUR".into(),
        case_sensitive_codes: true,
        charset: None,
        client: true.into(),
        address_header: None,
        replay_days: 0,
        changed_ms: 0,
        client_edge: Default::default(),
    };
    let caller = Caller {
        project: "proj_dev".into(),
        class,
        key_id: key_id.into(),
        secrets: vec![],
        user: None,
        scopes: vec![],
        origin: None,
        channel: None,
        address: None,
        origins: vec![],
        redeem: true,
        publish: scrip_worker::http::client_publication_policy::ClientPublicationPolicy::Any(true),
        events: true,
        role: None,
        signing: None,
        others: Default::default(),
        rates: Default::default(),
        expires_at: None,
        local: false,
        settings,
    };
    ("scrip-caller".to_owned(), caller.header())
}
