//! Decides on which floor a file of a crate stands, from the table in ARCHITECTURE.md, and what it names above its floor. It
//! must not know how files name each other.

use std::collections::BTreeMap;

use super::rooms::Arrow;

/// The floors of a crate, by room: what stands in backticks in the second cell of a row that begins with a number, below
/// the heading that names the crate's folder. `api/<area>` is every folder and file of `api`, each a room of its own.
pub fn floors(map: &str, root: &str) -> BTreeMap<String, u32> {
    let heading = format!("`{root}`");
    let section = map.split("\n## ").find(|section| section.lines().next().is_some_and(|line| line.contains(&heading)));
    let mut floors = BTreeMap::new();
    for row in section.unwrap_or_default().lines().filter(|line| line.starts_with('|')) {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (Some(Ok(floor)), Some(rooms)) = (cells.next().map(str::parse::<u32>), cells.next()) else {
            continue;
        };
        for room in rooms.split('`').skip(1).step_by(2) {
            floors.insert(room.trim_end_matches('/').to_owned(), floor);
        }
    }
    floors
}

/// The room that a file belongs to, and its floor: the longest whose path begins the file's.
fn room_of(file: &str, root: &str, floors: &BTreeMap<String, u32>) -> Option<(String, u32)> {
    let steps: Vec<&str> = file.strip_prefix(root)?.strip_suffix(".rs")?.split('/').collect();
    (1..=steps.len()).rev().find_map(|length| {
        let room = steps[..length].join("/");
        let any = [&steps[..length - 1], &["<area>"]].concat().join("/");
        floors.get(&room).or_else(|| floors.get(&any)).map(|floor| (room, *floor))
    })
}

/// What keeps the files of a crate from using only floors below their own; rooms of one floor do not know each other.
/// What a file names on its way to something counts as well as where that is.
pub fn faults<'a>(
    root: &str,
    floors: &BTreeMap<String, u32>,
    files: impl IntoIterator<Item = &'a str>,
    arrows: &[Arrow],
) -> Vec<String> {
    let library = format!("{root}lib.rs");
    let mut faults = Vec::new();
    for file in files.into_iter().filter(|file| *file != library) {
        let own: Vec<&Arrow> = arrows.iter().filter(|arrow| arrow.from == file).collect();
        let Some((room, floor)) = room_of(file, root, floors) else {
            // The file above some rooms may declare them and hand them on, and nothing else.
            let inside = file.trim_end_matches(".rs").to_owned() + "/";
            let has_rooms = arrows.iter().any(|arrow| arrow.from.starts_with(&inside));
            if !has_rooms || own.iter().any(|arrow| arrow.needed || !arrow.to.starts_with(&inside)) {
                faults.push(format!("{file}: ARCHITECTURE.md places no room that it is in"));
            }
            continue;
        };
        for arrow in own {
            for used in arrow.through.iter().filter(|passed| **passed != library).chain([&arrow.to]) {
                match room_of(used, root, floors) {
                    Some((other, _)) if other == room => {}
                    Some((_, below)) if below < floor => {}
                    Some((other, above)) => {
                        faults.push(format!("{arrow}: floor {floor} uses `{other}` of floor {above}"));
                    }
                    // The file above some rooms, on the way to one of them.
                    None if *used != arrow.to || !arrow.needed => {}
                    None => faults.push(format!("{arrow}: {used} is in no room")),
                }
            }
        }
    }
    faults.dedup();
    faults
}

#[cfg(test)]
mod tests {
    use super::{faults, floors};
    use crate::rooms::arrows;

    const MAP: &str = "# A\n\n## The engine, `src/`\n\n| 9 | `http` |\n\n## The service, `worker/src/`\n\n| Floor | Rooms |\n|---|---|\n\
        | 4 | `table` |\n| 3 | `api/<area>` (they do not know each other) |\n| 2 | `http` · `store` |\n";

    /// The faults of a crate with these files beside `http`, `store` and the file above the areas.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let fixed = [
            ("worker/src/lib.rs", "pub mod api; pub mod http; pub mod store; pub mod table;"),
            ("worker/src/api.rs", "pub mod codes; pub mod orders;"),
            ("worker/src/http.rs", "pub struct Reply;"),
            ("worker/src/store.rs", "pub struct Store;"),
        ];
        let all: Vec<(&str, &str)> = fixed.iter().chain(files).copied().collect();
        let root = "worker/src/";
        let paths = all.iter().map(|(path, _)| *path);
        let told = faults(root, &floors(MAP, root), paths, &arrows(root, all.iter().copied()));
        told.into_iter().map(|fault| fault.split(": ").last().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn a_room_uses_floors_below_and_no_neighbour() {
        let orders = ("worker/src/api/orders.rs", "use crate::http::Reply; pub mod list; pub fn read() -> Reply {}");
        let list = ("worker/src/api/orders/list.rs", "use super::read; use crate::store::Store;");
        let table =
            ("worker/src/table.rs", "use crate::api::{self, codes}; fn all() { api::orders::read(); codes::draw() }");
        let codes = ("worker/src/api/codes.rs", "pub fn draw() {}");
        assert_eq!(found(&[orders, list, table, codes]), [""; 0]);
        let neighbour = ("worker/src/api/codes.rs", "use super::orders; pub fn draw() { orders::read() }");
        assert_eq!(
            found(&[orders, list, neighbour]),
            ["floor 3 uses `api/orders` of floor 3", "floor 3 uses `api/orders` of floor 3"]
        );
        let above = ("worker/src/api/codes.rs", "pub fn draw() { crate::table::all() }");
        assert_eq!(found(&[table, above, orders]), ["floor 3 uses `table` of floor 4"]);
        let beside = ("worker/src/http/reply.rs", "use crate::store::Store;");
        assert_eq!(found(&[beside, orders, codes]), ["floor 2 uses `store` of floor 2"]);
        let unplaced = ("worker/src/sweep.rs", "fn all() {}");
        assert_eq!(found(&[unplaced, orders, codes]), ["ARCHITECTURE.md places no room that it is in"]);
    }
}
