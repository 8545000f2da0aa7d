//! Decides what of a source text is code, where its functions begin and end, and which words it uses.
//! It must not know any language's grammar beyond comments, literals and braces.

/// How single quotes are used.
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
    let letters: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        let end = literal_end(&letters, at, language);
        if end == at {
            code.push(letters[at]);
            at += 1;
            continue;
        }
        code.extend(letters[at..end].iter().map(|letter| if *letter == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    code
}

/// Where the comment or literal that begins here ends; here itself, when none begins.
fn literal_end(letters: &[char], at: usize, language: Language) -> usize {
    let next = letters.get(at + 1).copied().unwrap_or(' ');
    let before = at.checked_sub(1).map_or(' ', |place| letters[place]);
    match letters[at] {
        '/' if next == '/' => find(letters, at, |place| letters[place] == '\n'),
        '/' if next == '*' => find(letters, at + 2, |place| letters[place] == '/' && letters[place - 1] == '*') + 1,
        'r' if language == Language::Rust
            && (next == '"' || next == '#')
            && !before.is_alphanumeric()
            && before != '_' =>
        {
            raw_end(letters, at)
        }
        quote @ ('\'' | '`') if language == Language::Script => quoted_end(letters, at + 1, quote),
        '"' => quoted_end(letters, at + 1, '"'),
        '\'' => letter_end(letters, at, next),
        _ => at,
    }
    .min(letters.len())
}

fn find(letters: &[char], from: usize, holds: impl Fn(usize) -> bool) -> usize {
    (from..letters.len()).find(|place| holds(*place)).unwrap_or(letters.len())
}

fn quoted_end(letters: &[char], from: usize, quote: char) -> usize {
    let mut at = from;
    while at < letters.len() && letters[at] != quote {
        at += if letters[at] == '\\' { 2 } else { 1 };
    }
    at + 1
}

/// `'a'` and `'\n'` are literals; a lifetime is not.
fn letter_end(letters: &[char], at: usize, next: char) -> usize {
    match next {
        '\\' => quoted_end(letters, at + 1, '\''),
        _ if letters.get(at + 2) == Some(&'\'') => at + 3,
        _ => at,
    }
}

fn raw_end(letters: &[char], at: usize) -> usize {
    let hashes = letters[at + 1..].iter().take_while(|letter| **letter == '#').count();
    if letters.get(at + 1 + hashes) != Some(&'"') {
        return at;
    }
    let closes = |place: usize| {
        letters[place] == '"'
            && letters[place + 1..].iter().take(hashes).filter(|letter| **letter == '#').count() == hashes
    };
    find(letters, at + 2 + hashes, closes) + 1 + hashes
}

/// The identifiers of a line.
pub fn words(line: &str) -> Vec<String> {
    let parts = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    parts.filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Every function of blanked Rust: its name, its first line and how many lines it has.
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

/// On which line, from the first, the first body closes; `None` for a function without a body.
fn body_end(lines: &[&str]) -> Option<usize> {
    let (mut depth, mut brackets) = (0_i64, 0_i64);
    for (count, line) in lines.iter().enumerate() {
        for letter in line.chars() {
            match letter {
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
    fn only_code_is_left() {
        let text =
            "let a = \"fn x() {\"; // fn y() {\nlet b: &'a str = r#\"}\"#; let c = '{';\n/* fn\n z */ fn real() {\n}\n";
        let code = blank(text);
        assert_eq!(code.matches('{').count(), 1, "{code}");
        assert_eq!(code.lines().count(), text.lines().count());
        assert_eq!(functions(&code), [("real".to_owned(), 4, 2)]);
    }
}
