//! Holds the repository to its own rules: the map of rooms, lengths, names, first lines, nothing orphaned, nothing of
//! one machine. It must not know what the code does; it reads text.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a trial may fail"
)]

#[path = "support/code.rs"]
mod code;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use code::{blank, blank_script, functions, words};

/// A file may have this many lines, and a function this many.
const LONGEST_FILE: usize = 450;
const LONGEST_FUNCTION: usize = 80;

/// A file of the repository: its path from the root and its text.
struct File {
    path: String,
    text: String,
}

impl File {
    fn is(&self, extension: &str) -> bool {
        Path::new(&self.path).extension().is_some_and(|found| found == extension)
    }

    fn under(&self, folder: &str) -> bool {
        self.path.starts_with(folder)
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Every file that is tracked or would be, as far as it is text.
fn files() -> Vec<File> {
    let listing = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .unwrap_or_else(|error| panic!("git lists the files of the repository: {error}"));
    assert!(listing.status.success(), "git ls-files failed: {}", String::from_utf8_lossy(&listing.stderr));
    let names = String::from_utf8(listing.stdout).unwrap();
    let read =
        |path: &str| Some(File { path: path.to_owned(), text: std::fs::read_to_string(root().join(path)).ok()? });
    let found: Vec<File> = names.split('\0').filter(|path| !path.is_empty()).filter_map(read).collect();
    assert!(found.len() > 10, "the repository has more files than {}", found.len());
    found
}

/// Reports all faults of one rule at once.
fn none(rule: &str, faults: Vec<String>) {
    assert!(faults.is_empty(), "{rule}:\n  {}", faults.join("\n  "));
}

/// The floors of the table in ARCHITECTURE.md, by room, as far as the room exists.
fn floors() -> BTreeMap<String, u32> {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let exists = |room: &str| root().join("src").join(room).is_dir() || root().join(format!("src/{room}.rs")).is_file();
    let mut floors = BTreeMap::new();
    for row in map.lines().filter(|line| line.starts_with('|')) {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (Some(Ok(floor)), Some(rooms)) = (cells.next().map(str::parse::<u32>), cells.next()) else {
            continue;
        };
        for room in rooms.split('`').skip(1).step_by(2).filter(|room| exists(room)) {
            floors.insert(room.to_owned(), floor);
        }
    }
    floors
}

/// The rooms that a file's code names: `crate::room::...`, or `super::room` from the file of a room itself.
fn rooms_named(code: &str, names_of_the_crate: &BTreeMap<String, String>) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let listed = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or("").split(',').collect(),
            None => vec![rest],
        };
        for name in listed {
            let name: String =
                name.trim().chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            found.push(names_of_the_crate.get(&name).cloned().unwrap_or(name));
        }
    }
    found
}

#[test]
fn rooms_use_only_the_floors_below() {
    let floors = floors();
    assert!(floors.len() >= 8, "ARCHITECTURE.md places {} rooms", floors.len());
    let all = files();
    let library = all.iter().find(|file| file.path == "src/lib.rs").unwrap();
    let mut names = BTreeMap::new();
    for line in library.text.lines().filter_map(|line| line.strip_prefix("pub use ")) {
        if let Some((room, rest)) = line.split_once("::") {
            words(rest).into_iter().for_each(|name| drop(names.insert(name, room.to_owned())));
        }
    }
    let mut faults = Vec::new();
    for file in all.iter().filter(|file| file.under("src/") && file.is("rs") && file.path != "src/lib.rs") {
        let room = file.path["src/".len()..].split(['/', '.']).next().unwrap_or("").to_owned();
        let Some(floor) = floors.get(&room) else {
            faults.push(format!("{}: ARCHITECTURE.md places no room `{room}`", file.path));
            continue;
        };
        for used in rooms_named(&blank(&file.text), &names) {
            match floors.get(&used) {
                _ if used == room => {}
                Some(below) if below < floor => {}
                Some(other) => faults.push(format!("{}: floor {floor} uses `{used}` of floor {other}", file.path)),
                None => faults.push(format!("{}: `crate::{used}` is no room", file.path)),
            }
        }
    }
    none("a room uses only floors below its own", faults);
}

