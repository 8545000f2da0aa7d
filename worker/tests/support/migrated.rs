//! Databases on which all migrations have run. They run once in a process, because a test may open thousands of databases.

use scrip_worker::store::schema;
use scrip_worker::store::sqlite::Sqlite;
use std::sync::LazyLock;

static IMAGE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut sql = Sqlite::memory().unwrap();
    sql.transaction(|sql| schema::migrate(sql, 0)).unwrap();
    sql.image().unwrap()
});

/// Returns a new database in memory.
pub fn migrated() -> Sqlite {
    Sqlite::of_image(&IMAGE).unwrap()
}
