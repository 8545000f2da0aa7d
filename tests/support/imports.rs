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
    /// Methods that are called, or named after their type.
    pub calls: Vec<MethodCall>,
    /// The words of the types that variables, parameters and fields are declared with.
    pub declared: BTreeMap<String, BTreeSet<String>>,
    /// The words of the types that functions return.
    pub returned: BTreeMap<String, BTreeSet<String>>,
}

/// The call of a method, or its name after that of its type.
#[derive(Debug, Clone)]
pub struct MethodCall {
    pub receiver: Receiver,
    pub name: String,
    pub line: usize,
}

/// The expression before a method.
#[derive(Debug, Clone)]
pub enum Receiver {
    /// A type, by its path: that of `impl` for `self`.
    Type(String),
    /// A variable.
    Variable(String),
    /// A field.
    Field(String),
    /// The result of a function.
    Result(String),
    Other,
}

impl Module {
    /// Returns true if the module's code or imports have this word.
    pub fn names(&self, word: &str) -> bool {
        self.words.contains(word) || self.uses.iter().any(|used| used.name == word)
    }

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
        ImportReader { tokens: &tokens, at: 0, depth: 0, inner: Vec::new(), block: None, module: Module::default() };
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
    block: Option<ImplBlock>,
    module: Module,
}

/// The current `impl`.
struct ImplBlock {
    kind: String,
    /// The depth of its braces.
    depth: usize,
    is_of_trait: bool,
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
                self.block.take_if(|block| block.depth >= self.depth);
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
            let name = named.text.clone();
            let returned = self.returned_type(place);
            self.module.returned.entry(name.clone()).or_default().extend(returned);
            if let Some(block) = self.block.as_ref().filter(|block| !block.is_of_trait && self.depth == block.depth + 1)
            {
                self.module.methods.insert((block.kind.clone(), name.clone()));
            }
            self.module.functions.insert(name);
        }
        if self.is_outermost() && !is_file {
            self.module.defined.insert(named.text.clone());
        }
        if is_module && !is_file {
            self.inner.push(self.depth);
        }
        self.at = place + 1;
    }

    /// Reads `impl Type {` or `impl Trait for Type {`. Functions of a trait are found through the trait.
    fn begin_impl(&mut self) {
        let before = self.at.checked_sub(1).map_or("", |before| self.text(before));
        if !matches!(before, "" | "}" | "{" | ";" | "]" | "unsafe") || !self.is_outermost() {
            return;
        }
        let head = self.tokens[self.at + 1..].iter().map(|token| token.text.as_str()).take_while(|text| *text != "{");
        let mut angles = 0_i32;
        let mut block = ImplBlock { kind: String::new(), depth: self.depth, is_of_trait: false };
        for text in head.take_while(|text| *text != "where") {
            match text {
                "<" => angles += 1,
                ">" => angles -= 1,
                "for" if angles == 0 => (block.is_of_trait, block.kind) = (true, String::new()),
                text if angles == 0 => block.kind.push_str(text),
                _ => {}
            }
        }
        self.block = Some(block);
    }

    /// Returns the words of the type that the function returns whose name is at a place.
    fn returned_type(&self, place: usize) -> BTreeSet<String> {
        let is_generic = self.text(place + 1) == "<";
        let start = if is_generic { self.type_end(place + 2) + 1 } else { place + 1 };
        let end = self.type_end(start + 1);
        match [1, 2].map(|next| self.text(end + next)) {
            ["-", ">"] => self.type_words(end + 3),
            _ => BTreeSet::new(),
        }
    }

    /// Returns the words of the type that begins at a place, in which `Self` is the type of the `impl`. A type that is named by its trait has none.
    fn type_words(&self, start: usize) -> BTreeSet<String> {
        if matches!(self.text(start), "impl" | "dyn") {
            return BTreeSet::new();
        }
        let words = self.tokens[start..self.type_end(start)].iter().filter(|token| token.is_word());
        let named = words.map(|token| if token.text == "Self" { self.own_type() } else { token.text.clone() });
        named.filter(|word| word.starts_with(char::is_uppercase)).collect()
    }

    /// Returns the place of the token that ends the list or the type from a place on.
    fn type_end(&self, start: usize) -> usize {
        let is_list = matches!(self.text(start - 1), "(" | "<");
        let mut depth = 0_i32;
        for at in start..self.tokens.len() {
            match self.text(at) {
                "(" | "[" | "<" => depth += 1,
                ">" if self.text(at - 1) == "-" => {}
                ")" | "]" | ">" | "}" if depth == 0 => return at,
                ")" | "]" | ">" => depth -= 1,
                "," | ";" | "=" | "{" | "|" if depth == 0 && !is_list => return at,
                "where" if depth == 0 => return at,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Returns the name of the type of the current `impl`, without its path.
    fn own_type(&self) -> String {
        let kind = self.block.as_ref().map_or("", |block| block.kind.as_str());
        kind.rsplit("::").next().unwrap_or_default().to_owned()
    }

    /// Returns the expression whose last token is at a place.
    fn receiver(&self, last: usize) -> Receiver {
        let last = (0..=last).rev().find(|at| self.text(*at) != "?").unwrap_or(0);
        let closing = self.text(last);
        if !matches!(closing, ")" | "]") {
            let is_field = last.checked_sub(1).is_some_and(|before| self.text(before) == ".");
            return match (closing, &self.block) {
                ("self", Some(block)) if !is_field => Receiver::Type(block.kind.clone()),
                _ if !self.tokens[last].is_word() || closing == "self" => Receiver::Other,
                _ if is_field => Receiver::Field(closing.to_owned()),
                _ => Receiver::Variable(closing.to_owned()),
            };
        }
        let mut depth = 0_i32;
        for at in (0..=last).rev() {
            match self.text(at) {
                ")" | "]" => depth += 1,
                "(" | "[" => depth -= 1,
                _ => {}
            }
            let named = at.checked_sub(1).and_then(|before| self.tokens.get(before)).filter(|token| token.is_word());
            match named.filter(|_| depth == 0) {
                Some(token) if closing == ")" => return Receiver::Result(token.text.clone()),
                Some(token) if at > 1 && self.text(at - 2) == "." => return Receiver::Field(token.text.clone()),
                Some(token) => return Receiver::Variable(token.text.clone()),
                None if depth == 0 => return Receiver::Other,
                None => {}
            }
        }
        Receiver::Other
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
        let (is_whole, is_member) = (!matches!(before, "." | "::"), before == ".");
        if is_member && matches!(self.text(self.at), "(" | "::") {
            let receiver = self.receiver(first.saturating_sub(2));
            self.module.calls.push(MethodCall { receiver, name: path[0].clone(), line });
        } else if is_whole
            && let [kind @ .., name] = path.as_slice()
            && !kind.is_empty()
        {
            let is_self = kind == ["Self"];
            let kind = match &self.block {
                Some(block) if is_self => block.kind.clone(),
                _ => kind.join("::"),
            };
            self.module.calls.push(MethodCall { receiver: Receiver::Type(kind), name: name.clone(), line });
        }
        if path.len() == 1 && !is_member && self.text(self.at) == ":" {
            let declared = self.type_words(self.at + 1);
            self.module.declared.entry(path[0].clone()).or_default().extend(declared);
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
