//! Decides whether the service may refuse the customer of a request before it decides anything: profiles that could not be stored.
//! The reader of requests accepts more than that.

use crate::json::Node;
use crate::model::customer::Customer;
use crate::text::{LONGEST_TEXT, is_longer};

/// The member that the service knows and does not support, in a profile and in its address.
const UNSUPPORTED: &str = "access_settings";

/// Returns whether the service may refuse a customer as sent: for an empty name, a text that is too long, or an unsupported member.
pub fn is_refusable(sent: &Customer) -> bool {
    let is_empty = [&sent.id, &sent.source_id].into_iter().flatten().any(|name| name.is_empty());
    is_empty || sent.document.iter().any(|(name, value)| is_refusable_member(name, value))
}

fn is_refusable_member(name: &str, value: &Node<'_>) -> bool {
    let is_unsupported = name == UNSUPPORTED && !value.is_null();
    is_unsupported
        || match value {
            Node::Text(text) => is_longer(text, LONGEST_TEXT),
            Node::Object(members) => members.iter().any(|(name, value)| is_refusable_member(name, value)),
            _ => false,
        }
}
