//! The states of code generators: a row for an owner and a shape of codes. Does not depend on the way in which codes are generated.

use crate::store::Store;
use crate::store::amount;
use crate::store::sql::{self, Fault};
use scrip::text::{hex, unhex};

/// The state of a generator.
#[derive(Debug, Clone, Copy)]
pub struct GeneratorState {
    /// The key of its permutation.
    pub secret: [u8; 32],
    /// The counter of the next code.
    pub counter: u64,
}

/// Finds the state of a generator.
pub fn find(store: &Store<'_>, id: &str) -> Result<Option<GeneratorState>, Fault> {
    let row = store.row("SELECT secret, counter FROM generator WHERE id = +?1", &[id.into()])?;
    let Some(row) = row else { return Ok(None) };
    let secret = unhex::<32>(sql::text(&row, 0)?).ok_or_else(|| Fault::new("a generator's secret does not parse"))?;
    Ok(Some(GeneratorState { secret, counter: amount::unsigned(sql::int(&row, 1)?)? }))
}

/// Writes the state of a generator, at the flush.
pub fn update(store: &mut Store<'_>, id: &str, state: GeneratorState) -> Result<(), Fault> {
    let counter = amount::signed(state.counter)?;
    store.write(
        "INSERT INTO generator (id, secret, counter) VALUES (?1, ?2, ?3)
         ON CONFLICT (id) DO UPDATE SET counter = excluded.counter",
        vec![id.into(), hex(&state.secret).into(), counter.into()],
    );
    Ok(())
}

/// Deletes the states of all generators of an owner, at the flush.
pub fn delete_of_owner(store: &mut Store<'_>, owner: &str) {
    store.write("DELETE FROM generator WHERE id >= ?1 || '/' AND id < ?1 || '0'", vec![owner.into()]);
}
