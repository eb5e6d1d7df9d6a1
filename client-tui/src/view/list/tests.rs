use client::DecodedEvent;
use proptest::prelude::*;
use proto::params::history::{RewindOutput, RewindParams};
use proto::record::{FileState, RewoundFile, RewoundResult};
use proto::{Event as Record, Pid, Seq};
use unicode_segmentation::UnicodeSegmentation;

use ratatui::style::Modifier;

use super::*;
use crate::effect::{Answer, Call, ErrorReport};
use crate::keymap::key;
use crate::messages::Language;
use crate::model::Dialog;
use crate::model::list::fixtures::{self, ALL, HOSTILE, answer, approval, id, listed};
use crate::theme::Theme;
use crate::update::list as update;

const SIZES: [(u16, u16); 3] = [(80, 24), (40, 12), (200, 60)];

fn opened(what: ListOf, (columns, rows): (u16, u16), language: Language) -> Model {
    let mut model = fixtures::model(columns, rows, language);
    update::open(&mut model, what);
    let calls = vec![
        approval(1, 2, "rm -r target\u{200b}/x\nand more"),
        approval(2, 4, HOSTILE),
    ];
    if let Some(answer) = answer(what, calls) {
        update::take(&mut model, answer);
    }
    model
}

fn press(model: &mut Model, names: &str) {
    for name in names.split(' ') {
        update::key(model, &key(name).unwrap());
    }
}

fn drawn(model: &Model) -> Panel {
    let Some(Dialog::List(dialog)) = &model.dialog else {
        panic!("no list is open")
    };
    let rows = usize::from(model.look.rows) - if dialog.covers() { 0 } else { 2 };
    let panel = panel(dialog, model, usize::from(model.look.columns), rows);
    check(&panel, dialog, model, rows);
    panel
}

/// Checks that hold for every panel.
fn check(panel: &Panel, dialog: &ListDialog, model: &Model, rows: usize) {
    let width = usize::from(model.look.columns);
    assert!(panel.rows.len() <= rows);
    if dialog.covers() {
        assert_eq!(panel.rows.len(), rows);
    }
    for row in text(panel).lines() {
        // A single character wider than the screen has its own row.
        let alone = row.graphemes(true).count() == 1;
        assert!(
            alone || wrap::width(row) <= width,
            "{row:?} is wider than {width}"
        );
        let obeyed =
            |letter: char| letter.is_control() || ('\u{202a}'..='\u{202e}').contains(&letter);
        assert!(!row.contains(obeyed), "{row:?}");
    }
}

fn text(panel: &Panel) -> String {
    let line = |line: &Line<'static>| line.to_string().trim_end().to_owned();
    let lines: Vec<String> = panel.rows.iter().map(line).collect();
    lines.join("\n")
}

#[test]
fn every_list_fits_every_screen_in_both_languages() {
    for language in [Language::English, Language::Chinese] {
        for size in SIZES {
            let mut all = String::new();
            for what in ALL {
                let mut model = opened(what, size, language);
                press(&mut model, "end");
                let end = text(&drawn(&model));
                assert_eq!(end.matches('▸').count(), 1, "{end}");
                press(&mut model, "home");
                let home = text(&drawn(&model));
                assert_eq!(home.matches('▸').count(), 1, "{home}");
                all.push_str(&format!("{what:?}\n{home}\n\n"));
            }
            insta::assert_snapshot!(format!("lists-{}x{}-{language:?}", size.0, size.1), all);
        }
    }
}

