//! How lines of source code define something, in the languages that are common. Pure.
//!
//! A guess by the form of a line and by indentation: it needs no parser of any language, and takes what is written
//! unusually for text.

/// Endings of files with source code.
const ENDINGS: [&str; 40] = [
    "bash", "c", "cc", "cjs", "cpp", "cs", "cxx", "dart", "ex", "exs", "go", "h", "hh", "hpp",
    "java", "js", "jsx", "kt", "kts", "lua", "m", "mjs", "mm", "php", "pl", "pm", "proto", "py",
    "pyi", "rb", "rs", "scala", "sh", "svelte", "swift", "ts", "tsx", "vue", "zig", "zsh",
];
/// Words before a name that is defined.
const KEYWORDS: [&str; 24] = [
    "class",
    "def",
    "defmacro",
    "defmodule",
    "defp",
    "enum",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "macro_rules!",
    "message",
    "mod",
    "module",
    "namespace",
    "object",
    "protocol",
    "record",
    "struct",
    "sub",
    "trait",
    "type",
    "union",
];
/// Words before those.
const MODIFIERS: [&str; 33] = [
    "abstract",
    "actor",
    "annotation",
    "async",
    "case",
    "const",
    "data",
    "declare",
    "default",
    "export",
    "extern",
    "final",
    "fileprivate",
    "implicit",
    "inline",
    "inner",
    "internal",
    "local",
    "mutating",
    "open",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "sealed",
    "static",
    "suspend",
    "template",
    "typedef",
    "value",
    "virtual",
];
/// Words before a name that is given a value.
const BINDINGS: [&str; 5] = ["const", "let", "static", "val", "var"];
/// Words before `(` that define nothing.
const CONTROL: [&str; 16] = [
    "await", "catch", "do", "else", "elsif", "for", "foreach", "guard", "if", "loop", "match",
    "return", "switch", "try", "unless", "while",
];

/// Matches every line that may define something: [`definition`] decides.
pub(crate) const PATTERN: &str = r#"^\s*(?:[\w$]+(?:\([^)\n]*\))?\s+(?:"[^"\n]*"\s+)?)*(?:class|def|defmacro|defmodule|defp|enum|fn|fun|func|function\*?|interface|macro_rules!|message|mod|module|namespace|object|protocol|record|struct|sub|trait|type|union|const|let|static|val|var)\s|^\s*#\s*define\s|^[^=;'"\n]+\([^;'"=\n]*\{\s*$"#;

/// Globs of the files with source code.
pub(crate) fn source_globs() -> Vec<String> {
    ENDINGS.iter().map(|ending| format!("*.{ending}")).collect()
}

/// Whether it can be the name of something in source code.
pub(crate) fn is_name(text: &str) -> bool {
    let starts = |c: char| c.is_alphabetic() || matches!(c, '_' | '$');
    text.starts_with(starts) && text.chars().all(is_part)
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

/// The name that a line defines.
pub(crate) fn definition(line: &str) -> Option<&str> {
    let line = line.trim();
    if let Some(rest) = line.strip_prefix('#') {
        let rest = rest.trim_start().strip_prefix("define")?;
        return leading_name(rest.trim_start());
    }
    by_keyword(line).or_else(|| by_parentheses(line))
}

/// `fn name`, `pub(crate) struct Name`, `func (r *T) Name`, `const NAME = 1`, `const name = () => …`.
fn by_keyword(line: &str) -> Option<&str> {
    let mut rest = line;
    loop {
        let (word, after) = word(rest)?;
        if KEYWORDS.contains(&word) {
            let name = defined_name(after)?;
            // `enum class Name`
            if !KEYWORDS.contains(&name) {
                return Some(name);
            }
        } else if BINDINGS.contains(&word)
            && let Some(name) = bound_name(word, after)
        {
            return Some(name);
        } else if !MODIFIERS.contains(&word) && !after.starts_with("fn ") {
            return None;
        }
        rest = without_qualifier(after);
    }
}

/// The first word, and what is behind it. A blank, a bracket, a quote or a star follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let end = match text[end..].starts_with("! ") {
        true => end + 1,
        false => end,
    };
    let (word, after) = text.split_at(end);
    let follows = after.starts_with(|c: char| c.is_whitespace() || matches!(c, '(' | '*' | '<'));
    (!word.is_empty() && follows).then(|| (word, after.trim_start()))
}

