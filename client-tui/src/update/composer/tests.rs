use std::time::Instant;

use client::prompt::Prompt;
use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::keymap::BINDINGS;
use crate::messages::Language;
use crate::model::composer::menu::Entries;
use crate::model::{LaunchContext, ViewOptions};

fn model() -> Model {
    let place = LaunchContext {
        home: Some("/user/ann".into()),
        ..LaunchContext::of("/proj")
    };
    Model::new(ViewOptions::default(), place, Instant::now())
}

/// Presses keys: names of the key table, or `'text` to type.
fn press(model: &mut Model, keys: &str) -> Vec<Effect> {
    let mut effects = Vec::new();
    for name in keys.split(' ') {
        let pressed: Vec<KeyEvent> = match name.strip_prefix('\'') {
            Some(letters) => letters
                .chars()
                .map(|it| if it == '_' { ' ' } else { it })
                .map(|it| KeyEvent::new(KeyCode::Char(it), KeyModifiers::empty()))
                .collect(),
            None => vec![keymap::key(name).unwrap_or_else(|| panic!("no key `{name}`"))],
        };
        for pressed in &pressed {
            effects.extend(key(model, pressed).unwrap_or_default());
        }
    }
    effects
}

/// The text with its caret as `|`.
fn shown(model: &Model) -> String {
    let buffer = &model.composer.buffer;
    let mut text = buffer.as_str().to_owned();
    text.insert(buffer.caret(), '|');
    model.composer.chips.shown(&text)
}

fn write(model: &mut Model, text: &str) {
    model.composer.set(&text.replace('|', ""));
    let caret = text.find('|').unwrap();
    model.composer.buffer.go(caret);
    model.composer.menu = composer::menu::Menu::default();
    refresh(model);
}

#[test]
fn ctrl_d_behind_the_last_letter_says_how_to_leave() {
    let mut model = model();
    write(&mut model, "o|ne");
    press(&mut model, "ctrl-d");
    assert!(model.toast.is_none(), "it deletes");
    write(&mut model, "one|");
    assert!(press(&mut model, "ctrl-d").is_empty());
    assert_eq!(shown(&model), "one|");
    assert!(model.toast.is_some());
}

/// Each row of the table for editing: a text, a key, the text afterwards. Sent text is gone, or not here.
const WRITING: &[(&str, &str, &str)] = &[
    ("hi|", "enter", "sent"),
    ("one\\|", "enter", "one\n|"),
    ("hi|", "ctrl-enter", "sent"),
    ("hi|", "ctrl-s", "sent"),
    ("one|two", "shift-enter", "one\n|two"),
    ("one|two", "alt-enter", "one\n|two"),
    ("one|two", "ctrl-j", "one\n|two"),
    ("|", "?", "|"),
    ("why|", "?", "why?|"),
    ("|", "ctrl-d", "|"),
    ("o|ne", "ctrl-d", "o|e"),
    ("hi|", "esc", "hi|"),
    ("one\nt|wo", "up", "o|ne\ntwo"),
    ("o|ne\ntwo", "down", "one\nt|wo"),
    ("a\nb|", "alt-up", "before|"),
    ("a\nb|", "alt-down", "a\nb|"),
    ("o|ne", "left", "|one"),
    ("e\u{301}|", "left", "|e\u{301}"),
    ("o|ne", "right", "on|e"),
    ("one two|", "alt-b", "one |two"),
    ("one two|", "ctrl-left", "one |two"),
    ("one two|", "alt-left", "one |two"),
    ("|one two", "alt-f", "one| two"),
    ("|one two", "ctrl-right", "one| two"),
    ("|one two", "alt-right", "one| two"),
    ("a\ntw|o", "ctrl-a", "a\n|two"),
    ("a\ntw|o", "home", "a\n|two"),
    ("o|ne\nb", "ctrl-e", "one|\nb"),
    ("o|ne\nb", "end", "one|\nb"),
    ("👩\u{200d}👧|", "backspace", "|"),
    ("on|e", "ctrl-h", "o|e"),
    ("|🇩🇪x", "delete", "|x"),
    ("one two|", "ctrl-w", "one |"),
    ("one two|", "alt-backspace", "one |"),
    ("|one two", "alt-d", "| two"),
    ("|one two", "ctrl-delete", "| two"),
    ("a\none t|wo", "ctrl-u", "a\n|wo"),
    ("on|e\nb", "ctrl-k", "on|\nb"),
    ("one two|", "ctrl-w home ctrl-y", "two|one "),
    ("a|", "'b ctrl-_", "a|"),
    ("a|", "'b ctrl-/", "a|"),
    ("a|", "'b ctrl-7", "a|"),
    ("a|", "'b ctrl-_ alt-_", "ab|"),
    ("a|", "'b ctrl-_ alt-/", "ab|"),
    ("hi|", "ctrl-g", "hi|"),
    ("hi|", "pageup", "hi|"),
    ("hi|", "pagedown", "hi|"),
    ("hi|", "shift-tab", "hi|"),
];

