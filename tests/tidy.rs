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
#[path = "support/floors.rs"]
mod floors;
#[path = "support/reading.rs"]
mod reading;
#[path = "support/rooms.rs"]
mod rooms;

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

/// Where the code of a crate lies. ARCHITECTURE.md has a heading that names the folder, and below it a table of floors.
const ROOTS: [&str; 2] = ["src/", "worker/src/"];

/// The arrows of a crate: which file names what of which.
fn arrows(root: &str) -> Vec<rooms::Arrow> {
    rooms::arrows(root, files().iter().map(|file| (file.path.as_str(), file.text.as_str())))
}

#[test]
fn rooms_use_only_the_floors_below() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let all = files();
    let mut faults = Vec::new();
    for root in ROOTS {
        let floors = floors::floors(&map, root);
        // The worker's table is still to come.
        if floors.is_empty() && root == "worker/src/" {
            continue;
        }
        assert!(floors.len() >= 8, "ARCHITECTURE.md places {} rooms of {root}", floors.len());
        let paths = all.iter().filter(|file| file.under(root) && file.is("rs")).map(|file| file.path.as_str());
        faults.extend(floors::faults(root, &floors, paths, &arrows(root)));
    }
    none("a room uses only floors below its own", faults);
}

/// A reader reads the files of a crate from the bottom up, and the folders too. `cargo test --test tidy -- circles
/// --nocapture` prints what keeps them from it.
#[test]
fn files_and_folders_stand_in_no_circles() {
    let mut faults = Vec::new();
    for root in ROOTS {
        let arrows = arrows(root);
        let circles = rooms::circles(&arrows);
        println!("\n{root}: {} circles", circles.len());
        for circle in circles {
            let members: Vec<&str> = circle.members.iter().map(String::as_str).collect();
            let shown = format!("{} in a circle: {}\n{}", members.len(), members.join(" "), listed(&circle.shortest));
            println!("\n{shown}\n  all that is named within:\n{}", listed(&circle.arrows));
            faults.push(shown);
        }
    }
    none("files and folders that need each other in a circle", faults);
}

/// Arrows as lines, one for each two files.
fn listed(arrows: &[&rooms::Arrow]) -> String {
    let mut pairs: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for arrow in arrows {
        pairs.entry((&arrow.from, &arrow.to)).or_default().push(format!("{}:{}", arrow.line, arrow.named));
    }
    let line =
        |((from, to), named): (&(&str, &str), &Vec<String>)| format!("    {from} -> {to}   ({})", named.join(" "));
    pairs.iter().map(line).collect::<Vec<String>>().join("\n")
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