/// Without `(crate)` or `"C"` behind a modifier.
fn without_qualifier(text: &str) -> &str {
    let closing = match text.chars().next() {
        Some('(') => ')',
        Some('"') => '"',
        Some('<') => '>',
        _ => return text,
    };
    let end = text[1..].find(closing).map(|end| end + 2);
    end.map_or("", |end| text[end..].trim_start())
}

/// The name after a keyword: behind a receiver (`(r *T)`), a star, or the thing that it belongs to (`self.name`).
fn defined_name(after: &str) -> Option<&str> {
    let after = after.trim_start_matches('*').trim_start();
    let after = match after.starts_with('(') {
        true => without_qualifier(after),
        false => after,
    };
    let after = after.strip_prefix("self.").unwrap_or(after);
    leading_name(after)
}

fn leading_name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    let name = &text[..end];
    is_name(name).then_some(name)
}

/// The name that gets a value, if it is a constant or a function.
fn bound_name<'a>(word: &str, after: &'a str) -> Option<&'a str> {
    let name = leading_name(after)?;
    let rest = after[name.len()..].trim_start();
    let value = rest
        .split_once('=')
        .map_or("", |(_, value)| value)
        .trim_start();
    let is_function = value.starts_with("function")
        || value.starts_with("async")
        || (value.contains("=>") && !value.starts_with(['"', '\'', '`']));
    let is_constant = matches!(word, "const" | "static" | "val")
        && rest.starts_with([':', '='])
        && !name.chars().any(char::is_lowercase);
    (is_function || is_constant).then_some(name)
}

/// `int name(int a) {`, `name(a) {`: a function without a keyword.
fn by_parentheses(line: &str) -> Option<&str> {
    let (before, behind) = line.strip_suffix('{')?.split_once('(')?;
    let before = before.trim_end();
    let is_head = |c: char| is_part(c) || " \t*&<>,:~[]@".contains(c);
    if !behind.contains(')') || behind.contains("=>") || !before.chars().all(is_head) {
        return None;
    }
    let words = before.split(|c: char| !is_part(c));
    let mut words = words.filter(|word| !word.is_empty());
    let is_other = |word: &str| CONTROL.contains(&word) || KEYWORDS.contains(&word);
    let name = words.clone().next_back()?;
    let is_call = behind.contains("function");
    (!words.any(is_other) && !is_call && before.ends_with(name) && is_name(name)).then_some(name)
}

/// The first and the last line of the definition at `index`, from 0: with comments and attributes before it, up to the
/// line that closes it.
pub(crate) fn extent(lines: &[String], index: usize) -> (usize, usize) {
    let Some(line) = lines.get(index) else {
        return (index, index);
    };
    let own = indent(line);
    let belongs = |line: &String| {
        let text = line.trim_start();
        let marks = ["//", "#", "@", "/*", "*", "--"];
        indent(line) >= own && marks.iter().any(|mark| text.starts_with(mark))
    };
    let before = lines[..index].iter().rev();
    let first = index - before.take_while(|line| belongs(line)).count();
    let mut last = index;
    for (at, line) in lines.iter().enumerate().skip(index + 1) {
        let text = line.trim();
        if text.is_empty() || indent(line) > own {
            last = if text.is_empty() { last } else { at };
            continue;
        }
        if indent(line) < own {
            break;
        }
        let goes_on = text.starts_with('{') || text.split_whitespace().next() == Some("where");
        let closes_list = text.starts_with([')', ']']);
        let closes = text.starts_with('}') || text.trim_end_matches(';') == "end";
        if goes_on || closes_list || closes {
            last = at;
        }
        if closes || !(goes_on || closes_list) || (closes_list && text.ends_with(';')) {
            break;
        }
    }
    (first, last)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

#[cfg(test)]
mod tests;