#[test]
fn files_are_short() {
    let code = |file: &&File| file.is("rs") || file.is("mjs");
    let long = files()
        .iter()
        .filter(code)
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > LONGEST_FILE)
        .map(|(file, lines)| format!("{}: {lines} lines", file.path))
        .collect();
    none("a file has at most 450 lines", long);
}

/// What is not known fails closed, so that no match lets the rest through; and what stands in for something that is to come
/// later is not finished.
#[test]
fn nothing_lets_the_unknown_through() {
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| file.is("rs") && (file.under("src/") || file.under("worker/src/"))) {
        for (line, text) in file.text.lines().enumerate() {
            let found = ["_ => true", "until then", "not yet"].into_iter().find(|words| text.contains(words));
            faults.extend(found.map(|words| format!("{}:{}: {words}", file.path, line + 1)));
        }
    }
    none("unknown things fail closed", faults);
}

#[test]
fn functions_are_short() {
    let mut long = Vec::new();
    for file in files().iter().filter(|file| file.is("rs")) {
        for (name, line, lines) in functions(&blank(&file.text)) {
            if lines > LONGEST_FUNCTION {
                long.push(format!("{}:{line}: `{name}` has {lines} lines", file.path));
            }
        }
    }
    none("a function has at most 80 lines", long);
}

#[test]
fn a_file_begins_with_what_it_decides() {
    let mut bare = Vec::new();
    for file in &files() {
        let first = file.text.lines().find(|line| !line.starts_with("#!/")).unwrap_or("");
        let begun = match () {
            () if file.is("rs") => first.starts_with("//! "),
            () if file.is("mjs") || file.is("cjs") => first.starts_with("//") || first.starts_with("/*"),
            () => true,
        };
        if !begun {
            bare.push(format!("{}: begins with `{first}`", file.path));
        }
    }
    none("a file begins with what it decides and what it must not know", bare);
}

/// Words that hide what a thing is.
const BANNED: &[&str] = &["Manager", "Helper", "Util"];

#[test]
fn names_say_what_things_are() {
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| file.is("rs") || file.is("mjs")) {
        let code = if file.is("rs") { blank(&file.text) } else { blank_script(&file.text) };
        for (count, line) in code.lines().enumerate() {
            let named = words(line);
            let hidden = named.iter().find(|word| BANNED.iter().any(|banned| word.contains(banned)));
            let vague = named.windows(2).find(|pair| {
                matches!(pair[0].as_str(), "fn" | "function")
                    && (pair[1].starts_with("process") || pair[1] == "handle" || pair[1].starts_with("handle_"))
            });
            if let Some(word) = hidden.or(vague.map(|pair| &pair[1])) {
                faults.push(format!("{}:{}: `{word}`", file.path, count + 1));
            }
        }
    }
    none("no Manager, Helper, Util, process or handle", faults);
}

#[test]
fn no_file_is_an_orphan() {
    let all = files();
    let text_of = |path: &str| all.iter().find(|file| file.path == path).map(|file| file.text.as_str());
    let mut orphans = Vec::new();
    for file in all.iter().filter(|file| file.is("rs") && (file.under("src/") || file.under("worker/src/"))) {
        let stem = file.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let Some((folder, name)) = stem.rsplit_once('/') else { continue };
        if matches!(name, "lib" | "main") {
            continue;
        }
        let parents = [format!("{folder}.rs"), format!("{folder}/mod.rs"), format!("{folder}/lib.rs")];
        let declares = |parent: &String| {
            let code = text_of(parent).map(blank).unwrap_or_default();
            code.contains(&format!("mod {name};"))
        };
        if !parents.iter().any(declares) {
            orphans.push(file.path.clone());
        }
    }
    none("every file is a module of its parent", orphans);
}