/// The same for the menus.
const MENU: &[(&str, &str, &str)] = &[
    ("/the|", "tab", "/theme |"),
    ("/ren|", "enter", "/rename |"),
    ("/the|", "enter", "sent"),
    ("/theme|", "enter", "sent"),
    ("/dch|", "enter", "/detach|"),
    ("/re|", "up tab", "/|"),
    ("/re|", "ctrl-p ctrl-n tab", "/resume |"),
    ("/re|", "down tab", "/rewind |"),
    ("/re|", "down shift-tab tab", "/resume |"),
    ("/the|", "esc tab", "/the|"),
    ("/the|", "esc 'm tab", "/theme |"),
    ("//the|", "tab", "//the|"),
];

#[test]
fn every_key_of_the_table_does_what_it_says() {
    for (before, keys, after) in WRITING.iter().chain(MENU) {
        let mut model = model();
        model
            .composer
            .remember(&Prompt::typed("before"), Language::English);
        write(&mut model, before);
        press(&mut model, keys);
        let text = shown(&model);
        match *after {
            "sent" => assert!(
                !text.contains('\n') && !text.contains(' '),
                "{keys}: {text:?}"
            ),
            "/|" => assert!(
                text.starts_with('/') && text.ends_with(" |"),
                "{keys}: {text:?}"
            ),
            after => assert_eq!(text, after, "`{keys}` in {before:?}"),
        }
    }
    for row in BINDINGS {
        let table = match row.context {
            Context::Composer => WRITING,
            Context::Menu => MENU,
            _ => continue,
        };
        for name in row.keys {
            let tried = table
                .iter()
                .any(|row| row.1.split(' ').any(|it| it == *name));
            assert!(tried, "`{name}` of {:?} is not tried", row.context);
        }
    }
}

#[test]
fn keys_without_a_meaning_here_are_left_to_others() {
    let mut model = model();
    for name in ["ctrl-c", "ctrl-t", "f1", "tab"] {
        let pressed = keymap::key(name).unwrap();
        assert_eq!(key(&mut model, &pressed), None, "{name}");
    }
}

#[test]
fn the_history_keeps_the_draft_and_is_not_edited() {
    let mut model = model();
    for text in ["one", "two", "two"] {
        model.composer.set(text);
        assert_eq!(model.composer.take(), text);
    }
    model
        .composer
        .remember(&Prompt::typed("two"), Language::English);
    press(&mut model, "'dr left");
    press(&mut model, "up");
    assert_eq!(shown(&model), "two|");
    press(&mut model, "'! up");
    assert_eq!(shown(&model), "one|");
    press(&mut model, "up down");
    assert_eq!(shown(&model), "two|");
    press(&mut model, "down down");
    assert_eq!(shown(&model), "d|r");
}

#[test]
fn the_history_has_an_end() {
    let mut model = model();
    for n in 0..150 {
        model
            .composer
            .remember(&Prompt::typed(n.to_string()), Language::English);
    }
    for _ in 0..150 {
        press(&mut model, "alt-up");
    }
    assert_eq!(shown(&model), "50|");
}