#[test]
fn before_an_answer_a_list_says_so_and_an_empty_one_says_what_to_do() {
    for what in ALL {
        let mut model = fixtures::model(80, 24, Language::English);
        model.session.as_mut().unwrap().queue = client::queue::Queue::default();
        update::open(&mut model, what);
        if what != ListOf::Queue {
            assert!(text(&drawn(&model)).contains('…'), "{what:?}");
        }
        let answer = match what {
            ListOf::Sessions { .. } => Answer::Sessions(proto::params::session::ListOutput {
                sessions: Vec::new(),
                next: None,
            }),
            ListOf::Processes => Answer::Processes(proto::params::process::ListOutput {
                unchanged: Vec::new(),
                processes: Vec::new(),
                children: Vec::new(),
                change: 0,
            }),
            ListOf::Agents => Answer::Processes(proto::params::process::ListOutput {
                unchanged: Vec::new(),
                processes: Vec::new(),
                children: Vec::new(),
                change: 0,
            }),
            ListOf::Inbox => Answer::Waiting(Vec::new()),
            ListOf::Models => Answer::Models {
                list: proto::params::config::ProviderListOutput {
                    providers: Vec::new(),
                    default_model: None,
                },
                keys: Vec::new(),
            },
            ListOf::Skills => Answer::Skills(proto::params::skill::ListOutput::default()),
            ListOf::Search => Answer::Hits(proto::params::history::SearchOutput::default()),
            ListOf::Turns | ListOf::Queue => {
                let turns = Vec::new();
                let undo = false;
                let output = proto::params::history::CheckpointsOutput { turns, undo };
                Answer::Checkpoints { undo, output }
            }
        };
        update::take(&mut model, answer);
        let shown = text(&drawn(&model));
        assert!(
            shown.contains("ppear")
                || shown.contains("setup")
                || shown.contains("rompt")
                || shown.contains("send"),
            "{shown}"
        );
    }
}

#[test]
fn a_failure_replaces_the_rows_and_a_toast_replaces_the_keys() {
    let mut model = fixtures::model(80, 24, Language::English);
    update::open(&mut model, ListOf::Processes);
    let call = Call::Processes(proto::params::process::ListParams::default());
    let trouble = ErrorReport::new(format!("gone {HOSTILE}"), "start it");
    update::take(&mut model, Answer::Failed { call, trouble });
    let shown = text(&drawn(&model));
    assert_eq!(shown.matches("gone").count(), 2, "{shown}");
    assert!(
        shown.lines().last().unwrap().starts_with("✗ gone"),
        "{shown}"
    );
}

#[test]
fn a_prompt_as_long_as_a_file_is_a_row_like_others() {
    let mut model = fixtures::model(80, 24, Language::English);
    let mut queued = fixtures::queued();
    queued[0].text = "長い prompt\n".repeat(50_000);
    model.session.as_mut().unwrap().queue = client::queue::Queue::new(Seq(9), queued);
    update::open(&mut model, ListOf::Queue);
    let shown = text(&drawn(&model));
    assert!(shown.contains("長い prompt⏎長い prompt⏎"), "{shown}");
}

#[test]
fn a_list_that_is_not_whole_says_so() {
    let mut model = fixtures::model(80, 24, Language::English);
    update::open(&mut model, ListOf::Sessions { here: false });
    let mut list = listed();
    list.next = Some(Pid(1));
    update::take(&mut model, Answer::Sessions(list));
    assert!(text(&drawn(&model)).starts_with("Sessions  the newest 5\n"));
}

#[test]
fn new_records_are_marked_unread_only_if_that_is_known() {
    let mut model = opened(
        ListOf::Sessions { here: false },
        (80, 24),
        Language::English,
    );
    assert!(!text(&drawn(&model)).contains('•'));
    model.seen.insert(id(3), Seq(9));
    model.seen.insert(id(5), Seq(10));
    model.seen.insert(id(4), Seq(1));
    let shown = text(&drawn(&model));
    let unread: Vec<&str> = shown.lines().filter(|row| row.contains('•')).collect();
    assert!(
        matches!(unread[..], [row] if row.contains("parser")),
        "{shown}"
    );
}

#[test]
fn the_mark_is_seen_without_colours() {
    for theme in [Theme::None, Theme::Sixteen, Theme::Dark, Theme::Light] {
        let mut model = opened(
            ListOf::Sessions { here: false },
            (80, 24),
            Language::English,
        );
        model.look.theme = theme;
        let panel = drawn(&model);
        let chosen = panel
            .rows
            .iter()
            .find(|row| row.to_string().starts_with('▸'));
        let chosen = chosen.unwrap();
        assert_eq!(chosen.width(), 80);
        let selected = theme.style(TextRole::Selected);
        let all = chosen.spans.iter().all(|span| {
            span.style.bg == selected.bg && span.style.add_modifier.contains(selected.add_modifier)
        });
        assert!(all, "{theme:?}");
    }
}

