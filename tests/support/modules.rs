//! Finds the dependencies between the files of a crate from their text, and the cycles among them.
//!
//! A file is a module. A dependency leads from the file that names an item to the file that *defines* it: through `use`, `crate::`,
//! `super::`, `self::`, names of modules and re-exports (`pub use`), however many. So a parent that declares its children and re-exports
//! their items is in no cycle. It is in one if it also uses what it re-exports, or defines an item that a child needs. An item that is not
//! found where it is named counts as defined there. `methods.rs` finds the calls of a method in another file than its type (`impl Type` for
//! a type of another file). Items under `#[cfg(test)]` are ignored.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use super::code::blank;
use super::imports::{Module, Named, read};
use super::methods::{self, MethodUse};

/// A name that is re-exported more often than this is not resolved.
const REEXPORTS_MAX: usize = 16;

/// A file that names an item of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    pub from: String,
    /// The file that defines the item.
    pub to: String,
    /// The files through which the name leads there, in order.
    pub through: Vec<String>,
    pub line: usize,
    /// The path as it is written.
    pub named: String,
    /// Whether the file needs the item. A re-export, and a path through a module, need nothing.
    pub needed: bool,
}

impl fmt::Display for Dependency {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{} names `{}` of {}", self.from, self.line, self.named, self.to)
    }
}

/// The modules of a crate, by their paths.
struct Crate {
    modules: BTreeMap<Vec<String>, Module>,
}

/// The target of a path, and the modules that it passes.
struct Found {
    module: Vec<String>,
    through: Vec<Vec<String>>,
    is_module: bool,
}

/// Returns the dependencies of a crate whose files are below `root`, from their paths and texts.
pub fn dependencies<'a>(root: &str, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Dependency> {
    let named = |path: &'a str| Some((path, path.strip_prefix(root)?.strip_suffix(".rs")?));
    let mut modules = BTreeMap::new();
    for (path, text) in files {
        let Some((path, inside)) = named(path) else { continue };
        let mut steps: Vec<String> = inside.split('/').map(str::to_owned).collect();
        if matches!(steps.last().map(String::as_str), Some("lib" | "main" | "mod")) {
            steps.pop();
        }
        modules.insert(steps, read(path, &blank(text)));
    }
    let plain = Crate { modules };
    let all = Crate { modules: plain.modules.keys().map(|path| (path.clone(), plain.with_globs(path))).collect() };
    let mut found: Vec<Dependency> = all.modules.keys().flat_map(|path| all.dependencies_of(path)).collect();
    found.extend(all.methods());
    found.sort();
    found.dedup();
    found
}

impl Crate {
    fn file(&self, module: &[String]) -> String {
        self.modules.get(module).map(|module| module.file.clone()).unwrap_or_default()
    }

    /// Returns a module in which `use other::*` is replaced by the names that it imports.
    fn with_globs(&self, path: &[String]) -> Module {
        let mut module = self.modules[path].clone();
        let globs: Vec<Named> = module.uses.iter().filter(|used| used.is_glob).cloned().collect();
        for glob in globs {
            let names = match self.find(path, &glob.path, 0) {
                Some(found) if found.is_module => self.names(&found.module),
                _ => BTreeSet::new(),
            };
            for name in names {
                let path = glob.path.iter().cloned().chain([name.clone()]).collect();
                module.uses.push(Named { name, path, is_glob: false, is_from_glob: true, ..glob });
            }
        }
        module
    }

    /// Returns every name in a module.
    fn names(&self, path: &[String]) -> BTreeSet<String> {
        let module = &self.modules[path];
        let children = self.modules.keys().filter(|other| other.len() == path.len() + 1 && other.starts_with(path));
        let used = module.uses.iter().filter(|used| !used.is_glob).map(|used| used.name.clone());
        module.defined.iter().cloned().chain(used).chain(children.filter_map(|other| other.last().cloned())).collect()
    }