#[test]
fn a_long_paste_is_one_thing() {
    let mut model = model();
    let long = "line\r\n".repeat(45);
    press(&mut model, "'a");
    assert_eq!(paste(&mut model, &long), []);
    paste(&mut model, &"x".repeat(1001));
    press(&mut model, "'b");
    assert_eq!(
        shown(&model),
        "a[pasted 45 lines #1][pasted 1001 characters #2]b|"
    );
    let whole = format!("a{}{}b", "line\n".repeat(45), "x".repeat(1001));
    assert_eq!(model.composer.text(), whole);
    press(&mut model, "left backspace left backspace");
    assert_eq!(shown(&model), "|[pasted 45 lines #1]b");
    press(&mut model, "ctrl-_ ctrl-_");
    assert_eq!(model.composer.text(), whole);
    assert_eq!(model.composer.take(), whole);
    model
        .composer
        .remember(&Prompt::typed(&whole), Language::English);
    press(&mut model, "up");
    assert_eq!(
        shown(&model),
        "a[pasted 45 lines #1][pasted 1001 characters #2]b|"
    );
    assert_eq!(model.composer.text(), whole);
}

#[test]
fn a_short_paste_is_text_without_what_a_terminal_obeys() {
    let mut model = model();
    paste(&mut model, "a\r\nb\rc\u{1b}[31m\u{7}\u{10f000}d\n");
    assert_eq!(shown(&model), "a\nb\ncd\n|");
    let mut typed = self::model();
    press(&mut typed, "'[pasted_45_lines_#1]");
    assert_eq!(typed.composer.text(), "[pasted 45 lines #1]");
}

fn list(model: &mut Model, directory: &str, names: &[&str]) {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    listed(model, PathBuf::from(directory), names);
}

#[test]
fn files_are_completed_a_level_at_a_time() {
    let mut model = model();
    let asked = |path: &str| vec![Effect::Directory(PathBuf::from(path))];
    let resources = proto::params::mcp::ListParams {
        cwd: Some("/proj".to_owned()),
    };
    let symbols = proto::params::symbol::ListParams {
        cwd: "/proj".to_owned(),
    };
    let with_tree = vec![
        Effect::Call(Call::Symbols(symbols)),
        Effect::Call(Call::Resources(resources)),
        Effect::Tree(PathBuf::from("/proj")),
        Effect::Directory(PathBuf::from("/proj/")),
    ];
    assert_eq!(press(&mut model, "'see_@"), with_tree);
    assert_eq!(press(&mut model, "'s"), [], "it is on its way");
    list(&mut model, "/elsewhere", &["sx"]);
    assert!(!model.composer.menu.is_open());
    list(
        &mut model,
        "/proj/",
        &["src/", "a.rs", "my file.txt", "bad\u{1b}s"],
    );
    assert_eq!(press(&mut model, "tab"), asked("/proj/src/"));
    assert_eq!(shown(&model), "see @src/|");
    list(&mut model, "/proj/src/", &["main.rs", "lib.rs"]);
    assert_eq!(press(&mut model, "'mn enter"), []);
    assert_eq!(shown(&model), "see @src/main.rs |");
    assert!(!model.composer.menu.is_open());
    assert_eq!(
        press(&mut model, "'@"),
        with_tree,
        "read again for the next"
    );
    list(
        &mut model,
        "/proj/",
        &["src/", "a.rs", "my file.txt", "my dir/"],
    );
    press(&mut model, "'fil tab");
    assert_eq!(shown(&model), "see @src/main.rs @\"my file.txt\" |");
    press(&mut model, "'@");
    list(&mut model, "/proj/", &["my dir/"]);
    assert_eq!(press(&mut model, "enter"), asked("/proj/my dir/"));
    list(&mut model, "/proj/my dir/", &["x"]);
    press(&mut model, "tab");
    assert_eq!(
        shown(&model),
        "see @src/main.rs @\"my file.txt\" @\"my dir/x\" |"
    );
}

