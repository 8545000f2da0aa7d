//! Decides which file of a crate names what of which other file, from the text alone, and which files stand in a circle.
//! It must not know which files there ought to be, nor who may name whom.
//!
//! A file is a module. An arrow goes from the file that names something to the file in which it is *defined*: through
//! `use`, `crate::`, `super::`, `self::`, names of modules and names that others hand on (`pub use`), however many. So a
//! parent that declares its children and hands on what they define takes no part in a circle; it does as soon as it also
//! uses what it hands on, or defines what a child needs. What cannot be found where it is named counts as defined there.
//! A method that is written beside its type's file (`impl Type` for a type of another file) is found by its name, as
//! long as no other function of the crate is called so. What stands under `#[cfg(test)]` in a file is not looked at.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

use super::code::blank;
use super::reading::{Module, Named, read};

/// Names that lead on for longer than this lead nowhere.
const LONGEST_WAY: usize = 16;

/// One file names something of another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    pub from: String,
    /// Where it is defined.
    pub to: String,
    /// The files whose names lead there, in order.
    pub through: Vec<String>,
    pub line: usize,
    /// As it is written.
    pub named: String,
    /// Whether the file needs it, or merely hands it on, or names a module to name something of it elsewhere.
    pub needed: bool,
}

impl fmt::Display for Arrow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{} names `{}` of {}", self.from, self.line, self.named, self.to)
    }
}

/// The modules of a crate, by their paths.
struct Plan {
    modules: BTreeMap<Vec<String>, Module>,
}

/// What a path leads to, and the modules that it passes.
struct Found {
    module: Vec<String>,
    through: Vec<Vec<String>>,
    is_module: bool,
}

/// Every arrow of a crate whose files lie under `root`, from their paths and texts.
pub fn arrows<'a>(root: &str, files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<Arrow> {
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
    let plan = Plan { modules };
    let plan = Plan { modules: plan.modules.keys().map(|path| (path.clone(), plan.with_globs(path))).collect() };
    let mut found: Vec<Arrow> = plan.modules.keys().flat_map(|path| plan.arrows_of(path)).collect();
    found.extend(plan.methods());
    found.sort();
    found.dedup();
    found
}

impl Plan {
    fn file(&self, module: &[String]) -> String {
        self.modules.get(module).map(|module| module.file.clone()).unwrap_or_default()
    }

    /// A module in which `use other::*` is replaced by the names that it brings.
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
                module.uses.push(Named { name, path, is_glob: false, by_chance: true, ..glob });
            }
        }
        module
    }

    /// Every name that stands in a module.
    fn names(&self, path: &[String]) -> BTreeSet<String> {
        let module = &self.modules[path];
        let children = self.modules.keys().filter(|other| other.len() == path.len() + 1 && other.starts_with(path));
        let used = module.uses.iter().filter(|used| !used.is_glob).map(|used| used.name.clone());
        module.defined.iter().cloned().chain(used).chain(children.filter_map(|other| other.last().cloned())).collect()
    }

    /// Where a path leads that is written in a module; `None` where it leaves the crate. Of a module and something else
    /// of one name, a path passes the module and ends at the other.
    fn find(&self, module: &[String], path: &[String], way: usize) -> Option<Found> {
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
                        if way == LONGEST_WAY {
                            return None;
                        }
                        let mut found = self.find(&at, &on, way + 1)?;
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

    fn arrows_of(&self, path: &[String]) -> Vec<Arrow> {
        let module = &self.modules[path];
        let mut arrows = Vec::new();
        for used in module.uses.iter().chain(&module.mentions).filter(|used| !used.is_glob) {
            let Some(found) = self.find(path, &used.path, 0) else { continue };
            let mentioned = module.words.contains(&used.name);
            if used.by_chance && !used.is_public && !mentioned {
                continue;
            }
            let handed_on = used.is_public || used.by_chance;
            arrows.push(Arrow {
                from: module.file.clone(),
                to: self.file(&found.module),
                through: found.through.iter().map(|module| self.file(module)).collect(),
                line: used.line,
                named: used.path.join("::"),
                needed: !found.is_module && (!handed_on || mentioned),
            });
        }
        arrows.retain(|arrow| arrow.from != arrow.to);
        arrows
    }

    /// Arrows to methods of a type that are written in another file than the type is, by their names.
    fn methods(&self) -> Vec<Arrow> {
        let mut written: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for module in self.modules.values() {
            for name in &module.functions {
                written.entry(name).or_default().insert(&module.file);
            }
        }
        let mut arrows = Vec::new();
        for (path, module) in &self.modules {
            let beside = |kind: &str| {
                let steps: Vec<String> = kind.split("::").map(str::to_owned).collect();
                self.find(path, &steps, 0).is_some_and(|found| found.module != *path)
            };
            let own = |name: &str| written.get(name).is_some_and(|files| files.len() == 1);
            for (kind, name) in module.methods.iter().filter(|(kind, name)| own(name) && beside(kind)) {
                for other in self.modules.values().filter(|other| other.file != module.file) {
                    arrows.extend(other.called.get(name).map(|line| Arrow {
                        from: other.file.clone(),
                        to: module.file.clone(),
                        through: vec![module.file.clone()],
                        line: *line,
                        named: format!("fn {kind}::{name}"),
                        needed: true,
                    }));
                }
            }
        }
        arrows
    }
}

/// What needs each other in a circle: files and folders that stand beside each other, and the file above them.
pub struct Circle<'a> {
    /// Without the ending: a file together with the folder of its name.
    pub members: BTreeSet<String>,
    /// The arrows within it.
    pub arrows: Vec<&'a Arrow>,
    /// One way round that is as short as any.
    pub shortest: Vec<&'a Arrow>,
}

