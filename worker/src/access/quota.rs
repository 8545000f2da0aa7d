//! Quotas on the writes of a client key, which is public, per window of time. One row contains the amount that a key has
//! used of one quota, and is reset with each window. Amounts of one call and times saturate: beyond the type is beyond every quota.

use crate::http::caller::Caller;
use crate::store::Store;
use crate::store::access::quotas::{self, QuotaWindow};
use crate::store::sql::Fault;
use crate::timestamp;

/// Maximum amount per window of time.
pub struct Quota {
    /// Name of the counted amount.
    pub name: &'static str,
    /// Length of a window, in milliseconds.
    pub window_ms: i64,
    /// Amount that a key may use in one window.
    pub most: i64,
}

/// Returns the name of the quota's owner: a key and a token issued with it are two owners.
fn key(caller: &Caller) -> String {
    serde_json::json!([caller.class, caller.key_id]).to_string()
}

impl Quota {
    /// Returns the number of windows that have begun since 1970.
    fn window(&self, now_ms: i64) -> i64 {
        now_ms.checked_div_euclid(self.window_ms).unwrap_or(0)
    }

    /// Returns the window of a caller at a time.
    fn window_of(&self, caller: &Caller, now_ms: i64) -> QuotaWindow<'static> {
        QuotaWindow { owner: key(caller), name: self.name, number: self.window(now_ms) }
    }

    /// Returns the seconds until the next window starts.
    pub fn rest_seconds(&self, now_ms: i64) -> i64 {
        // No window ends beyond the end of time.
        let next = self.window(now_ms).saturating_add(1).saturating_mul(self.window_ms);
        timestamp::seconds_until(now_ms, next)
    }

    /// Returns true if a caller may use `amount` more of it now.
    pub fn allows(&self, store: &Store<'_>, caller: &Caller, now_ms: i64, amount: i64) -> Result<bool, Fault> {
        let used = quotas::find_used(store, self.window_of(caller, now_ms))?;
        // Beyond the type is beyond every quota.
        Ok(used.saturating_add(amount) <= self.most)
    }

    /// Uses one unit of each quota when the call commits. When one of them is used up, uses none and returns the seconds
    /// until the next window.
    pub fn take_of_all(
        shares: &[Quota],
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

    /// Uses `amount` of the quota when the call commits.
    pub fn take(&self, store: &mut Store<'_>, caller: &Caller, now_ms: i64, amount: i64) {
        quotas::insert_used(store, self.window_of(caller, now_ms), amount);
    }
}