#[test]
fn the_engine_is_pure() {
    let banned = [
        "f32",
        "f64",
        "HashMap",
        "HashSet",
        "SystemTime",
        "async",
        "thread",
        "Utc",
        "Local",
        "rand",
        "getrandom",
        "unsafe",
    ];
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| file.under("src/") && file.is("rs")) {
        for (count, line) in blank(&file.text).lines().enumerate() {
            let found = words(line).into_iter().find(|word| banned.contains(&word.as_str()));
            // The library asks so what a double means; it is put down as digits at once.
            let asked = file.path == "src/json/read.rs" && line.contains("fn visit_f64<E: Error>(self, number: f64)");
            if let Some(word) = found.filter(|_| !asked) {
                faults.push(format!("{}:{}: `{word}`", file.path, count + 1));
            }
        }
    }
    none("no floats, clocks, chance, async, unordered maps or unsafe code in the engine", faults);
}

#[test]
fn only_the_host_knows_the_runtime() {
    let mut faults = Vec::new();
    let service = |file: &&File| file.under("worker/src/") && !file.under("worker/src/host") && file.is("rs");
    for file in files().iter().filter(service) {
        for (count, line) in blank(&file.text).lines().enumerate() {
            let named = words(line);
            let runtime = ["js_sys", "wasm_bindgen", "web_sys", "await", "async"];
            let found = runtime.iter().find(|word| named.iter().any(|name| name == *word));
            if line.contains(".await") || line.contains("use worker::") || found.is_some() {
                let allowed = file.path == "worker/src/lib.rs" && !line.contains("await");
                if !allowed {
                    faults.push(format!("{}:{}: `{}`", file.path, count + 1, line.trim()));
                }
            }
        }
    }
    none("only worker/src/host knows the runtime, and nothing awaits", faults);
}

#[test]
fn nothing_of_one_machine_is_in_the_repository() {
    // Put together here, so that this file does not find itself.
    let places = [["/wo", "rk"], ["/ho", "me"], ["/tmp/", "wt"], ["../sha", "red"]].map(|parts| parts.concat());
    let mut faults = Vec::new();
    for file in &files() {
        for (count, line) in file.text.lines().enumerate() {
            for place in &places {
                let whole = line.match_indices(place.as_str()).any(|(at, _)| {
                    let after = line[at + place.len()..].chars().next();
                    let before = line[..at].chars().next_back();
                    let inside = before.is_some_and(|letter| letter.is_alphanumeric() || "._-".contains(letter));
                    after.is_none_or(|letter| !letter.is_alphanumeric() && letter != '-') && !inside
                });
                if whole {
                    faults.push(format!("{}:{}: `{place}`", file.path, count + 1));
                }
            }
        }
    }
    none("no paths of one machine", faults);
}

#[test]
fn every_vector_folder_is_used() {
    let all = files();
    let mut folders: BTreeMap<String, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for path in std::fs::read_dir(root().join("tests/vectors")).unwrap().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            folders.insert(path.file_name().unwrap().to_string_lossy().into_owned(), 0);
        }
    }
    for file in all.iter().filter(|file| file.under("tests/vectors/") && file.is("json")) {
        let parts: Vec<&str> = file.path["tests/vectors/".len()..].split('/').collect();
        match (parts.len(), folders.get_mut(parts[0])) {
            (2, Some(count)) => *count += 1,
            _ => faults.push(format!("{}: a vector lies in a folder of its own area", file.path)),
        }
    }
    for (folder, count) in folders {
        let numbered =
            folder.split_once('-').is_some_and(|(number, _)| number.len() == 2 && number.parse::<u32>().is_ok());
        if !numbered || count == 0 {
            faults.push(format!("tests/vectors/{folder}: {count} vectors"));
        }
    }
    none("every vector folder is NN-area and has vectors", faults);
}