/// An arrow as it is seen in the folder in which its ends part.
#[derive(Clone, Copy)]
struct Step<'a> {
    from: &'a str,
    to: &'a str,
    arrow: &'a Arrow,
}

/// Every circle, folder by folder. Where each folder has none, the files have none.
pub fn circles(arrows: &[Arrow]) -> Vec<Circle<'_>> {
    let mut folders: BTreeMap<&str, Vec<Step<'_>>> = BTreeMap::new();
    for arrow in arrows.iter().filter(|arrow| arrow.needed) {
        let (folder, from, to) = parting(stem(&arrow.from), stem(&arrow.to));
        folders.entry(folder).or_default().push(Step { from, to, arrow });
    }
    folders.values().flat_map(|steps| circles_among(steps)).collect()
}

fn stem(path: &str) -> &str {
    let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
    path.strip_suffix("/lib").or_else(|| path.strip_suffix("/main")).unwrap_or(path)
}

/// The folder in which two files part, and the part of it that each belongs to: one beside others, or the file above them.
fn parting<'a>(one: &'a str, other: &'a str) -> (&'a str, &'a str, &'a str) {
    let shared = one.split('/').zip(other.split('/')).take_while(|(step, beside)| step == beside).count();
    (begin(one, shared), begin(one, shared + 1), begin(other, shared + 1))
}

/// So many steps of a path from its beginning, or all of it.
fn begin(path: &str, steps: usize) -> &str {
    let end = path.match_indices('/').map(|(place, _)| place).chain([path.len()]).take(steps).last();
    &path[..end.unwrap_or(0)]
}

fn circles_among<'a>(steps: &[Step<'a>]) -> Vec<Circle<'a>> {
    let mut below: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for step in steps {
        below.entry(step.from).or_default().insert(step.to);
    }
    let reached: BTreeMap<&str, BTreeSet<&str>> = below.keys().map(|part| (*part, reach(&below, part))).collect();
    let reaches = |from: &str, to: &str| reached.get(from).is_some_and(|parts| parts.contains(to));
    let mut found: Vec<Circle<'_>> = Vec::new();
    for part in below.keys().filter(|part| reaches(part, part)) {
        if found.iter().any(|circle| circle.members.contains(*part)) {
            continue;
        }
        let together = |other: &&&str| reaches(part, other) && reaches(other, part);
        let members: BTreeSet<String> = below.keys().filter(together).map(|other| (*other).to_owned()).collect();
        let within = |step: &&Step<'_>| members.contains(step.from) && members.contains(step.to);
        let inside: Vec<Step<'_>> = steps.iter().filter(within).copied().collect();
        let rounds = members.iter().filter_map(|member| way_round(member, &inside));
        let shortest = rounds.min_by_key(Vec::len).unwrap_or_default();
        found.push(Circle { members, arrows: inside.iter().map(|step| step.arrow).collect(), shortest });
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

/// A shortest way from a part back to it.
fn way_round<'a>(start: &str, steps: &[Step<'a>]) -> Option<Vec<&'a Arrow>> {
    let mut seen = BTreeSet::new();
    let mut next = VecDeque::from([(start, Vec::new())]);
    while let Some((part, way)) = next.pop_front() {
        for step in steps.iter().filter(|step| step.from == part) {
            let longer: Vec<&Arrow> = way.iter().copied().chain([step.arrow]).collect();
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
    use super::{arrows, circles};

    /// The circles of a crate of made-up files, each as its members.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let arrows = arrows("src/", [("src/lib.rs", "")].into_iter().chain(files.iter().copied()));
        circles(&arrows).into_iter().map(|circle| circle.members.into_iter().collect::<Vec<_>>().join(" ")).collect()
    }

    #[test]
    fn two_that_name_each_other_are_a_circle() {
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
        assert_eq!(found(&around), [""; 0], "a glob brings what is mentioned");
        let [a, b, c] = around;
        assert_eq!(found(&[(a.0, "use crate::b::B; pub fn g() {}"), b, c]), ["src/a src/b src/c"]);
    }

    #[test]
    fn a_parent_may_hand_on_what_its_children_define() {
        let child = ("src/text/number.rs", "use super::Text; pub struct Number(Text);");
        let kept = ("src/text/kept.rs", "pub struct Text;");
        let parent = "mod kept; mod number; pub use kept::Text; pub use number::Number;";
        assert_eq!(found(&[("src/text.rs", parent), child, kept]), [""; 0]);
        let defines = "mod number; pub use number::Number; pub struct Text;";
        assert_eq!(found(&[("src/text.rs", defines), child]), [""; 0], "it hands on, and its child needs it");
        let uses = format!("{defines} fn first() -> Number {{}}");
        assert_eq!(found(&[("src/text.rs", &uses), child]), ["src/text src/text/number"]);
        let calls = "mod number; pub struct Text; fn first() { number::parse() }";
        assert_eq!(found(&[("src/text.rs", calls), child]), ["src/text src/text/number"]);
    }

    #[test]
    fn what_is_handed_on_leads_to_where_it_is_defined() {
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
    fn folders_are_read_from_the_bottom_up_too() {
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
    fn a_method_is_found_beside_its_type() {
        let case = "pub struct Case; impl Case { pub fn new() { self.hides() } }";
        let hidden = ("src/hidden.rs", "use crate::case::Case; impl Case { pub fn hides(&self) {} }");
        assert_eq!(found(&[("src/case.rs", case), hidden]), ["src/case src/hidden"]);
        let other = ("src/other.rs", "struct Other; impl Other { fn hides(&self) {} }");
        assert_eq!(found(&[("src/case.rs", case), hidden, other]), [""; 0], "nobody can tell whose it is");
    }
}
