//! What a commit changes, kept for whoever tells of it: each document as it was and as it is. It must not know what is told, nor to whom.
//!
//! Nothing is looked at in a project that has nobody to tell: that is one look-up in a commit, and none where nothing is written that
//! anybody could be told of.

use super::sql::{self, Fault, Sql};
use std::cell::Cell;

/// The kinds of documents whose changes are looked at.
const HEEDED: &[&str] = &[
    "async_action",
    "campaign",
    "campaign_tier",
    "customer",
    "earning_rule",
    "event",
    "pending_points_change",
    "promotion_stack",
    "promotion_tier",
    "publication",
    "redemption",
    "reward_assignment",
    "validation_rules",
    "validation_rules_assignment",
    "voucher",
    "voucher_transaction",
];

/// A document at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The document that it belongs to.
    pub parent: Option<String>,
    /// Who holds it.
    pub holder: Option<String>,
    /// What it says.
    pub text: String,
}

impl State {
    /// A document as it stands now.
    pub fn of(sql: &dyn Sql, kind: &str, id: &str) -> Result<Option<State>, Fault> {
        let rows = sql.run(
            "SELECT parent, holder, body FROM document WHERE kind = +?1 AND id = +?2",
            &[kind.into(), id.into()],
        )?;
        let read = |row: &sql::Row| {
            let [parent, holder] = [sql::text_or_null(row, 0)?, sql::text_or_null(row, 1)?];
            let (parent, holder) = (parent.map(str::to_owned), holder.map(str::to_owned));
            Ok(State { parent, holder, text: sql::text(row, 2)?.to_owned() })
        };
        rows.first().map(read).transpose()
    }
}

/// What became of a document.
#[derive(Debug, Clone)]
pub struct Change {
    /// Its kind.
    pub kind: String,
    /// Its id.
    pub id: String,
    /// As it was; nothing of one that is new.
    pub before: Option<State>,
    /// As it is; nothing of one that is gone.
    pub after: Option<State>,
}

/// The changes since they were last asked for.
#[derive(Debug, Default)]
pub struct Changes {
    /// In their order.
    pub seen: Vec<Change>,
    /// Whether there is anybody to tell, once that was asked.
    heeds: Cell<Option<bool>>,
    /// Whether nobody is to be told for now.
    pub is_silent: bool,
}

impl Changes {
    /// Whether a change of this kind is looked at.
    pub fn heeds(&self, sql: &dyn Sql, kind: &str) -> Result<bool, Fault> {
        Ok(HEEDED.contains(&kind) && self.has_listeners(sql)?)
    }

    /// Whether there is anybody to tell.
    pub fn has_listeners(&self, sql: &dyn Sql) -> Result<bool, Fault> {
        if self.is_silent {
            return Ok(false);
        }
        if let Some(heeds) = self.heeds.get() {
            return Ok(heeds);
        }
        let heeds = !sql.run("SELECT 1 FROM document WHERE kind = 'webhook' LIMIT 1", &[])?.is_empty();
        self.heeds.set(Some(heeds));
        Ok(heeds)
    }

    /// Keeps what became of a document.
    pub fn keep(&mut self, (kind, id): (&str, &str), before: Option<State>, after: Option<State>) {
        if before != after {
            self.seen.push(Change { kind: kind.to_owned(), id: id.to_owned(), before, after });
        }
    }
}