#[test]
fn files_are_found_anywhere_below_the_directory() {
    let walk = |model: &mut Model, paths: &[&str]| {
        let paths = paths.iter().map(|&path| path.to_owned()).collect();
        walked(model, PathBuf::from("/proj"), paths);
    };
    let mut model = model();
    press(&mut model, "'see_@");
    list(&mut model, "/proj/", &["src/", "my_widgets/"]);
    press(&mut model, "'wid");
    // Nobody has chosen one: the best of all that have arrived is the first choice.
    let paths = [
        "src/",
        "src/ui/widget.rs",
        "src/my dir/wide.md",
        "src/w/i/d.rs",
    ];
    walk(&mut model, &paths);
    press(&mut model, "tab");
    assert_eq!(shown(&model), "see @\"src/my dir/wide.md\" |");
    model.composer.take();
    press(&mut model, "'@");
    list(&mut model, "/proj/", &["src/", "my_widgets/"]);
    // Names that begin so come first, and no key waits for the paths to be read again.
    press(&mut model, "'widg enter");
    assert_eq!(shown(&model), "@src/ui/widget.rs |");
    press(&mut model, "'@");
    list(&mut model, "/proj/", &["src/", "my_widgets/"]);
    press(&mut model, "'wide enter");
    assert_eq!(shown(&model), "@src/ui/widget.rs @\"src/my dir/wide.md\" |");
    model.composer.take();
    press(&mut model, "'@");
    list(&mut model, "/proj/", &["src/", "my_widgets/"]);
    press(&mut model, "'suwget enter");
    assert_eq!(
        shown(&model),
        "@src/ui/widget.rs |",
        "letters in this order"
    );
    model.composer.take();
    walk(&mut model, &["src/bad\u{1b}wid"]);
    press(&mut model, "'@");
    list(&mut model, "/proj/", &["src/"]);
    press(&mut model, "'wid");
    assert!(!model.composer.menu.is_open());
}

#[test]
fn enter_sends_a_command_that_is_written_in_full() {
    let mut model = crate::update::scene::attached();
    let effects = press(&mut model, "'/cost enter");
    assert!(!effects.is_empty() && shown(&model) == "|", "{effects:?}");
}

#[test]
fn enter_sends_a_path_that_is_written_in_full() {
    let mut model = model();
    press(&mut model, "'see_@");
    let names = ["a.rs", "a.rs.bak", "my file.txt", "src/"];
    list(&mut model, "/proj/", &names);
    press(&mut model, "'a.rs enter");
    assert_eq!(shown(&model), "|");
    // Tab completes it, and another one is taken by Enter.
    let mut model = self::model();
    press(&mut model, "'@");
    list(&mut model, "/proj/", &names);
    press(&mut model, "'a.rs tab");
    assert_eq!(shown(&model), "@a.rs |");
    press(&mut model, "'@");
    list(&mut model, "/proj/", &names);
    press(&mut model, "'a.rs down enter");
    assert_eq!(shown(&model), "@a.rs @a.rs.bak |");
    // A directory is opened, and an open quote closed.
    press(&mut model, "'@");
    list(&mut model, "/proj/", &names);
    press(&mut model, "'src enter");
    assert_eq!(shown(&model), "@a.rs @a.rs.bak @src/|");
    // Once it is written with its slash, it is sent, unless a file in it is chosen.
    list(&mut model, "/proj/src/", &["deep.rs", "other.rs"]);
    press(&mut model, "down enter");
    assert_eq!(shown(&model), "@a.rs @a.rs.bak @src/other.rs |");
    press(&mut model, "'@src/");
    list(&mut model, "/proj/src/", &["deep.rs", "other.rs"]);
    press(&mut model, "enter");
    assert_eq!(shown(&model), "|");
    press(&mut model, "'@");
    list(&mut model, "/proj/", &names);
    press(&mut model, "'\"my_file.txt enter");
    assert_eq!(shown(&model), "@\"my file.txt\" |");
}

#[test]
fn symbols_are_completed_behind_the_files_that_begin_so() {
    let mut model = model();
    press(&mut model, "'@");
    list(&mut model, "/proj/", &["subtotal.txt", "total.md"]);
    let symbol = |path: &str, name: &str, line| SymbolInfo {
        path: path.to_owned(),
        line,
        name: name.to_owned(),
    };
    symbols_came(
        &mut model,
        vec![
            symbol("src/cart.rs", "total", 3),
            symbol("src/cart.rs", "total", 9),
            symbol("src/other.rs", "Cart", 1),
            symbol("src/\u{1b}.rs", "total", 1),
        ],
    );
    let shown = |model: &Model| match &model.composer.menu.entries {
        Entries::Files(files) => files
            .iter()
            .map(|file| format!("{}{}", file.parent, file.name))
            .collect(),
        _ => Vec::new(),
    };
    assert_eq!(shown(&model), ["subtotal.txt", "total.md"]);
    press(&mut model, "'total");
    assert_eq!(
        shown(&model),
        ["total.md", "src/cart.rs#total", "subtotal.txt"]
    );
    press(&mut model, "down enter");
    assert_eq!(self::shown(&model), "@src/cart.rs#total |");
    // Also by the path.
    model.composer.take();
    press(&mut model, "'@src/other.rs#C");
    list(&mut model, "/proj/src/", &["cart.rs", "other.rs"]);
    assert_eq!(shown(&model), ["src/other.rs#Cart"]);
}

