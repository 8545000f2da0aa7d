//! Reads from a Rust file its definitions, its imports, and the paths and words of its code. It knows only keywords, paths and
//! braces of the grammar, and does not resolve any path.

use std::collections::{BTreeMap, BTreeSet};

/// A name that is imported, or a path that is mentioned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its name in the file.
    pub name: String,
    /// As it is written, from the file's own module.
    pub path: Vec<String>,
    pub line: usize,
    pub is_public: bool,
    /// `use other::*`.
    pub is_glob: bool,
    /// Whether a glob imported it; it is used only where its name is mentioned.
    pub is_from_glob: bool,
}

/// A file as it was read.
#[derive(Debug, Clone, Default)]
pub struct Module {
    pub file: String,
    /// Its items with a name, without methods.
    pub defined: BTreeSet<String>,
    pub uses: Vec<Named>,
    /// Paths of at least two names, outside of `use`.
    pub mentions: Vec<Named>,
    /// Every word outside of `use`.
    pub words: BTreeSet<String>,
    /// Every function of any kind.
    pub functions: BTreeSet<String>,
    /// Methods by the type that they are written for.
    pub methods: BTreeSet<(String, String)>,
    /// Methods that are called, or named after their type, with the first line.
    pub called: BTreeMap<String, usize>,
}

impl Module {
    /// Returns true if the module has an item of this name that is no file.
    pub fn names_item(&self, name: &str) -> bool {
        self.defined.contains(name) || self.uses.iter().any(|used| used.name == name && !used.is_glob)
    }
}

struct Token {
    text: String,
    line: usize,
}

impl Token {
    fn is_word(&self) -> bool {
        self.text.starts_with(|character: char| character.is_alphabetic() || character == '_')
    }
}

/// Reads blanked Rust.
pub fn read(file: &str, code: &str) -> Module {
    let tokens = without_tests(tokens(code));
    let mut reader =
        ImportReader { tokens: &tokens, at: 0, depth: 0, inner: Vec::new(), kind: None, module: Module::default() };
    reader.module.file = file.to_owned();
    while reader.at < tokens.len() {
        reader.step();
    }
    reader.module
}