    /// Resolves a path that is written in a module; `None` if it leaves the crate. If a module and an item have one name, a
    /// path passes the module and ends at the item.
    fn find(&self, module: &[String], path: &[String], depth: usize) -> Option<Found> {
        let mut at = module.to_vec();
        let mut through = Vec::new();
        for (place, step) in path.iter().enumerate() {
            let rest = &path[place + 1..];
            match step.as_str() {
                "crate" => at.clear(),
                "self" => {}
                "super" => drop(at.pop()),
                name => {
                    let child: Vec<String> = at.iter().cloned().chain([name.to_owned()]).collect();
                    let known = self.modules.get(&at)?;
                    if self.modules.contains_key(&child) && (!rest.is_empty() || !known.names_item(name)) {
                        at = child;
                    } else if known.defined.contains(name) {
                        return Some(Found { module: at, through, is_module: false });
                    } else if let Some(used) = known.uses.iter().find(|used| used.name == name && !used.is_glob) {
                        let on: Vec<String> = used.path.iter().chain(rest).cloned().collect();
                        if depth == REEXPORTS_MAX {
                            return None;
                        }
                        let mut found = self.find(&at, &on, depth + 1)?;
                        found.through.splice(0..0, through);
                        return Some(found);
                    } else if place == 0 {
                        return None;
                    } else {
                        return Some(Found { module: at, through, is_module: false });
                    }
                }
            }
            through.push(at.clone());
        }
        Some(Found { module: at, through, is_module: true })
    }

    fn dependencies_of(&self, path: &[String]) -> Vec<Dependency> {
        let module = &self.modules[path];
        let mut dependencies = Vec::new();
        for used in module.uses.iter().chain(&module.mentions).filter(|used| !used.is_glob) {
            let Some(found) = self.find(path, &used.path, 0) else { continue };
            let mentioned = module.words.contains(&used.name);
            if used.is_from_glob && !used.is_public && !mentioned {
                continue;
            }
            let is_reexport = used.is_public || used.is_from_glob;
            dependencies.push(Dependency {
                from: module.file.clone(),
                to: self.file(&found.module),
                through: found.through.iter().map(|module| self.file(module)).collect(),
                line: used.line,
                named: used.path.join("::"),
                needed: !found.is_module && (!is_reexport || mentioned),
            });
        }
        dependencies.retain(|dependency| dependency.from != dependency.to);
        dependencies
    }

    /// Returns the dependencies on methods that are in another file than their type.
    fn methods(&self) -> Vec<Dependency> {
        let home = |path: &[String], kind: &str| {
            let steps: Vec<String> = kind.split("::").map(str::to_owned).collect();
            Some(self.find(path, &steps, 0)?.module)
        };
        let uses = methods::uses(&self.modules, home).into_iter();
        uses.map(|MethodUse { from, to, line, named }| Dependency {
            from,
            through: vec![to.clone()],
            to,
            line,
            named,
            needed: true,
        })
        .collect()
    }
}

/// Files and folders of one folder, and the file above them, that depend on each other.
pub struct Cycle<'a> {
    /// Paths without the ending: a file together with the folder of its name.
    pub members: BTreeSet<String>,
    /// The dependencies within the cycle.
    pub dependencies: Vec<&'a Dependency>,
    /// A shortest path around the cycle.
    pub shortest: Vec<&'a Dependency>,
}

/// A dependency, between the two parts of the deepest folder that contains both its ends.
#[derive(Clone, Copy)]
struct Step<'a> {
    from: &'a str,
    to: &'a str,
    dependency: &'a Dependency,
}

/// Returns the cycles, folder by folder. If no folder has one, the files have none.
pub fn cycles(dependencies: &[Dependency]) -> Vec<Cycle<'_>> {
    let mut folders: BTreeMap<&str, Vec<Step<'_>>> = BTreeMap::new();
    for dependency in dependencies.iter().filter(|dependency| dependency.needed) {
        let (folder, from, to) = parting(stem(&dependency.from), stem(&dependency.to));
        folders.entry(folder).or_default().push(Step { from, to, dependency });
    }
    folders.values().flat_map(|steps| cycles_among(steps)).collect()
}

fn stem(path: &str) -> &str {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.strip_suffix("/lib").or_else(|| path.strip_suffix("/main")).unwrap_or(path)
}

/// Returns the deepest folder that contains two files, and the part of it to which each belongs: a member of the folder, or the file above it.
fn parting<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str, &'a str) {
    let shared = one.split('/').zip(other.split('/')).take_while(|(one, other)| one == other).count();
    (begin(one, shared), begin(one, shared + 1), begin(other, shared + 1))
}

