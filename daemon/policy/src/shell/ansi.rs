//! The text between the quotes of `$'…'`. Called by `words`.

/// The decoded text; `None` if it is not valid text, or if shells differ.
pub(super) fn decode(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        let escaped = match chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            c @ ('\\' | '\'' | '"' | '?') => c,
            'x' => number(&mut chars, 16, 2, 0)?,
            'u' => number(&mut chars, 16, 4, 0)?,
            'U' => number(&mut chars, 16, 8, 0)?,
            c @ '0'..='7' => number(&mut chars, 8, 2, c.to_digit(8)?)?,
            // Control characters, and escapes that shells read differently.
            _ => return None,
        };
        // A zero byte ends the text here; shells differ in what else it ends.
        if escaped == '\0' {
            return None;
        }
        text.push(escaped);
    }
    Some(text)
}

/// Bytes above 127 are parts of characters, which are not assembled here.
fn number(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    radix: u32,
    digits: usize,
    first: u32,
) -> Option<char> {
    let mut value = first;
    let mut seen = 0;
    while seen < digits {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else {
            break;
        };
        chars.next();
        value = value.checked_mul(radix)?.checked_add(digit)?;
        seen += 1;
    }
    if seen == 0 && radix == 16 {
        return None;
    }
    let wide = radix == 16 && digits > 2;
    (wide || value < 128)
        .then(|| char::from_u32(value))
        .flatten()
}
