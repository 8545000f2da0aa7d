//! Decides how requests to validate, redeem and roll back are read. It must not know what they lead to.
//!
//! endpoints.md section 1, shapes S1 to S4 and S8; clients.md: explicit nulls count as left out.

use serde::{Deserialize, Deserializer};

use crate::decide::rollback::RollBack;
use crate::model::customer::Customer;
use crate::model::order::Metadata;
use crate::model::request::{Expand, Redeemable, RedeemableObject, Redeemables, Session, TtlUnit};
use crate::money::Money;
use crate::text::Text;
use crate::wire::order::OrderBody;
use crate::wire::problem::{Problem, read};

/// Reads null as if the field were not there.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct RedeemablesBody {
    redeemables: Vec<RedeemableBody>,
    order: Option<OrderBody>,
    customer: Option<Metadata>,
    session: Option<SessionBody>,
    tracking_id: Option<Text>,
    #[serde(default, deserialize_with = "or_default")]
    metadata: Metadata,
    options: Option<OptionsBody>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct RedeemableBody {
    object: RedeemableObject,
    id: Text,
    gift: Option<GiftBody>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct GiftBody {
    credits: Option<Money>,
}

#[derive(Deserialize)]
#[serde(rename_all = "UPPERCASE")]
enum SessionType {
    Lock,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct SessionBody {
    #[serde(rename = "type")]
    kind: Option<SessionType>,
    key: Option<Text>,
    ttl: Option<u64>,
    ttl_unit: Option<TtlUnit>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OptionsBody {
    #[serde(default, deserialize_with = "or_default")]
    expand: Vec<Text>,
}

impl SessionBody {
    fn into_model(self) -> Session {
        Session {
            lock: self.kind.is_some(),
            key: self.key.filter(|key| !key.is_empty()),
            ttl: self.ttl,
            unit: self.ttl_unit,
        }
    }
}

/// The customer of a request: two identifiers, custom data, and the rest of the profile as it came.
pub fn read_customer(document: Metadata, path: &str) -> Result<Customer, Problem> {
    let text = |name: &str| match document.get(name) {
        None | Some(serde_json::Value::Null) => Ok(None),
        Some(serde_json::Value::String(text)) => Ok(Some(Text::from(text.as_str()))),
        Some(other) => Err(Problem::bound(format!("{path}.{name}"), "must be a string", other)),
    };
    let id = text("id")?;
    let source_id = text("source_id")?;
    let metadata = match document.get("metadata") {
        None | Some(serde_json::Value::Null) => Metadata::new(),
        Some(serde_json::Value::Object(metadata)) => metadata.clone(),
        Some(other) => {
            return Err(Problem::bound(format!("{path}.metadata"), "must be an object", other));
        }
    };
    Ok(Customer { id, source_id, metadata, document })
}

/// Reads the body of a validation or a redemption.
pub fn read_redeemables(bytes: &[u8]) -> Result<Redeemables, Problem> {
    let body: RedeemablesBody = read(bytes)?;
    if body.redeemables.is_empty() {
        return Err(Problem::at("redeemables", "must NOT have fewer than 1 items"));
    }
    for (place, redeemable) in body.redeemables.iter().enumerate() {
        if redeemable.id.is_empty() {
            return Err(Problem::bound(format!("redeemables[{place}].id"), "must NOT be empty", ""));
        }
    }
    let redeemables = body.redeemables.into_iter().map(|redeemable| Redeemable {
        object: redeemable.object,
        id: redeemable.id,
        credits: redeemable.gift.and_then(|gift| gift.credits),
    });
    let customer = body.customer.map(|customer| read_customer(customer, "customer"));
    Ok(Redeemables {
        redeemables: redeemables.collect(),
        customer: customer.transpose()?,
        order: body.order.map(OrderBody::into_model).transpose()?,
        session: body.session.map(SessionBody::into_model),
        tracking_id: body.tracking_id.filter(|id| !id.is_empty()),
        metadata: body.metadata,
        expand: body.options.map(|options| expand(&options.expand)).unwrap_or_default(),
        channel: Default::default(),
    })
}

/// What the options name; names that mean nothing here are passed over, as older clients send some.
fn expand(names: &[Text]) -> Expand {
    let named = |name: &str| names.iter().any(|given| given == name);
    Expand { redeemable: named("redeemable"), category: named("category"), redemption: named("redemption") }
}

#[derive(Deserialize, Default)]
#[serde(expecting = "an object")]
struct RollBackBody {
    reason: Option<String>,
    tracking_id: Option<Text>,
    customer: Option<Metadata>,
    order: Option<OrderBody>,
    #[serde(default, deserialize_with = "or_default")]
    metadata: Metadata,
}

/// Reads the body of a rollback; an empty one says nothing.
pub fn read_rollback(redemption_id: &str, stack: bool, bytes: &[u8]) -> Result<RollBack, Problem> {
    let body: RollBackBody = match bytes.is_empty() {
        true => RollBackBody::default(),
        false => read(bytes)?,
    };
    let customer = body.customer.map(|customer| read_customer(customer, "customer"));
    Ok(RollBack {
        redemption_id: Text::from(redemption_id),
        stack,
        reason: body.reason,
        tracking_id: body.tracking_id,
        customer: customer.transpose()?,
        order: body.order.map(OrderBody::into_model).transpose()?,
        metadata: body.metadata,
    })
}
