use proptest::prelude::*;

use super::*;

/// Presses keys in normal mode over a text; `|` is the caret, `_` in the answer says that it is insert mode now.
fn check(cases: &[(&str, &str, &str)]) {
    for (before, keys, after) in cases {
        let mut text = Text::default();
        text.insert(&before.replace('|', ""));
        text.go(before.find('|').unwrap());
        let mut vim = Vim {
            normal: true,
            ..Vim::default()
        };
        for key in keys.chars() {
            match key {
                'R' => {
                    text.redo();
                }
                key => {
                    vim.key(key, &mut text);
                }
            }
        }
        let mut found = text.as_str().to_owned();
        found.insert(text.caret(), if vim.normal { '|' } else { '_' });
        assert_eq!(&found, after, "{keys} in {before:?}");
    }
}

#[test]
fn moves() {
    check(&[
        ("one two|", "0", "|one two"),
        ("|one two", "l", "o|ne two"),
        ("|one two", "9l", "one tw|o"),
        ("one t|wo", "2h", "one| two"),
        ("|one two three", "2w", "one two |three"),
        ("|one, two", "w", "one|, two"),
        ("|中文 two", "w", "中文 |two"),
        ("one two thr|ee", "b", "one two |three"),
        ("one two thr|ee", "2b", "one |two three"),
        ("|one two", "e", "on|e two"),
        ("|one two", "2e", "one tw|o"),
        ("  on|e", "^", "  |one"),
        ("|one\ntwo", "$", "on|e\ntwo"),
        ("|one\ntwo\nend", "2$", "one\ntw|o\nend"),
        ("one\ntwo\nen|d", "gg", "|one\ntwo\nend"),
        ("|one\ntwo\nend", "G", "one\ntwo\n|end"),
        ("|one\ntwo\nend", "2G", "one\n|two\nend"),
        ("e|", "gx", "|e"),
        ("|a, b, c", "f,", "a|, b, c"),
        ("|a, b, c", "2t,", "a, |b, c"),
        ("a, b, |c", "F,", "a, b|, c"),
        ("a, b, |c", "2T,", "a,| b, c"),
        ("|a, b", "fx", "|a, b"),
        ("|a\nb", "fb", "|a\nb"),
        ("a|👩\u{200d}👧b", "l", "a👩\u{200d}👧|b"),
    ]);
}

#[test]
fn writes() {
    check(&[
        ("o|ne", "i", "o_ne"),
        ("o|ne", "a", "on_e"),
        ("  o|ne", "I", "  _one"),
        ("o|ne\ntwo", "A", "one_\ntwo"),
        ("o|ne\ntwo", "o", "one\n_\ntwo"),
        ("one\nt|wo", "O", "one\n_\ntwo"),
    ]);
}

#[test]
fn deletes_changes_and_copies() {
    check(&[
        ("o|ne", "x", "o|e"),
        ("|one", "2x", "|e"),
        ("|one", "9x", "|"),
        ("on|e", "X", "o|e"),
        ("one |two", "D", "one| "),
        ("one |two", "C", "one _"),
        ("|one two", "dw", "|two"),
        ("|one two three", "2dw", "|three"),
        ("|one two three", "d2w", "|three"),
        ("one |two\nx", "dw", "one| \nx"),
        ("|one two", "cw", "_ two"),
        ("|one two three", "2cw", "_ three"),
        ("one tw|o", "db", "one |o"),
        ("|one two", "de", "| two"),
        ("one t|wo", "d0", "|wo"),
        ("|one two", "dz", "|one two"),
        ("one\nt|wo\nend", "dd", "one\n|end"),
        ("o|ne\ntwo\nend", "2dd", "|end"),
        ("one\nt|wo", "dd", "|one"),
        ("|one", "dd", "|"),
        ("one\nt|wo\nend", "cc", "one\n_\nend"),
        ("one\nt|wo\nend", "dG", "|one"),
        ("one\nt|wo\nend", "dgg", "|end"),
        ("o|ne\ntwo\nend", "dj", "|end"),
        ("o|ne\ntwo", "yyp", "one\n|one\ntwo"),
        ("o|ne\ntwo", "yyjP", "|one\none\ntwo"),
        ("|one two", "ywP", "one| one two"),
        ("|one", "xp", "n|oe"),
        ("|one", "x3p", "noo|oe"),
        ("|one two", "dwu", "|one two"),
        ("|one two", "dwuR", "|two"),
        ("|ab", "xxuu", "|ab"),
        ("|a, b", "df,", "| b"),
        ("|a, b", "dt,", "|, b"),
        ("a, |b", "dF,", "a|b"),
        ("|a, b", "ct,", "_, b"),
        ("|abc", "2rx", "x|xc"),
        ("a|bc", "rb", "a|bc"),
        ("ab|c", "2rx", "ab|c"),
        ("|a\nb", "rdd", "|d\nb"),
        ("|a\nb", "dk", "|a\nb"),
        ("a\n|b", "dj", "a\n|b"),
    ]);
}

proptest! {
    #[test]
    fn no_keys_break_it(
        start in "([a-c ,]|e\u{301}|中|👩\u{200d}👧|\n){0,12}",
        keys in "[iaIAoOhjklwbe0^$gGxXDCdcypPuftFTr0-9z,]{0,40}",
        at in 0usize..20,
    ) {
        let mut text = Text::default();
        text.insert(&start);
        text.go(at);
        let mut vim = Vim { normal: true, ..Vim::default() };
        settle(&mut text);
        for key in keys.chars() {
            if vim.normal {
                vim.key(key, &mut text);
            } else {
                text.typed(&key.to_string());
                vim.enter_normal(&mut text);
            }
            let at = text.caret();
            prop_assert!(text.as_str().is_char_boundary(at));
            if vim.normal {
                prop_assert!(at < text.line_end(at) || at == text.line_start(at), "{key}: {text:?}");
            }
        }
    }
}