#[test]
fn resources_of_servers_are_completed_after_files() {
    let mut model = model();
    press(&mut model, "'@");
    list(&mut model, "/proj/", &["notes.txt", "a.rs"]);
    let resource = |server: &str, uri: &str| McpResource {
        server: server.to_owned(),
        uri: uri.to_owned(),
        name: String::new(),
    };
    resources_came(
        &mut model,
        vec![
            resource("files", "demo://notes/1"),
            resource("files", "demo://logo"),
            resource("bad", "x://\u{1b}"),
        ],
    );
    let names = |model: &Model| match &model.composer.menu.entries {
        Entries::Files(files) => files.iter().map(|file| file.name.clone()).collect(),
        _ => Vec::new(),
    };
    assert_eq!(
        names(&model),
        [
            "a.rs",
            "notes.txt",
            "files:demo://logo",
            "files:demo://notes/1"
        ]
    );
    press(&mut model, "'notes");
    assert_eq!(names(&model), ["notes.txt", "files:demo://notes/1"]);
    press(&mut model, "down enter");
    assert_eq!(shown(&model), "@files:demo://notes/1 |");
    // Also after the slashes of the address.
    model.composer.take();
    press(&mut model, "'@files:demo://l");
    list(&mut model, "/proj/files:demo://", &[]);
    assert_eq!(names(&model), ["files:demo://logo"]);
    press(&mut model, "tab");
    assert_eq!(shown(&model), "@files:demo://logo |");
}

#[test]
fn other_directories_are_read_too() {
    let last = |keys: &str| press(&mut model(), keys).pop();
    let asked = |path: &str| Some(Effect::Directory(PathBuf::from(path)));
    assert_eq!(last("'@~/"), asked("/user/ann/"));
    assert_eq!(last("'@/etc/"), asked("/etc/"));
    assert_eq!(last("'@../"), asked("/proj/../"));
    assert_eq!(last("'me@x"), None);
}

#[test]
fn a_closed_menu_of_files_stays_closed_until_the_text_changes() {
    let mut model = model();
    press(&mut model, "'@");
    list(&mut model, "/proj/", &["a", "b"]);
    press(&mut model, "esc left right");
    assert!(!model.composer.menu.is_open());
    press(&mut model, "'a");
    list(&mut model, "/proj/", &["a", "b"]);
    assert!(model.composer.menu.is_open());
}

#[test]
fn vims_keys_come_in_their_mode_only() {
    let mut model = model();
    model.composer.set_vim(true);
    press(&mut model, "'/the");
    assert!(model.composer.menu.is_open());
    press(&mut model, "ctrl-u 'one_two esc");
    assert!(model.composer.is_normal());
    press(&mut model, "'b 'x");
    assert_eq!(shown(&model), "one |wo");
    press(&mut model, "'u ctrl-r 'ix");
    assert_eq!(shown(&model), "one x|wo");
    assert!(!model.composer.is_normal());
    model
        .composer
        .remember(&Prompt::typed("before"), Language::English);
    press(&mut model, "esc 'k");
    assert_eq!(shown(&model), "befor|e");
    press(&mut model, "'j");
    assert_eq!(shown(&model), "one |xwo");
    press(&mut model, "'d esc 'w");
    assert_eq!(
        model.composer.text(),
        "one xwo",
        "a begun command is forgotten"
    );
    model.composer.set_vim(false);
    press(&mut model, "'x");
    assert_eq!(shown(&model), "one xwx|o");
}

#[test]
fn a_command_of_the_history_opens_no_menu() {
    let mut model = model();
    for text in ["/help", "/theme"] {
        model
            .composer
            .remember(&Prompt::typed(text), Language::English);
    }
    press(&mut model, "up up");
    assert_eq!(shown(&model), "/help|");
    press(&mut model, "down down");
    assert_eq!(shown(&model), "|");
}

