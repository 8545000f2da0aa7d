//! Checks the repository against its own rules, as text: layers, cycles, lengths, names, first lines, orphans, citations, paths of one
//! machine.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::arithmetic_side_effects,
    reason = "a test may fail loudly"
)]

#[path = "support/citations.rs"]
mod citations;
#[path = "support/code.rs"]
mod code;
#[path = "support/imports.rs"]
mod imports;
#[path = "support/layers.rs"]
mod layers;
#[path = "support/methods.rs"]
mod methods;
#[path = "support/modules.rs"]
mod modules;
#[path = "support/ratchets.rs"]
mod ratchets;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use code::{blank, blank_script, functions, words};

/// A file may have this many lines, and a function this many.
const LONGEST_FILE: usize = 450;
const LONGEST_FUNCTION: usize = 80;
/// A page of `docs/design` may have this many bytes.
const LONGEST_DESIGN_PAGE: usize = 4096;

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

/// Folders of the crates. ARCHITECTURE.md has a heading that names the folder, and below it a table of layers.
const ROOTS: [&str; 2] = ["src/", "worker/src/"];

/// Returns the dependencies between the files of a crate.
fn dependencies(root: &str) -> Vec<modules::Dependency> {
    modules::dependencies(root, files().iter().map(|file| (file.path.as_str(), file.text.as_str())))
}

#[test]
fn modules_use_only_lower_layers() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let all = files();
    let mut faults = Vec::new();
    for root in ROOTS {
        let layers = layers::layers(&map, root);
        assert!(layers.len() >= 8, "ARCHITECTURE.md has {} modules of {root}", layers.len());
        let paths = all.iter().filter(|file| file.under(root) && file.is("rs")).map(|file| file.path.as_str());
        faults.extend(layers::faults(root, &layers, paths, &dependencies(root)));
    }
    none("a module uses only lower layers", faults);
}

/// Checks that neither files nor folders depend on each other in a cycle. `cargo test --test tidy -- cycles --nocapture` prints all
/// dependencies of each cycle; `circles` selects the test too.
#[test]
fn files_and_folders_have_no_cycles_or_circles() {
    let mut faults = Vec::new();
    for root in ROOTS {
        let dependencies = dependencies(root);
        let cycles = modules::cycles(&dependencies);
        println!("\n{root}: {} cycles", cycles.len());
        for cycle in cycles {
            let members: Vec<&str> = cycle.members.iter().map(String::as_str).collect();
            let shown = format!("{} in a cycle: {}\n{}", members.len(), members.join(" "), listed(&cycle.shortest));
            println!("\n{shown}\n  all dependencies within:\n{}", listed(&cycle.dependencies));
            faults.push(shown);
        }
    }
    none("files and folders have no cycles", faults);
}