#[test]
fn the_cursor_is_after_the_filter_in_cells() {
    let mut model = opened(
        ListOf::Sessions { here: false },
        (40, 12),
        Language::Chinese,
    );
    press(&mut model, "/ 解 析 x");
    let panel = drawn(&model);
    assert_eq!(text(&panel).lines().next(), Some("会话  /解析x"));
    assert_eq!(panel.cursor, Some((0, 12)));
    assert!(text(&panel).contains("没有匹配项"));
    update::paste(&mut model, &"漫长的".repeat(30));
    let panel = drawn(&model);
    assert!(panel.cursor.is_some_and(|(_, column)| column < 40));
    press(&mut model, "esc esc");
    assert_eq!(drawn(&model).cursor, None);
}

fn record(kind: &str, data: &serde_json::Value) -> DecodedEvent {
    Record {
        seq: Some(Seq(1)),
        session: Pid(2),
        at: proto::Stamp(0),
        turn: Some(1),
        kind: kind.to_owned(),
        data: serde_json::value::to_raw_value(data).unwrap(),
    }
    .into()
}

#[test]
fn a_session_shows_its_last_messages() {
    for size in [(80, 24), (120, 24)] {
        let mut model = opened(ListOf::Sessions { here: false }, size, Language::English);
        let asked = serde_json::json!({"item": "m1.1", "text": format!("please {HOSTILE}")});
        let said = serde_json::json!({
            "item": "m1.2", "text": "one\ntwo\nthe last words", "finish": "stop",
        });
        let events = vec![
            record("message.user", &asked),
            record("message.assistant", &said),
        ];
        let session = id(2).to_string();
        update::take(&mut model, Answer::Preview { session, events });
        let shown = text(&drawn(&model));
        for words in [
            "› please",
            "the last words",
            "waiting: approval · Bash wants",
            "42k tokens",
        ] {
            assert!(shown.contains(words), "{words} in\n{shown}");
        }
    }
}

#[test]
fn an_exited_session_has_no_cause_beside_its_exit_code() {
    let mut model = opened(
        ListOf::Sessions { here: false },
        (80, 24),
        Language::English,
    );
    if let Some(Dialog::List(dialog)) = &mut model.dialog
        && let Content::Sessions(sessions) = &mut dialog.content
    {
        for session in sessions {
            "exit".clone_into(&mut session.cause);
        }
    }
    press(&mut model, "end");
    let shown = text(&drawn(&model));
    assert!(shown.contains("\nexited 0\n"), "{shown}");
}

#[test]
fn a_rewind_shows_its_effect_on_files_beforehand() {
    let mut model = opened(ListOf::Turns, (80, 24), Language::English);
    press(&mut model, "enter");
    let file = |path: &str, result| RewoundFile {
        path: path.to_owned(),
        result,
        before: FileState::Absent,
        after: FileState::Directory,
    };
    let mut removed = file("/user/ann/code/app/new.rs", RewoundResult::Restored);
    removed.after = FileState::Absent;
    let output = RewindOutput {
        seq: None,
        turn: 2,
        turns: 1,
        files: vec![
            file("/user/ann/code/app/a.rs", RewoundResult::Restored),
            removed,
            file("/tmp/b\u{200b}.rs", RewoundResult::ChangedSince),
        ],
        notes: vec!["`rm` ran: what it removed is not kept".to_owned()],
    };
    let params = RewindParams {
        session: id(4).to_string(),
        to_turn: Some(2),
        dry_run: true,
        ..RewindParams::default()
    };
    update::take(&mut model, Answer::Rewound { params, output });
    insta::assert_snapshot!("restore", text(&drawn(&model)));
    // Beside the list there is less room in a row, and more rows.
    (model.look.columns, model.look.rows) = (100, 30);
    let shown = text(&drawn(&model));
    assert!(
        shown.contains("│ ! `rm` ran: what it removed is not\n"),
        "{shown}"
    );
    assert!(shown.contains("│ hidden.\n"), "{shown}");
    // Changes by others are reported on the smallest screen too.
    (model.look.columns, model.look.rows) = (40, 12);
    let shown = text(&drawn(&model));
    assert!(shown.contains("would be skipped, changed since"), "{shown}");
    assert!(shown.contains("… and 4 more"), "{shown}");
}

/// Rows of the panel, and of the empty and the status row around it, in a window of that many columns.
fn broken(panel: &Panel, columns: usize) -> usize {
    let rows = panel.rows.iter();
    2 + rows
        .map(|row| wrap::cells(row).div_ceil(columns).max(1))
        .sum::<usize>()
}

