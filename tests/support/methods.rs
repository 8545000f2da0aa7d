//! Finds the calls of methods that are in another file than their type, from the text of the files.
//!
//! The type of `self` and of a path is known. That of a variable is one with which the file declares it, and that of a field or of a result is
//! one with which the crate declares the field or the function. The file must name the type of a variable or field that is not declared, and
//! of any other expression. A method whose name no other function has needs no type.

use std::collections::{BTreeMap, BTreeSet};

use super::imports::{MethodCall, Module, Receiver};

/// The call of a method in another file than its type.
pub struct MethodUse {
    pub from: String,
    /// The file of the method.
    pub to: String,
    pub line: usize,
    /// The method, after its type.
    pub named: String,
}

/// A method in another file than its type.
struct DistantMethod<'a> {
    module: &'a Module,
    /// The type as the file writes it.
    kind: &'a str,
    name: &'a str,
    /// The module that defines the type.
    home: Vec<String>,
    is_only: bool,
}

/// The words of types by the names that are declared with them.
type TypeWords<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// Returns the calls of such methods. `home` returns the module that defines the type of a path that a module names.
pub fn uses(
    modules: &BTreeMap<Vec<String>, Module>,
    home: impl Fn(&[String], &str) -> Option<Vec<String>>,
) -> Vec<MethodUse> {
    let mut written: BTreeMap<&str, usize> = BTreeMap::new();
    for name in modules.values().flat_map(|module| &module.functions) {
        *written.entry(name).or_default() += 1;
    }
    let mut methods: BTreeMap<&str, Vec<DistantMethod<'_>>> = BTreeMap::new();
    for (path, module) in modules {
        for (kind, name) in &module.methods {
            if let Some(home) = home(path, kind).filter(|home| home != path) {
                let is_only = written.get(name.as_str()) == Some(&1);
                methods.entry(name).or_default().push(DistantMethod { module, kind, name, home, is_only });
            }
        }
    }
    let declared = type_words(modules.values().map(|module| &module.declared));
    let returned = type_words(modules.values().map(|module| &module.returned));
    let mut uses = Vec::new();
    for (path, module) in modules {
        let local = type_words([&module.declared].into_iter());
        let has_type = |call: &MethodCall, method: &DistantMethod<'_>| {
            let kind = last(method.kind);
            let words = match &call.receiver {
                Receiver::Type(path_of_kind) => {
                    return last(path_of_kind) == kind && home(path, path_of_kind).as_ref() == Some(&method.home);
                }
                // A function of another crate returns none of this crate's types.
                Receiver::Result(name) => return returned.get(name.as_str()).is_some_and(|words| words.contains(kind)),
                Receiver::Variable(name) => local.get(name.as_str()),
                Receiver::Field(name) => declared.get(name.as_str()),
                Receiver::Other => None,
            };
            words.map_or_else(|| module.names(kind), |words| words.contains(kind))
        };
        for call in &module.calls {
            let called = methods.get(call.name.as_str()).into_iter().flatten();
            for method in called.filter(|method| method.module.file != module.file) {
                if method.is_only || has_type(call, method) {
                    uses.push(MethodUse {
                        from: module.file.clone(),
                        to: method.module.file.clone(),
                        line: call.line,
                        named: format!("fn {}::{}", method.kind, method.name),
                    });
                }
            }
        }
    }
    uses
}

/// Returns the last name of a path.
fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn type_words<'a>(all: impl Iterator<Item = &'a BTreeMap<String, BTreeSet<String>>>) -> TypeWords<'a> {
    let mut found = TypeWords::new();
    for (name, words) in all.flatten().filter(|(_, words)| !words.is_empty()) {
        found.entry(name).or_default().extend(words.iter().map(String::as_str));
    }
    found
}
