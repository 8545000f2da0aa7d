//! What a supplement needs of the present core of a bundle, and the counts of one customer for its offers.

use crate::store::Store;
use crate::store::amount;
use crate::store::sql::{self, Fault, SqlRow};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::collections::BTreeMap;

/// Offers and conditions of a core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleOffers {
    /// SHA-256 of the core.
    pub core: String,
    /// Ids of its campaigns, vouchers and tiers.
    pub offers: Vec<String>,
    /// Its conditions about the customer by number, as JSON.
    pub conditions: BTreeMap<u64, String>,
}

/// Units of a customer's account, by the part of its name after the customer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnUnits {
    /// Rest of the name.
    pub account: String,
    /// Moment of the movement; `None` for the balance.
    pub at: Option<i64>,
    /// Number of units.
    pub units: u64,
}

/// Returns the offers and conditions of the present core.
pub fn find(store: &Store<'_>) -> Result<Option<BundleOffers>, Fault> {
    let row = store.row("SELECT core, offers, conditions FROM bundle_offers", &[])?;
    row.map(|row| {
        Ok(BundleOffers {
            core: sql::text(&row, 0)?.to_owned(),
            offers: read_json(sql::text(&row, 1)?)?,
            conditions: read_json(sql::text(&row, 2)?)?,
        })
    })
    .transpose()
}

fn read_json<T: DeserializeOwned>(text: &str) -> Result<T, Fault> {
    serde_json::from_str(text).map_err(|error| Fault(format!("the offers of the bundle do not parse: {error}")))
}

/// Replaces them.
pub fn update(store: &mut Store<'_>, offers: &BundleOffers) {
    let conditions: Json = offers.conditions.iter().map(|(number, text)| (number.to_string(), text.as_str())).collect();
    store.write(
        "INSERT OR REPLACE INTO bundle_offers (id, core, offers, conditions) VALUES (1, ?1, ?2, ?3)",
        vec![
            offers.core.as_str().into(),
            Json::from(offers.offers.clone()).to_string().into(),
            conditions.to_string().into(),
        ],
    );
}

/// Returns the balances of a customer's accounts, at most `most`.
pub fn list_own_balances(store: &Store<'_>, customer_id: &str, most: i64) -> Result<Vec<OwnUnits>, Fault> {
    let (from, until) = own_range(customer_id);
    let rows = store.rows(
        "SELECT id, NULL, ABS(balance) FROM account WHERE id > +?1 AND id < +?2 LIMIT +?3",
        &[from.as_str().into(), until.into(), most.into()],
    )?;
    rows.iter().map(|row| read_units(row, &from)).collect()
}

/// Returns the movements of a customer's accounts since a moment that were not reversed, less what was taken back, at most `most`.
pub fn list_own_moves(store: &Store<'_>, customer_id: &str, since_ms: i64, most: i64) -> Result<Vec<OwnUnits>, Fault> {
    let (from, until) = own_range(customer_id);
    let rows = store.rows(
        "SELECT account, at, amount - COALESCE((SELECT SUM(amount) FROM transfer part WHERE part.part_of = own.id), 0) FROM (
           SELECT id, debit AS account, at, amount FROM transfer WHERE debit > +?1 AND debit < +?2 AND at >= +?3
             AND reverses IS NULL AND part_of IS NULL UNION ALL
           SELECT id, credit, at, amount FROM transfer WHERE credit > +?1 AND credit < +?2 AND at >= +?3
             AND reverses IS NULL AND part_of IS NULL) own
         WHERE NOT EXISTS (SELECT 1 FROM transfer undone WHERE undone.reverses = own.id) LIMIT +?4",
        &[from.as_str().into(), until.into(), since_ms.into(), most.into()],
    )?;
    rows.iter().map(|row| read_units(row, &from)).collect()
}

/// Returns the accounts of a customer, under each of these names, of which sessions hold units.
pub fn list_own_held(store: &Store<'_>, names: &[&str], now_ms: i64) -> Result<Vec<String>, Fault> {
    let mut held = Vec::new();
    for name in names {
        let (from, until) = own_range(name);
        let rows = store.rows(
            "SELECT DISTINCT account FROM hold WHERE account > +?1 AND account < +?2 AND expires_at > +?3",
            &[from.as_str().into(), until.into(), now_ms.into()],
        )?;
        for row in &rows {
            held.push(rest_of(sql::text(row, 0)?, &from)?);
        }
    }
    Ok(held)
}

/// Returns the bounds of the names of a customer's accounts: `0` follows the slash.
fn own_range(customer_id: &str) -> (String, String) {
    (format!("customer/{customer_id}/"), format!("customer/{customer_id}0"))
}

fn read_units(row: &SqlRow, prefix: &str) -> Result<OwnUnits, Fault> {
    let account = rest_of(sql::text(row, 0)?, prefix)?;
    Ok(OwnUnits { account, at: sql::int_or_null(row, 1)?, units: amount::unsigned(sql::int(row, 2)?)? })
}

fn rest_of(account: &str, prefix: &str) -> Result<String, Fault> {
    let rest =
        account.strip_prefix(prefix).ok_or_else(|| Fault(format!("`{account}` is another customer's account")))?;
    Ok(rest.to_owned())
}
