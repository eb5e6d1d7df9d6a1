//! Keys as the bytes that a terminal sends for them, by the names that the key table of the interface has.

/// Which keys are held beside it.
#[derive(Clone, Copy, Debug, Default)]
struct Modifiers {
    shift: bool,
    alt: bool,
    ctrl: bool,
}

impl Modifiers {
    /// As the parameter of an escape sequence; `None`: nothing is held.
    fn parameter(self) -> Option<u8> {
        let sum = u8::from(self.shift) + 2 * u8::from(self.alt) + 4 * u8::from(self.ctrl);
        (sum > 0).then_some(sum + 1)
    }
}

/// The bytes of a key: `ctrl-p`, `shift-enter`, `G`, `space`. `disambiguated`: the program has asked for unambiguous keys (the
/// first flag of kitty's protocol), so that `esc` and held keys come as sequences of their own.
///
/// `None`: the key is unknown.
#[must_use]
pub fn bytes(name: &str, disambiguated: bool) -> Option<Vec<u8>> {
    let (held, base) = split(name);
    if let Some(letter) = letter(base) {
        return Some(of_letter(letter, held, disambiguated));
    }
    let sequence = |last: char| match held.parameter() {
        Some(parameter) => format!("\x1b[1;{parameter}{last}"),
        None => format!("\x1b[{last}"),
    };
    let numbered = |number: u8| match held.parameter() {
        Some(parameter) => format!("\x1b[{number};{parameter}~"),
        None => format!("\x1b[{number}~"),
    };
    let text = match base {
        "up" => sequence('A'),
        "down" => sequence('B'),
        "right" => sequence('C'),
        "left" => sequence('D'),
        "home" => sequence('H'),
        "end" => sequence('F'),
        "delete" => numbered(3),
        "pageup" => numbered(5),
        "pagedown" => numbered(6),
        "f1" => "\x1bOP".to_owned(),
        "tab" if held.shift => "\x1b[Z".to_owned(),
        "tab" => "\t".to_owned(),
        "enter" => of_code(13, "\r", held, disambiguated),
        "backspace" => of_code(127, "\x7f", held, disambiguated),
        "esc" if disambiguated => "\x1b[27u".to_owned(),
        "esc" => "\x1b".to_owned(),
        _ => return None,
    };
    Some(text.into_bytes())
}

/// Enter and Backspace: Alt is an escape before them; what old terminals cannot say comes in the newer way.
fn of_code(code: u8, plain: &str, held: Modifiers, disambiguated: bool) -> String {
    match held.parameter() {
        None => plain.to_owned(),
        Some(3) if !disambiguated => format!("\x1b{plain}"),
        Some(parameter) => format!("\x1b[{code};{parameter}u"),
    }
}

fn of_letter(letter: char, held: Modifiers, disambiguated: bool) -> Vec<u8> {
    let plain = letter.to_string().into_bytes();
    if !held.alt && !held.ctrl {
        return plain;
    }
    if disambiguated {
        let parameter = held.parameter().unwrap_or(1);
        return format!("\x1b[{};{parameter}u", u32::from(letter)).into_bytes();
    }
    let own = match letter {
        _ if !held.ctrl => plain,
        '/' | '7' | '_' => vec![0x1f],
        ' ' => vec![0],
        other => vec![u8::try_from(u32::from(other) & 0x1f).unwrap_or_default()],
    };
    match held.alt {
        true => [vec![0x1b], own].concat(),
        false => own,
    }
}

fn letter(base: &str) -> Option<char> {
    if base == "space" {
        return Some(' ');
    }
    let mut letters = base.chars();
    let one = letters.next()?;
    letters.next().is_none().then_some(one)
}

fn split(name: &str) -> (Modifiers, &str) {
    let mut held = Modifiers::default();
    let mut rest = name;
    loop {
        let (flag, after) = if let Some(after) = rest.strip_prefix("ctrl-") {
            (&mut held.ctrl, after)
        } else if let Some(after) = rest.strip_prefix("alt-") {
            (&mut held.alt, after)
        } else if let Some(after) = rest.strip_prefix("shift-") {
            (&mut held.shift, after)
        } else {
            return (held, rest);
        };
        if after.is_empty() {
            return (held, rest);
        }
        *flag = true;
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn keys_are_what_terminals_send() {
        for (name, old, kitty) in [
            ("a", "a", "a"),
            ("G", "G", "G"),
            ("space", " ", " "),
            ("?", "?", "?"),
            ("ctrl-p", "\x10", "\x1b[112;5u"),
            ("ctrl-_", "\x1f", "\x1b[95;5u"),
            ("ctrl-/", "\x1f", "\x1b[47;5u"),
            ("alt-b", "\x1bb", "\x1b[98;3u"),
            ("enter", "\r", "\r"),
            ("shift-enter", "\x1b[13;2u", "\x1b[13;2u"),
            ("alt-enter", "\x1b\r", "\x1b[13;3u"),
            ("ctrl-enter", "\x1b[13;5u", "\x1b[13;5u"),
            ("alt-backspace", "\x1b\x7f", "\x1b[127;3u"),
            ("esc", "\x1b", "\x1b[27u"),
            ("up", "\x1b[A", "\x1b[A"),
            ("alt-up", "\x1b[1;3A", "\x1b[1;3A"),
            ("ctrl-left", "\x1b[1;5D", "\x1b[1;5D"),
            ("ctrl-delete", "\x1b[3;5~", "\x1b[3;5~"),
            ("pageup", "\x1b[5~", "\x1b[5~"),
            ("shift-tab", "\x1b[Z", "\x1b[Z"),
            ("f1", "\x1bOP", "\x1bOP"),
            ("-", "-", "-"),
        ] {
            assert_eq!(
                bytes(name, false).as_deref(),
                Some(old.as_bytes()),
                "{name}"
            );
            assert_eq!(
                bytes(name, true).as_deref(),
                Some(kitty.as_bytes()),
                "{name}"
            );
        }
        assert_eq!(bytes("hyper-x", false), None);
    }
}
