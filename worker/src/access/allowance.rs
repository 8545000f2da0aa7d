//! What a page's key may still write: a page's key is public, so that what it writes is bounded by the clock. One row holds what
//! a key has used of one allowance, and begins anew with its window. It must not know what is counted.

use crate::http::caller::Caller;
use crate::moment;
use crate::store::Store;
use crate::store::sql::{self, Fault};

/// So much of something in every window of the clock.
pub struct Allowance {
    /// What it is of.
    pub name: &'static str,
    /// How long a window is, in milliseconds.
    pub window_ms: i64,
    /// How much a key may use in one.
    pub most: i64,
}

/// Whose allowance it is: a key and what is issued with it are two.
fn key(caller: &Caller) -> String {
    serde_json::json!([caller.class, caller.key_id]).to_string()
}

impl Allowance {
    /// How many windows have begun since 1970.
    fn window(&self, now_ms: i64) -> i64 {
        now_ms.checked_div_euclid(self.window_ms).unwrap_or(0)
    }

    /// Seconds until the next window begins.
    pub fn rest_seconds(&self, now_ms: i64) -> i64 {
        let next = self.window(now_ms).saturating_add(1).saturating_mul(self.window_ms);
        moment::seconds_until(now_ms, next)
    }

    /// Whether a caller may use so much more of it now.
    pub fn allows(&self, store: &Store<'_>, caller: &Caller, now_ms: i64, amount: i64) -> Result<bool, Fault> {
        let row = store.row(
            "SELECT used FROM allowance WHERE key = +?1 AND name = +?2 AND span = +?3",
            &[key(caller).into(), self.name.into(), self.window(now_ms).into()],
        )?;
        let used = row.map_or(Ok(0), |row| sql::int(&row, 0))?;
        Ok(used.saturating_add(amount) <= self.most)
    }

    /// Uses one of each of these at the commit, or, where one of them is used up, none; then it gives the seconds until there is more.
    pub fn take_of_all(
        shares: &[Allowance],
        store: &mut Store<'_>,
        caller: &Caller,
        now_ms: i64,
    ) -> Result<Option<i64>, Fault> {
        for share in shares {
            if !share.allows(store, caller, now_ms, 1)? {
                return Ok(Some(share.rest_seconds(now_ms)));
            }
        }
        shares.iter().for_each(|share| share.take(store, caller, now_ms, 1));
        Ok(None)
    }

    /// Uses so much of it, at the commit.
    pub fn take(&self, store: &mut Store<'_>, caller: &Caller, now_ms: i64, amount: i64) {
        store.write(
            "INSERT INTO allowance (key, name, span, used) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (key, name) DO UPDATE SET
               used = CASE WHEN span = excluded.span THEN used + excluded.used ELSE excluded.used END, span = excluded.span",
            vec![key(caller).into(), self.name.into(), self.window(now_ms).into(), amount.into()],
        );
    }
}
