//! Records of decisions, as they are printed.

use crate::store::Store;
use crate::store::sql::SqlValue;
use scrip::wire::redemptions::record::Record;

impl Store<'_> {
    /// Queues the insertion of a decision's record as it was serialized, or the replacement of the one with its id. An
    /// order has its `source_id` as key; other records have a parent.
    pub fn upsert_record(&mut self, record: Record, now_ms: i64) {
        let parent = record.parent.map(|parent| parent.to_string());
        let (key, parent) = if record.kind == "order" { (parent, None) } else { (None, parent) };
        let params = vec![
            record.kind.into(),
            record.id.as_str().into(),
            key.into(),
            parent.into(),
            record.holder.map(|holder| holder.to_string()).into(),
            now_ms.into(),
            SqlValue::Null,
            record.text.into(),
            SqlValue::Null,
            SqlValue::Null,
        ];
        self.upsert_columns(record.kind, &record.id, now_ms, params);
        if let Some(write) = self.writes.last_mut() {
            write.is_printed = true;
        }
    }
}