#[test]
fn a_list_beside_its_details_fits_narrower_and_lower_windows() {
    for what in [ListOf::Turns, ListOf::Queue] {
        let mut model = opened(what, (100, 30), Language::English);
        for press in ["home", "j", "j", "end"] {
            self::press(&mut model, press);
            let panel = drawn(&model);
            for (columns, rows) in [(60, 24), (50, 30), (50, 18), (100, 15)] {
                let needed = broken(&panel, columns);
                assert!(
                    needed <= rows,
                    "{needed} rows at {columns}x{rows}: {}",
                    text(&panel)
                );
            }
        }
    }
}

#[test]
fn rows_without_an_entry_and_a_detail_are_empty() {
    let mut model = opened(ListOf::Turns, (100, 30), Language::English);
    press(&mut model, "home");
    let shown = text(&drawn(&model));
    assert_eq!(shown.matches('│').count(), 4, "{shown}");
    let heights = ["home", "j", "j", "j"].map(|name| {
        press(&mut model, name);
        drawn(&model).rows.len()
    });
    assert_eq!(heights, [8; 4], "rows do not jump when the mark moves");
}

#[test]
fn ages_and_paths_are_short() {
    let language = Language::English;
    for (seconds, said) in [
        (-5, "0s"),
        (45, "45s"),
        (180, "3m"),
        (7_200, "2h"),
        (500_000, "5d"),
    ] {
        let at = proto::Stamp(1_000_000_000);
        let now = proto::Stamp(at.0 + seconds * 1000);
        assert_eq!(words::ago(language, now, at), said);
    }
    let ann = Some(std::path::Path::new("/user/ann"));
    assert_eq!(words::directory("/user/ann", ann), "~");
    assert_eq!(words::directory("/user/anna/x", ann), "/user/anna/x");
    let long = "/user/ann/code/customers/acme/services/billing";
    assert_eq!(words::directory(long, ann), "…/acme/services/billing");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_name_and_no_size_breaks_a_panel(
        name in "\\PC{0,40}|[\\x00-\\x1f\u{7f}-\u{9f}a漢🎉\u{301}\u{200d}\u{202e}]{0,30}",
        columns in 1_u16..140,
        rows in 2_u16..50,
        which in 0_usize..10,
        presses in proptest::collection::vec(0_usize..6, 0..6),
    ) {
        let mut model = opened(ALL[which], (columns, rows), Language::Chinese);
        if let Some(Dialog::List(dialog)) = &mut model.dialog {
            match &mut dialog.content {
                Content::Sessions(sessions) => sessions[0].title = name.clone(),
                Content::Models(offers) => offers[0].name = format!("p/{name}"),
                Content::Turns(turns) => turns.turns[2].prompt = name.clone(),
                Content::Processes(list) => list.processes[0].cause = name.clone(),
                Content::Agents(agents) => agents[0].activity = name.clone(),
                Content::Skills(list) => list.skills[0].description = name.clone(),
                Content::Hits(found) => found.hits[0].text = name.clone(),
                Content::Inbox(_) | Content::Queue | Content::Loading => {}
            }
        }
        for press in presses {
            let names = ["j", "end", "/", "x", "enter", "esc"];
            update::key(&mut model, &key(names[press]).unwrap());
            if !matches!(model.dialog, Some(Dialog::List(_))) {
                return Ok(());
            }
        }
        drawn(&model);
    }
}

#[test]
fn words_that_were_found_are_bold_without_colours_too() {
    let mut model = fixtures::model(80, 24, Language::English);
    model.look.theme = crate::theme::Theme::named("none").unwrap();
    update::search(&mut model, "parser");
    update::take(&mut model, Answer::Hits(fixtures::hits()));
    let panel = drawn(&model);
    let bold = |row: &Line<'static>| -> Vec<String> {
        let spans = row.spans.iter();
        let bold = spans.filter(|span| span.style.add_modifier.contains(Modifier::BOLD));
        bold.map(|span| span.content.to_string()).collect()
    };
    assert!(text(&panel).contains("Messages with parser  3 of 40"));
    let rows: Vec<_> = panel.rows.iter().map(bold).collect();
    assert!(
        rows.iter()
            .any(|row| row.iter().filter(|word| *word == "parser").count() == 2)
    );
}