fn tokens(code: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    for (count, line) in code.lines().enumerate() {
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let word = |character: char| character.is_alphanumeric() || character == '_';
            let length = match first {
                // A lifetime is no word.
                '\'' => rest[1..].find(|character| !word(character)).map_or(rest.len(), |end| end + 1),
                _ if word(first) => rest.find(|character| !word(character)).unwrap_or(rest.len()),
                _ if rest.starts_with("::") => 2,
                _ => first.len_utf8(),
            };
            tokens.push(Token { text: rest[..length].to_owned(), line: count + 1 });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// Removes the items under `#[cfg(test)]`.
fn without_tests(tokens: Vec<Token>) -> Vec<Token> {
    let marks = ["#", "[", "cfg", "(", "test", ")", "]"];
    let marked = |at: usize| tokens[at..].iter().map(|token| token.text.as_str()).take(marks.len()).eq(marks);
    let mut left_out = BTreeSet::new();
    let mut at = 0;
    while at < tokens.len() {
        let end = if marked(at) { item_end(&tokens, at + marks.len()) } else { at };
        left_out.extend(at..end);
        at = end.max(at + 1);
    }
    tokens.into_iter().enumerate().filter(|(place, _)| !left_out.contains(place)).map(|(_, token)| token).collect()
}

/// Returns the place after the `;` or the closing brace of the item that begins here.
fn item_end(tokens: &[Token], from: usize) -> usize {
    let mut depth = 0_u32;
    for (place, token) in tokens.iter().enumerate().skip(from) {
        match token.text.as_str() {
            ";" if depth == 0 => return place + 1,
            "{" => depth += 1,
            "}" if depth <= 1 => return place + 1,
            "}" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

struct ImportReader<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
    /// The depths of the modules within this file.
    inner: Vec<usize>,
    /// The type of the current `impl`, and the depth of its braces.
    kind: Option<(String, usize)>,
    module: Module,
}

impl ImportReader<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    fn step(&mut self) {
        let token = &self.tokens[self.at];
        match token.text.as_str() {
            "{" => self.depth += 1,
            "}" => {
                self.depth -= 1;
                self.inner.retain(|depth| *depth < self.depth);
                self.kind.take_if(|(_, depth)| *depth >= self.depth);
            }
            "use" => return self.read_use(),
            "impl" => self.begin_impl(),
            "fn" | "struct" | "enum" | "trait" | "type" | "const" | "static" | "mod" => return self.define(),
            "macro_rules" => drop(self.module.defined.insert(self.text(self.at + 2).to_owned())),
            _ if token.is_word() => return self.mention(),
            _ => {}
        }
        self.at += 1;
    }

    /// Returns true if the current place is only inside of modules.
    fn is_outermost(&self) -> bool {
        self.depth == self.inner.len()
    }

    fn define(&mut self) {
        let keyword = self.text(self.at);
        let place = self.at + 1 + usize::from(self.text(self.at + 1) == "mut");
        let Some(named) = self.tokens.get(place).filter(|token| token.is_word() && token.text != "fn") else {
            self.at += 1;
            return;
        };
        let is_module = keyword == "mod";
        let is_file = is_module && self.text(place + 1) != "{";
        if keyword == "fn" {
            self.module.functions.insert(named.text.clone());
            if let Some((kind, _)) = self.kind.as_ref().filter(|(_, depth)| self.depth == depth + 1) {
                self.module.methods.insert((kind.clone(), named.text.clone()));
            }
        }
        if self.is_outermost() && !is_file {
            self.module.defined.insert(named.text.clone());
        }
        if is_module && !is_file {
            self.inner.push(self.depth);
        }
        self.at = place + 1;
    }

    /// Reads `impl Type {`. Functions of a trait are found through the trait.
    fn begin_impl(&mut self) {
        let before = self.at.checked_sub(1).map_or("", |before| self.text(before));
        let head = self.tokens[self.at + 1..].iter().map(|token| token.text.as_str()).take_while(|text| *text != "{");
        let head: Vec<&str> = head.take_while(|text| *text != "where").collect();
        let begins = matches!(before, "" | "}" | "{" | ";" | "]" | "unsafe") && self.is_outermost();
        if begins && !head.contains(&"for") {
            let mut angles = 0_i32;
            let mut kind = String::new();
            for text in head {
                match text {
                    "<" => angles += 1,
                    ">" => angles -= 1,
                    text if angles == 0 => kind.push_str(text),
                    _ => {}
                }
            }
            self.kind = Some((kind, self.depth));
        }
    }

    /// Converts a path from its place to the file's own module.
    fn outside_of_modules(&self, path: &[String]) -> Vec<String> {
        let supers = path.iter().take_while(|step| *step == "super").count();
        let inside = supers.min(self.inner.len());
        let rest = path[inside..].iter().cloned();
        if inside > 0 { ["self".to_owned()].into_iter().chain(rest).collect() } else { rest.collect() }
    }

    fn mention(&mut self) {
        let first = self.at;
        let mut path = vec![self.text(first).to_owned()];
        while self.text(self.at + 1) == "::" && self.tokens.get(self.at + 2).is_some_and(Token::is_word) {
            self.at += 2;
            path.push(self.text(self.at).to_owned());
        }
        self.at += 1;
        self.module.words.extend(path.iter().cloned());
        let line = self.tokens[first].line;
        let before = first.checked_sub(1).map_or("", |before| self.text(before));
        let (is_whole, is_method) =
            (!matches!(before, "." | "::"), before == "." && matches!(self.text(self.at), "(" | "::"));
        for name in path.iter().skip(usize::from(is_whole || !is_method)) {
            self.module.called.entry(name.clone()).or_insert(line);
        }
        if is_whole && path.len() > 1 {
            let (name, path) = (path[0].clone(), self.outside_of_modules(&path));
            self.module.mentions.push(Named {
                name,
                path,
                line,
                is_public: false,
                is_glob: false,
                is_from_glob: false,
            });
        }
    }

    fn read_use(&mut self) {
        let before = self.at.checked_sub(1).map_or("", |before| self.text(before));
        let is_public = matches!(before, "pub" | ")");
        let line = self.tokens[self.at].line;
        self.at += 1;
        let mut found = Vec::new();
        self.tree(&[], &mut found);
        for (name, path, is_glob) in found {
            let path = self.outside_of_modules(&path);
            self.module.uses.push(Named { name, path, line, is_public, is_glob, is_from_glob: false });
        }
    }

    /// Reads one tree of a `use`, to the comma or the end after it.
    fn tree(&mut self, before: &[String], found: &mut Vec<(String, Vec<String>, bool)>) {
        let mut path = before.to_vec();
        loop {
            let step = self.text(self.at).to_owned();
            self.at += 1;
            match step.as_str() {
                "::" => continue,
                "*" => return found.push((String::new(), path, true)),
                "{" => {
                    while !matches!(self.text(self.at), "}" | "") {
                        self.tree(&path, found);
                        self.at += usize::from(self.text(self.at) == ",");
                    }
                    self.at += 1;
                    return;
                }
                "self" if !path.is_empty() => {}
                _ => path.push(step),
            }
            if self.text(self.at) != "::" {
                break;
            }
        }
        let mut name = path.last().cloned().unwrap_or_default();
        if self.text(self.at) == "as" {
            self.text(self.at + 1).clone_into(&mut name);
            self.at += 2;
        }
        found.push((name, path, false));
    }
}
