//! The rows of candidates: documents of one kind, of the customer, and of everyone.

use crate::store::Store;
use crate::store::sql::{self, Fault, SqlRow};
use scrip::facts::CandidateFilter;
use scrip::text::Text;
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of candidates of one kind, the newest first: a project may have a million codes without a holder.
pub const CANDIDATES_MAX: i64 = 2_000;

/// Campaign of codes, as its document declares it.
pub(super) struct CodeCampaign {
    pub(super) campaign_type: Option<Text>,
    pub(super) standalone: bool,
}

/// Returns the newest documents of a kind: number, id, parent and body.
pub(super) fn newest(store: &Store<'_>, kind: &str) -> Result<Vec<SqlRow>, Fault> {
    let mut rows = store.rows(
        "SELECT seq, id, parent, body FROM document WHERE kind = +?1 ORDER BY created_at DESC, seq DESC LIMIT +?2",
        &[kind.into(), CANDIDATES_MAX.into()],
    )?;
    rows.reverse();
    Ok(rows)
}

/// Returns the ids of the newest documents of a kind, which qualifications examine.
pub fn list_newest_ids(store: &Store<'_>, kind: &str) -> Result<BTreeSet<String>, Fault> {
    let rows = store.rows(
        "SELECT id FROM document WHERE kind = +?1 ORDER BY created_at DESC, seq DESC LIMIT +?2",
        &[kind.into(), CANDIDATES_MAX.into()],
    )?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Returns the documents of a kind with these ids.
pub(super) fn with_ids(store: &Store<'_>, kind: &'static str, ids: &[&str]) -> Result<Vec<SqlRow>, Fault> {
    let statement = format!(
        "SELECT seq, id, parent, body FROM document WHERE kind = '{kind}' AND id IN (SELECT value FROM json_each(?1))"
    );
    store.rows_in(&statement, ids)
}

/// Returns the ids of codes that a referrer passed on to the customer.
pub(super) fn list_passed_on(store: &Store<'_>, filter: &CandidateFilter<'_>) -> Result<BTreeSet<String>, Fault> {
    let Some(customer) = filter.customer else { return Ok(BTreeSet::new()) };
    let rows = store.rows(
        "SELECT parent FROM document WHERE kind = 'redeemable_holder' AND holder = +?1
           AND json_extract(body, '$.holder_role') = 'REFEREE' ORDER BY seq DESC LIMIT +?2",
        &[customer.into(), CANDIDATES_MAX.into()],
    )?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Returns the ids of codes published to the customer, including public ones without a holder (docs/spec/calculation.md#13,
/// `CUSTOMER_WALLET`).
pub(super) fn list_published(store: &Store<'_>, filter: &CandidateFilter<'_>) -> Result<BTreeSet<String>, Fault> {
    let Some(customer) = filter.customer else { return Ok(BTreeSet::new()) };
    let rows = store.rows(
        "SELECT named.value FROM document, json_each(document.body, '$.vouchers_id') AS named
           WHERE kind = 'publication' AND holder = +?1 ORDER BY seq DESC LIMIT +?2",
        &[customer.into(), CANDIDATES_MAX.into()],
    )?;
    rows.iter().map(|row| sql::text(row, 0).map(str::to_owned)).collect()
}

/// Returns the rows of the customer's vouchers, of those given to the customer, and, unless the filter excludes them, of
/// those without a holder.
pub(super) fn voucher_rows<'g>(
    store: &Store<'_>,
    filter: &CandidateFilter<'_>,
    programs: &BTreeMap<Text, CodeCampaign>,
    given: impl Iterator<Item = &'g String>,
) -> Result<Vec<SqlRow>, Fault> {
    let mut rows = Vec::new();
    if let Some(customer) = filter.customer {
        rows.extend(store.rows(
            "SELECT seq, id, parent, body FROM document WHERE kind = 'voucher' AND holder = +?1 ORDER BY seq DESC LIMIT +?2",
            &[customer.into(), CANDIDATES_MAX.into()],
        )?);
        let held: BTreeSet<&str> = rows.iter().map(|row| sql::text(row, 1)).collect::<Result<_, _>>()?;
        let given: Vec<&str> = given.map(String::as_str).filter(|id| !held.contains(id)).collect();
        rows.extend(with_ids(store, "voucher", &given)?);
    }
    if !filter.only_own && !filter.client {
        rows.extend(store.rows(
            // Without the index hint the database scans all codes of campaigns.
            "SELECT seq, id, parent, body FROM document INDEXED BY document_open WHERE kind = 'voucher' AND parent IS NULL ORDER BY created_at DESC, seq DESC LIMIT +?1",
            &[CANDIDATES_MAX.into()],
        )?);
        let standalone = programs.iter().filter(|(_, program)| program.standalone).map(|(id, _)| id.as_str());
        rows.extend(store.rows(
            "SELECT seq, id, parent, body FROM document WHERE kind = 'voucher' AND parent IN (SELECT value FROM json_each(?1))",
            &[Json::from(standalone.collect::<Vec<&str>>()).to_string().into()],
        )?);
    }
    let mut numbered = Vec::with_capacity(rows.len());
    for row in rows {
        numbered.push((sql::int(&row, 0)?, row));
    }
    numbered.sort_by_key(|(seq, _)| *seq);
    numbered.dedup_by_key(|(seq, _)| *seq);
    Ok(numbered.into_iter().map(|(_, row)| row).collect())
}

pub(super) fn parents<'r>(rows: impl Iterator<Item = &'r SqlRow>) -> Result<BTreeSet<&'r str>, Fault> {
    let mut parents = BTreeSet::new();
    for row in rows {
        parents.extend(sql::text_or_null(row, 2)?);
    }
    Ok(parents)
}

/// Returns the assignments of rules to objects with these names: the name, and the id of the rule.
pub(super) fn assigned_rules(store: &Store<'_>, names: &[&str]) -> Result<Vec<SqlRow>, Fault> {
    store.rows_in(
        "SELECT parent, CASE json_type(body, '$.rule_id') WHEN 'text' THEN json_extract(body, '$.rule_id') END FROM document
         WHERE kind = 'validation_rules_assignment' AND parent IN (SELECT value FROM json_each(?1)) ORDER BY seq",
        names,
    )
}

/// Returns the rules with these ids: id and body.
pub(super) fn rules_with_ids(store: &Store<'_>, ids: &[&str]) -> Result<Vec<SqlRow>, Fault> {
    store.rows(
        "SELECT id, body FROM document WHERE kind = 'validation_rules' AND id IN (SELECT value FROM json_each(?1))",
        &[Json::from(ids.to_vec()).to_string().into()],
    )
}

/// Returns the balances of accounts: id and balance.
pub(super) fn balances_of(store: &Store<'_>, accounts: &[&str]) -> Result<Vec<SqlRow>, Fault> {
    store.rows_in("SELECT id, balance FROM account WHERE id IN (SELECT value FROM json_each(?1))", accounts)
}

/// Returns those of some accounts that have holds.
pub(super) fn accounts_with_holds(store: &Store<'_>, accounts: &[&str]) -> Result<Vec<SqlRow>, Fault> {
    store.rows_in("SELECT DISTINCT account FROM hold WHERE account IN (SELECT value FROM json_each(?1))", accounts)
}
