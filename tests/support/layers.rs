//! Finds the layer of each file of a crate in the table of ARCHITECTURE.md, and the dependencies that lead upwards.

use std::collections::BTreeMap;

use super::modules::Dependency;

/// Returns the layers of a crate by module: the names in backticks in the second cell of each row that begins with a number, below the
/// heading that names the crate's folder. `api/<area>` is every folder and file of `api`, each a module of its own.
pub fn layers(map: &str, root: &str) -> BTreeMap<String, u32> {
    let heading = format!("`{root}`");
    let section = map.split("\n## ").find(|section| section.lines().next().is_some_and(|line| line.contains(&heading)));
    let mut layers = BTreeMap::new();
    for row in section.unwrap_or_default().lines().filter(|line| line.starts_with('|')) {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (Some(Ok(layer)), Some(modules)) = (cells.next().map(str::parse::<u32>), cells.next()) else {
            continue;
        };
        for module in modules.split('`').skip(1).step_by(2) {
            layers.insert(module.trim_end_matches('/').to_owned(), layer);
        }
    }
    layers
}

/// Returns the module of a file, and its layer: the longest one whose path begins the file's.
fn module_of(file: &str, root: &str, layers: &BTreeMap<String, u32>) -> Option<(String, u32)> {
    let steps: Vec<&str> = file.strip_prefix(root)?.strip_suffix(".rs")?.split('/').collect();
    (1..=steps.len()).rev().find_map(|length| {
        let module = steps[..length].join("/");
        let any = [&steps[..length - 1], &["<area>"]].concat().join("/");
        layers.get(&module).or_else(|| layers.get(&any)).map(|layer| (module, *layer))
    })
}

/// Returns the dependencies of a crate that do not lead to a lower layer. Modules of one layer do not use each other. A module that a path
/// passes counts as well as its end.
pub fn faults<'a>(
    root: &str,
    layers: &BTreeMap<String, u32>,
    files: impl IntoIterator<Item = &'a str>,
    dependencies: &[Dependency],
) -> Vec<String> {
    let library = format!("{root}lib.rs");
    let mut faults = Vec::new();
    for file in files.into_iter().filter(|file| *file != library) {
        let own: Vec<&Dependency> = dependencies.iter().filter(|dependency| dependency.from == file).collect();
        let Some((module, layer)) = module_of(file, root, layers) else {
            // The file above some modules may declare and re-export them, and nothing else.
            let inside = file.trim_end_matches(".rs").to_owned() + "/";
            let has_modules = dependencies.iter().any(|dependency| dependency.from.starts_with(&inside));
            if !has_modules || own.iter().any(|dependency| dependency.needed || !dependency.to.starts_with(&inside)) {
                faults.push(format!("{file}: ARCHITECTURE.md has no module for it"));
            }
            continue;
        };
        for dependency in own {
            for used in dependency.through.iter().filter(|passed| **passed != library).chain([&dependency.to]) {
                match module_of(used, root, layers) {
                    Some((other, _)) if other == module => {}
                    Some((_, below)) if below < layer => {}
                    Some((other, above)) => {
                        faults.push(format!("{dependency}: layer {layer} uses `{other}` of layer {above}"));
                    }
                    // The file above some modules, as a step to one of them.
                    None if *used != dependency.to || !dependency.needed => {}
                    None => faults.push(format!("{dependency}: {used} has no module")),
                }
            }
        }
    }
    faults.dedup();
    faults
}

#[cfg(test)]
mod tests {
    use super::{faults, layers};
    use crate::modules::dependencies;

    const MAP: &str = "# A\n\n## The engine, `src/`\n\n| 9 | `http` |\n\n## The service, `worker/src/`\n\n| Layer | Modules |\n|---|---|\n\
        | 4 | `routes` |\n| 3 | `api/<area>` (they do not know each other) |\n| 2 | `http` · `store` |\n";

    /// Returns the faults of a crate with these files in addition to `http`, `store` and the file above the areas.
    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let fixed = [
            ("worker/src/lib.rs", "pub mod api; pub mod http; pub mod store; pub mod routes;"),
            ("worker/src/api.rs", "pub mod vouchers; pub mod orders;"),
            ("worker/src/http.rs", "pub struct Reply;"),
            ("worker/src/store.rs", "pub struct Store;"),
        ];
        let all: Vec<(&str, &str)> = fixed.iter().chain(files).copied().collect();
        let root = "worker/src/";
        let paths = all.iter().map(|(path, _)| *path);
        let found = faults(root, &layers(MAP, root), paths, &dependencies(root, all.iter().copied()));
        found.into_iter().map(|fault| fault.split(": ").last().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn a_module_uses_lower_layers_and_no_neighbour() {
        let orders = ("worker/src/api/orders.rs", "use crate::http::Reply; pub mod list; pub fn read() -> Reply {}");
        let list = ("worker/src/api/orders/list.rs", "use super::read; use crate::store::Store;");
        let routes = (
            "worker/src/routes.rs",
            "use crate::api::{self, vouchers}; fn all() { api::orders::read(); vouchers::generate() }",
        );
        let vouchers = ("worker/src/api/vouchers.rs", "pub fn generate() {}");
        assert_eq!(found(&[orders, list, routes, vouchers]), [""; 0]);
        let neighbour = ("worker/src/api/vouchers.rs", "use super::orders; pub fn generate() { orders::read() }");
        assert_eq!(
            found(&[orders, list, neighbour]),
            ["layer 3 uses `api/orders` of layer 3", "layer 3 uses `api/orders` of layer 3"]
        );
        let above = ("worker/src/api/vouchers.rs", "pub fn generate() { crate::routes::all() }");
        assert_eq!(found(&[routes, above, orders]), ["layer 3 uses `routes` of layer 4"]);
        let same_layer = ("worker/src/http/reply.rs", "use crate::store::Store;");
        assert_eq!(found(&[same_layer, orders, vouchers]), ["layer 2 uses `store` of layer 2"]);
        let unlisted = ("worker/src/retention.rs", "fn all() {}");
        assert_eq!(found(&[unlisted, orders, vouchers]), ["ARCHITECTURE.md has no module for it"]);
    }
}