/// Formats dependencies as lines, one for each pair of files.
fn listed(dependencies: &[&modules::Dependency]) -> String {
    let mut pairs: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for dependency in dependencies {
        pairs
            .entry((&dependency.from, &dependency.to))
            .or_default()
            .push(format!("{}:{}", dependency.line, dependency.named));
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

#[test]
fn design_pages_are_short() {
    let long = files()
        .iter()
        .filter(|file| file.under("docs/design") && file.text.len() > LONGEST_DESIGN_PAGE)
        .map(|file| format!("{}: {} bytes", file.path, file.text.len()))
        .collect();
    none("a design page has at most 4 kB", long);
}

/// Checks that no match accepts unknown values, and that no comment announces unfinished work.
#[test]
fn unknown_values_are_never_accepted() {
    let mut faults = Vec::new();
    for file in files().iter().filter(|file| file.is("rs") && (file.under("src/") || file.under("worker/src/"))) {
        for (line, text) in file.text.lines().enumerate() {
            let comment = text.find("//").map_or("", |place| &text[place..]);
            let unfinished = ["until then", "not yet"].into_iter().find(|words| comment.contains(words));
            let found = Some("_ => true").filter(|words| text.contains(words)).or(unfinished);
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
fn a_file_begins_with_its_responsibility() {
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
    none("a file begins with a comment on its responsibility", bare);
}

/// Words that hide what a thing is.
const BANNED: &[&str] = &["Manager", "Helper", "Util"];

#[test]
fn file_names_are_descriptive() {
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
            // Its clocks are named as the engine's own instants are.
            if line.contains("std::time") {
                faults.push(format!("{}:{}: `std::time`", file.path, count + 1));
            }
            // The library reads doubles by this; each is stored as digits at once.
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
fn no_path_of_a_machine_is_in_the_repository() {
    // Put together here, so that this file does not find itself.
    let places = [["/wo", "rk"], ["/ho", "me"], ["/tmp/", "wt"], ["../sha", "red"]].map(|parts| parts.concat());
    let mut faults = Vec::new();
    for file in &files() {
        for (count, line) in file.text.lines().enumerate() {
            for place in &places {
                let whole = line.match_indices(place.as_str()).any(|(at, _)| {
                    let after = line[at + place.len()..].chars().next();
                    let before = line[..at].chars().next_back();
                    let inside =
                        before.is_some_and(|character| character.is_alphanumeric() || "._-".contains(character));
                    after.is_none_or(|character| !character.is_alphanumeric() && character != '-') && !inside
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

/// Checks that every citation of a rule names a file and a section of `docs/spec`.
#[test]
fn citations_of_rules_resolve() {
    let all = files();
    let sources: Vec<ratchets::Source<'_>> =
        all.iter().map(|file| ratchets::Source { path: &file.path, text: &file.text }).collect();
    let mut faults = citations::unresolved(&sources);
    faults.extend(citations::unresolved_members(&sources));
    none("a citation of a rule names a section of docs/spec", faults);
}

/// Checks that the files that documents name and link to exist, and have the constants that are named with them.
#[test]
fn files_of_documents_exist() {
    let all = files();
    let sources: Vec<ratchets::Source<'_>> =
        all.iter().map(|file| ratchets::Source { path: &file.path, text: &file.text }).collect();
    none("a path in a document leads to a file", citations::missing_files(&sources));
    none("a constant in a document is in the file that it names", citations::missing_constants(&sources));
}

/// Checks that counts only fall. `cargo test --test tidy -- ratchets --nocapture` prints the counts; with `UPDATE=1` the limits fall to them,
/// and no further than to the goals.
#[test]
fn ratchets_only_fall() {
    let path = root().join("tests/support/ratchets.txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let row = |line: &str| {
        let [name, limit, goal]: [&str; 3] = line.split(" | ").collect::<Vec<_>>().try_into().unwrap();
        (name.to_owned(), limit.parse::<usize>().unwrap(), goal.parse::<usize>().unwrap())
    };
    let rows: Vec<(String, usize, usize)> = text.lines().map(row).collect();
    let all = files();
    let sources: Vec<ratchets::Source<'_>> =
        all.iter().map(|file| ratchets::Source { path: &file.path, text: &file.text }).collect();
    let counts = ratchets::counts(&sources);
    let mut faults = Vec::new();
    let mut lowered = String::new();
    for (name, limit, goal) in &rows {
        let count = counts.get(name.as_str()).copied().unwrap_or_else(|| panic!("nothing counts `{name}`"));
        println!("{name}: {count}, at most {limit}, goal {goal}");
        if count > *limit {
            faults.push(format!("{name}: {count} where at most {limit} are allowed"));
        }
        lowered.push_str(&format!("{name} | {} | {goal}\n", count.min(*limit).max(*goal)));
    }
    for name in counts.keys().filter(|name| rows.iter().all(|(row, ..)| row != *name)) {
        faults.push(format!("{name}: has no limit"));
    }
    none("a limit may only fall", faults);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, lowered).unwrap();
    }
}