/// Returns the first steps of a path, or all of it.
fn begin(path: &str, steps: usize) -> &str {
    let end = path.match_indices('/').map(|(place, _)| place).chain([path.len()]).take(steps).last();
    &path[..end.unwrap_or(0)]
}

fn cycles_among<'a>(steps: &[Step<'a>]) -> Vec<Cycle<'a>> {
    let mut below: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for step in steps {
        below.entry(step.from).or_default().insert(step.to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = below.keys().map(|part| (*part, reach(&below, part))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|parts| parts.contains(to));
    let mut found: Vec<Cycle<'_>> = Vec::new();
    for part in below.keys().filter(|part| reaches(part, part)) {
        if found.iter().any(|cycle| cycle.members.contains(*part)) {
            continue;
        }
        let together = |other: &&&str| reaches(part, other) && reaches(other, part);
        let members: BTreeSet<String> = below.keys().filter(together).map(|other| (*other).to_owned()).collect();
        let within = |step: &&Step<'_>| members.contains(step.from) && members.contains(step.to);
        let inside: Vec<Step<'_>> = steps.iter().filter(within).copied().collect();
        let rounds = members.iter().filter_map(|member| shortest_round(member, &inside));
        let shortest = rounds.min_by_key(Vec::len).unwrap_or_default();
        found.push(Cycle { members, dependencies: inside.iter().map(|step| step.dependency).collect(), shortest });
    }
    found
}

fn reach<'a>(below: &BTreeMap<&'a str, BTreeSet<&'a str>>, from: &str) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = below.get(from).into_iter().flatten().copied().collect();
    while let Some(part) = next.pop() {
        if reached.insert(part) {
            next.extend(below.get(part).into_iter().flatten());
        }
    }
    reached
}