#[test]
fn esc_closes_a_menu_that_is_not_there_yet() {
    let mut model = model();
    model.composer.set_vim(true);
    press(&mut model, "'@ esc");
    assert!(!model.composer.is_normal());
    list(&mut model, "/proj/", &["a"]);
    assert!(!model.composer.menu.is_open());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_keys_break_it(
        vim: bool,
        steps in prop::collection::vec((0usize..200, "([a-z@/ \"~.!?]|中|e\u{301}|🇩|👧|\u{200d}){1,3}"), 0..50),
    ) {
        let mut model = model();
        model.look.columns = 12;
        model.composer.set_vim(vim);
        model.composer.remember(&Prompt::typed("/help\nme"), Language::English);
        let rows: Vec<_> = BINDINGS
            .iter()
            .filter(|row| matches!(row.context, Context::Composer | Context::Menu))
            .collect();
        for (step, text) in steps {
            match rows.get(step) {
                Some(row) => {
                    press(&mut model, row.keys[0]);
                }
                None if step % 10 == 0 => {
                    paste(&mut model, &text.repeat(400));
                }
                None => {
                    let letters = text.chars().map(|it| KeyEvent::new(KeyCode::Char(it), KeyModifiers::empty()));
                    for letter in letters {
                        for effect in key(&mut model, &letter).unwrap_or_default() {
                            match effect {
                                Effect::Directory(directory) => {
                                    listed(&mut model, directory, vec!["src/".into(), "a b".into()]);
                                }
                                Effect::Tree(root) => {
                                    walked(&mut model, root, vec!["src/".into(), "src/a b".into()]);
                                }
                                _ => {}
                            }
                        }
                    }
                }
            }
            let buffer = &model.composer.buffer;
            let caret = buffer.caret();
            let mut places = buffer.as_str().grapheme_indices(true).map(|it| it.0);
            prop_assert!(caret == buffer.as_str().len() || places.any(|at| at == caret));
            let panel = crate::view::composer::panel(&model.composer, &model, 12, 8);
            prop_assert!(panel.rows.len() <= 8 && panel.cursor.is_some());
        }
    }
}

#[test]
fn text_after_an_erased_queued_prompt_gets_no_place_in_the_queue() {
    let behind = proto::PromptId::new();
    for erase in ["ctrl-u", "backspace backspace", "alt-up"] {
        let mut model = model();
        model.composer.history.push("older");
        write(&mut model, "ab|");
        model.composer.following = vec![behind];
        press(&mut model, "'x");
        assert_eq!(model.composer.following, [behind], "{erase}");
        press(&mut model, "backspace");
        press(&mut model, erase);
        assert!(model.composer.following.is_empty(), "{erase}");
    }
}

#[test]
fn first_key_for_an_older_prompt_reads_those_of_earlier_sessions() {
    let mut model = model();
    write(&mut model, "draft|");
    let up = |model: &mut Model| {
        let effects = press(model, "alt-up");
        let asked = effects.iter().filter(|effect| {
            matches!(effect, Effect::Call(Call::Prompts(params)) if params.cwd == model.place.template.cwd)
        });
        asked.count()
    };
    assert_eq!(up(&mut model), 1);
    assert_eq!(up(&mut model), 0, "it is being read");
    let earlier = ["one", "!two", "three"].map(str::to_owned);
    model.composer.remember_earlier(&earlier, Language::English);
    assert_eq!(model.composer.text(), "three", "what the key looked for");
    assert_eq!(up(&mut model), 0);
    assert_eq!(model.composer.text(), " !two", "a prompt, no command");
    model.composer.newer();
    model.composer.newer();
    assert_eq!(model.composer.text(), "draft");
}

#[test]
fn prompts_of_earlier_sessions_come_before_all_others_and_change_no_text() {
    let mut model = model();
    model.composer.history.push("new");
    model.composer.history.push("three");
    write(&mut model, "draft|");
    press(&mut model, "alt-up");
    assert_eq!(model.composer.text(), "three");
    let earlier = ["one", "three"].map(str::to_owned);
    model.composer.remember_earlier(&earlier, Language::English);
    let mut seen = Vec::new();
    for _ in 0..3 {
        seen.push(model.composer.text());
        press(&mut model, "alt-up");
    }
    assert_eq!(seen, ["three", "new", "one"]);
    assert_eq!(model.composer.text(), "one", "the oldest");
}
