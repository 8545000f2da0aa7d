//! The sentences of a description that name who may call an operation, made from its route as authentication enforces it.

use crate::access::roles;
use crate::http::caller::{CredentialClass, ROLES};
use crate::http::route::{ClientSwitch, Route};

/// Returns the sentences: the credentials and scopes, the switch of the project, the roles.
pub fn sentences(route: &Route) -> String {
    if !route.classes.iter().any(|class| is_key(*class)) {
        return "Callable without credentials.".into();
    }
    // The token is last, because its scopes are alternatives themselves.
    let is_token = |class: &&CredentialClass| **class == CredentialClass::OAuth;
    let keys = route.classes.iter().filter(|class| !is_token(class));
    let all = keys.chain(route.classes.iter().filter(is_token));
    let credentials: Vec<String> = all.map(|class| credential(route, *class)).collect();
    let mut text = format!("Callable with {}.", one_of(&credentials));
    if let Some(switch) = route.switch {
        text.push_str(&format!(" Clients need the project switch `{}`.", switch_name(switch)));
    }
    let roles: Vec<String> =
        ROLES.iter().filter(|(_, role)| roles::allows(*role, route)).map(|(name, _)| format!("`{name}`")).collect();
    if roles.len() < ROLES.len() {
        text.push_str(&format!(" If the key belongs to a user, the user needs the role {}.", one_of(&roles)));
    }
    text
}

/// Returns true for a class whose callers send a key, a token or a signed link; an address needs none.
fn is_key(class: CredentialClass) -> bool {
    !matches!(class, CredentialClass::Image | CredentialClass::Bundle)
}

fn credential(route: &Route, class: CredentialClass) -> String {
    match class {
        CredentialClass::Server => "a server key".into(),
        CredentialClass::Client => "a client key".into(),
        CredentialClass::Management => "a management key".into(),
        CredentialClass::OAuth => {
            let (all, prefix) = route.scope_names();
            let scopes = route.scopes().map(|scope| format!("`{prefix}{scope}`")).chain([format!("`{all}`")]);
            format!("an OAuth token with the scope {}", one_of(&scopes.collect::<Vec<_>>()))
        }
        CredentialClass::Link => "a signed link".into(),
        CredentialClass::Image | CredentialClass::Bundle => "the address".into(),
    }
}

/// Returns the name of a switch in the settings of a project.
fn switch_name(switch: ClientSwitch) -> &'static str {
    match switch {
        ClientSwitch::Redeem => "client_redeem_enabled",
        ClientSwitch::Publish => "client_publish_enabled",
        ClientSwitch::Events => "client_loyalty_events_enabled",
        ClientSwitch::Customers => "client_create_customer_enabled",
        ClientSwitch::Vouchers => "client_list_vouchers_enabled",
    }
}

/// Joins alternatives: `a`, `b` or `c`.
fn one_of(alternatives: &[String]) -> String {
    match alternatives.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}
