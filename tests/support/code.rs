//! Separates code from comments and literals in a source text, and finds its functions and words.

/// The meanings of single quotes.
#[derive(Clone, Copy, PartialEq)]
enum Language {
    /// For letters and lifetimes.
    Rust,
    /// For strings, as backticks are.
    Script,
}

/// Rust with comments and literals blanked; lines stay where they are.
pub fn blank(text: &str) -> String {
    without_literals(text, Language::Rust)
}

/// JavaScript with comments and literals blanked; lines stay where they are.
pub fn blank_script(text: &str) -> String {
    without_literals(text, Language::Script)
}

fn without_literals(text: &str, language: Language) -> String {
    let characters: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < characters.len() {
        let end = literal_end(&characters, at, language);
        if end == at {
            code.push(characters[at]);
            at += 1;
            continue;
        }
        code.extend(characters[at..end].iter().map(|character| if *character == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    code
}

/// Returns the end of the comment or literal that begins here; the same position when none begins.
fn literal_end(characters: &[char], at: usize, language: Language) -> usize {
    let next = characters.get(at + 1).copied().unwrap_or(' ');
    let before = at.checked_sub(1).map_or(' ', |place| characters[place]);
    match characters[at] {
        '/' if next == '/' => find(characters, at, |place| characters[place] == '\n'),
        '/' if next == '*' => {
            find(characters, at + 2, |place| characters[place] == '/' && characters[place - 1] == '*') + 1
        }
        'r' if language == Language::Rust
            && (next == '"' || next == '#')
            && !before.is_alphanumeric()
            && before != '_' =>
        {
            raw_end(characters, at)
        }
        quote @ ('\'' | '`') if language == Language::Script => quoted_end(characters, at + 1, quote),
        '"' => quoted_end(characters, at + 1, '"'),
        '\'' => character_end(characters, at, next),
        _ => at,
    }
    .min(characters.len())
}

fn find(characters: &[char], from: usize, holds: impl Fn(usize) -> bool) -> usize {
    (from..characters.len()).find(|place| holds(*place)).unwrap_or(characters.len())
}

fn quoted_end(characters: &[char], from: usize, quote: char) -> usize {
    let mut at = from;
    while at < characters.len() && characters[at] != quote {
        at += if characters[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// `'a'` and `'\n'` are literals; a lifetime is not.
fn character_end(characters: &[char], at: usize, next: char) -> usize {
    match next {
        '\\' => quoted_end(characters, at + 1, '\''),
        _ if characters.get(at + 2) == Some(&'\'') => at + 3,
        _ => at,
    }
}

fn raw_end(characters: &[char], at: usize) -> usize {
    let hashes = characters[at + 1..].iter().take_while(|character| **character == '#').count();
    if characters.get(at + 1 + hashes) != Some(&'"') {
        return at;
    }
    let closes = |place: usize| {
        characters[place] == '"'
            && characters[place + 1..].iter().take(hashes).filter(|character| **character == '#').count() == hashes
    };
    find(characters, at + 2 + hashes, closes) + 1 + hashes
}

/// The identifiers of a line.
pub fn words(line: &str) -> Vec<String> {
    let parts = line.split(|character: char| !character.is_alphanumeric() && character != '_');
    parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns every function of blanked Rust: its name, its first line and its number of lines.
pub fn functions(code: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        let named = words(line);
        let Some(name) = named.iter().position(|word| word == "fn").and_then(|at| named.get(at + 1)) else {
            continue;
        };
        if let Some(last) = body_end(&lines[first..]) {
            found.push((name.clone(), first + 1, last + 1));
        }
    }
    found
}

/// Returns the line, from the first, on which the first body ends; `None` for a function without a body.
fn body_end(lines: &[&str]) -> Option<usize> {
    let (mut depth, mut brackets) = (0_i64, 0_i64);
    for (count, line) in lines.iter().enumerate() {
        for character in line.chars() {
            match character {
                '(' | '[' => brackets += 1,
                ')' | ']' => brackets -= 1,
                ';' if depth == 0 && brackets == 0 => return None,
                '{' => depth += 1,
                '}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(count);
                    }
                }
                _ => {}
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{blank, functions};

    #[test]
    fn comments_and_literals_are_blanked() {
        let text =
            "let a = \"fn x() {\"; // fn y() {\nlet b: &'a str = r#\"}\"#; let c = '{';\n/* fn\n z */ fn real() {\n}\n";
        let code = blank(text);
        assert_eq!(code.matches('{').count(), 1, "{code}");
        assert_eq!(code.lines().count(), text.lines().count());
        assert_eq!(functions(&code), [("real".to_owned(), 4, 2)]);
    }
}