/// Returns a shortest path from a part back to it.
fn shortest_round<'a>(start: &str, steps: &[Step<'a>]) -> Option<Vec<&'a Dependency>> {
    let mut seen = BTreeSet::new();
    let mut next = VecDeque::from([(start, Vec::new())]);
    while let Some((part, way)) = next.pop_front() {
        for step in steps.iter().filter(|step| step.from == part) {
            let longer: Vec<&Dependency> = way.iter().copied().chain([step.dependency]).collect();
            if step.to == start {
                return Some(longer);
            }
            if seen.insert(step.to) {
                next.push_back((step.to, longer));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{cycles, dependencies};

    /// Returns the cycles of a crate of given files, each as its members.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let dependencies = dependencies("src/", [("src/lib.rs", "")].into_iter().chain(files.iter().copied()));
        cycles(&dependencies).into_iter().map(|cycle| cycle.members.into_iter().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn two_files_that_name_each_other_are_a_cycle() {
        let cart = ("src/cart.rs", "use crate::gain::Gain;\npub struct Cart;");
        assert_eq!(found(&[cart, ("src/gain.rs", "pub struct Gain;")]), [""; 0]);
        assert_eq!(found(&[cart, ("src/gain.rs", "pub struct Gain(super::cart::Cart);")]), ["src/cart src/gain"]);
        assert_eq!(
            found(&[cart, ("src/gain.rs", "use super::cart; pub struct Gain(cart::Cart);")]),
            ["src/cart src/gain"]
        );
        assert_eq!(
            found(&[
                cart,
                ("src/gain.rs", "// crate::cart::Cart\npub struct Gain(&'static str, \"super::cart::Cart\");")
            ]),
            [""; 0]
        );
        assert_eq!(
            found(&[cart, ("src/gain.rs", "pub struct Gain; #[cfg(test)] mod tests { use crate::cart::Cart; }")]),
            [""; 0]
        );
        let around = [
            ("src/a.rs", "use crate::b::B;"),
            ("src/b.rs", "pub type B = crate::c::C;"),
            ("src/c.rs", "pub struct C; use crate::{a::*, d}; fn f() { g() }"),
        ];
        assert_eq!(found(&around), [""; 0], "a glob imports the names that are mentioned");
        let [a, b, c] = around;
        assert_eq!(found(&[(a.0, "use crate::b::B; pub fn g() {}"), b, c]), ["src/a src/b src/c"]);
    }

    #[test]
    fn a_parent_may_reexport_items_of_its_children() {
        let child = ("src/text/number.rs", "use super::Text; pub struct Number(Text);");
        let kept = ("src/text/kept.rs", "pub struct Text;");
        let parent = "mod kept; mod number; pub use kept::Text; pub use number::Number;";
        assert_eq!(found(&[("src/text.rs", parent), child, kept]), [""; 0]);
        let defines = "mod number; pub use number::Number; pub struct Text;";
        assert_eq!(found(&[("src/text.rs", defines), child]), [""; 0], "it re-exports, and its child needs it");
        let uses = format!("{defines} fn first() -> Number {{}}");
        assert_eq!(found(&[("src/text.rs", &uses), child]), ["src/text src/text/number"]);
        let calls = "mod number; pub struct Text; fn first() { number::parse() }";
        assert_eq!(found(&[("src/text.rs", calls), child]), ["src/text src/text/number"]);
    }

    #[test]
    fn a_reexport_leads_to_its_definition() {
        let library =
            ("src/lib.rs", "pub mod id; pub mod time; pub use id::Context; pub use crate::time::Instant as Moment;");
        let id = ("src/id.rs", "use crate::Moment; pub struct Context(Moment);");
        assert_eq!(found(&[library, id, ("src/time.rs", "pub struct Instant;")]), [""; 0]);
        assert_eq!(
            found(&[library, id, ("src/time.rs", "pub struct Instant; use crate::Context;")]),
            ["src/id src/time"]
        );
    }

    #[test]
    fn folders_have_cycles_too() {
        let files = [
            ("src/rules.rs", "pub mod filter; pub mod tree;"),
            ("src/rules/filter.rs", "pub fn read() {}"),
            ("src/scope.rs", "use crate::rules::filter::read; pub struct Scope;"),
        ];
        assert_eq!(found(&files), [""; 0]);
        let [rules, filter, scope] = files;
        assert_eq!(
            found(&[rules, filter, scope, ("src/rules/tree.rs", "use crate::scope::Scope;")]),
            ["src/rules src/scope"]
        );
    }

    #[test]
    fn a_method_is_found_outside_of_the_file_of_its_type() {
        let case = "pub struct Case; impl Case { pub fn new() { self.hides() } }";
        let hidden = ("src/hidden.rs", "use crate::case::Case; impl Case { pub fn hides(&self) {} }");
        assert_eq!(found(&[("src/case.rs", case), hidden]), ["src/case src/hidden"]);
        let other = ("src/other.rs", "struct Other; impl Other { fn hides(&self) {} }");
        assert_eq!(
            found(&[("src/case.rs", case), hidden, other]),
            ["src/case src/hidden"],
            "the type of `self` is known"
        );
    }

    #[test]
    fn a_method_of_a_name_that_others_have_is_found_by_the_type_of_its_receiver() {
        let hidden = ("src/hidden.rs", "use crate::case::Case; impl Case { pub fn hides(&self) {} }");
        let other = ("src/other.rs", "pub struct Other; impl Other { pub fn hides(&self) {} }");
        let is_cycle = |code: &str| {
            let case = format!("pub struct Case; pub struct Held {{ case: Case, other: Other }} {code}");
            let read = "use crate::other::Other; fn read() -> Case {} fn other() -> Other {}";
            let found = found(&[("src/case.rs", &format!("{read} {case}")), hidden, other]);
            assert!(found.is_empty() || found == ["src/case src/hidden"], "{found:?}");
            !found.is_empty()
        };
        for code in [
            "impl Clone for Case { fn clone(&self) -> Self { self.hides() } }",
            "impl Case { fn new() { Self::hides() } }",
            "fn check(view: &Case) { view.hides() }",
            "fn check(held: &Held) { held.case.hides() }",
            "fn check(held: &Held) { held.case[0].hides()? }",
            "fn check() { read(1, (2))?.hides() }",
            "fn check() { Case::hides(3) }",
            "fn check() { (4).hides() }",
        ] {
            assert!(is_cycle(code), "{code}");
        }
        for code in [
            "impl Clone for Held { fn clone(&self) -> Self { self.hides() } }",
            "fn check(view: &Other) { view.hides() }",
            "fn check(held: &Held) { held.other.hides() }",
            "fn check() { other().hides() }",
            "fn check() { Other::hides(3) }",
            "fn check(case: Case) { case.hides }",
        ] {
            assert!(!is_cycle(code), "{code}");
        }
    }
}
