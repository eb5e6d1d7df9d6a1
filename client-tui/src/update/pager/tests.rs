use std::time::Instant;

use crossterm::event::KeyCode;
use proptest::prelude::*;
use proto::item::{CallStatus, Display, Finish};
use proto::record::{Changed, FileState};
use proto::{CallId, Pid, SessionId};
use serde_json::json;

use super::*;
use crate::effect::ErrorReport;
use crate::model::session::Session;
use crate::model::transcript::tests::scene;
use crate::model::transcript::{Entry, EntryKind, ToolOutcome, ToolRun, Transcript};
use crate::model::{LaunchContext, Tone, ViewOptions};
use crate::render::Cache;
use crate::render::markdown::Markdown;
use crate::update::scene::say;
use crate::view;

fn model() -> Model {
    let place = LaunchContext {
        home: Some("/user/ann".into()),
        ..LaunchContext::of("/user/ann/code")
    };
    let look = ViewOptions {
        rows: 12,
        ..ViewOptions::default()
    };
    let mut model = Model::new(look, place, Instant::now());
    model.session = Some(Session::new(SessionId::default(), Pid(7)));
    model
}

fn entry(id: u64, kind: EntryKind) -> Entry {
    Entry {
        id,
        seq: Some(Seq(id + 1)),
        turn: None,
        kind,
    }
}

fn notice(id: u64, words: &str) -> Entry {
    let words = words.to_owned();
    let tone = Tone::Info;
    entry(id, EntryKind::Notice { tone, words })
}

fn tool(id: u64, subject: &str, output: &str) -> Entry {
    let tool = ToolRun {
        call: CallId::from("c"),
        tool: "bash".to_owned(),
        subject: subject.to_owned(),
        outside: false,
        by_user: None,
        output: String::new(),
        started: true,
        outcome: Some(ToolOutcome {
            changed: Vec::new(),
            status: CallStatus::Ok,
            duration_ms: 1,
            display: Display::Command {
                exit_code: Some(0),
                signal: None,
                output_bytes: 9,
                output_lines: 1,
                head: String::new(),
                tail: output.to_owned(),
                sandbox_stopped: false,
                stopped: None,
            },
            blocked: None,
            spill: None,
        }),
    };
    entry(id, EntryKind::Tool(Box::new(tool)))
}

/// A pager with this many short lines: `row 0`, `row 1`, …
fn lines(count: usize) -> Model {
    let mut model = model();
    let lines = (0..count).map(|n| format!("row {n}")).collect();
    let title = "Lines".to_owned();
    open(&mut model, PagerContent::Lines { title, lines });
    model
}

fn press(model: &mut Model, names: &[&str]) -> Vec<Effect> {
    let mut effects = Vec::new();
    for name in names {
        let key = keymap::key(name).unwrap_or_else(|| panic!("`{name}`"));
        effects.extend(key_of(model, &key));
    }
    effects
}

fn key_of(model: &mut Model, key: &KeyEvent) -> Vec<Effect> {
    super::key(model, key).unwrap_or_default()
}

fn write(model: &mut Model, words: &str) {
    for letter in words.chars() {
        key_of(model, &KeyEvent::from(KeyCode::Char(letter)));
    }
}

fn pager(model: &Model) -> &Pager {
    match &model.dialog {
        Some(Dialog::Pager(pager)) => pager,
        other => panic!("{other:?}"),
    }
}

fn screen(model: &Model) -> Vec<String> {
    let (width, rows) = (model.look.columns.into(), model.look.rows.into());
    let panel = view::pager::panel(pager(model), model, &mut Cache::default(), width, rows);
    assert_eq!(panel.rows.len(), rows);
    let rows = panel.rows.iter().map(|row| row.to_string());
    rows.map(|row| row.trim_end().to_owned()).collect()
}

/// The first and the last row of text.
fn ends(model: &Model) -> (String, String) {
    let screen = screen(model);
    (screen[1].clone(), screen[screen.len() - 2].clone())
}

fn check(model: &mut Model, key: &str, first: &str, last: &str) {
    press(model, &[key]);
    assert_eq!(ends(model), (first.to_owned(), last.to_owned()), "`{key}`");
}

#[test]
fn every_key_that_moves_does_so() {
    let mut model = lines(200);
    check(&mut model, "down", "row 1", "row 10");
    check(&mut model, "j", "row 2", "row 11");
    check(&mut model, "up", "row 1", "row 10");
    check(&mut model, "k", "row 0", "row 9");
    check(&mut model, "k", "row 0", "row 9");
    check(&mut model, "pagedown", "row 9", "row 18");
    check(&mut model, "space", "row 18", "row 27");
    check(&mut model, "pageup", "row 9", "row 18");
    check(&mut model, "b", "row 0", "row 9");
    check(&mut model, "G", "row 190", "row 199");
    check(&mut model, "down", "row 190", "row 199");
    check(&mut model, "up", "row 189", "row 198");
    check(&mut model, "g", "row 0", "row 9");
    check(&mut model, "end", "row 190", "row 199");
    check(&mut model, "home", "row 0", "row 9");
}

/// Presses a key in a state in which it has an effect, and checks the effect.
fn does(action: Action, name: &str) {
    let row =
        |model: &Model| -> usize { ends(model).0.trim_start_matches("row ").parse().unwrap() };
    let moves = |fits: fn(usize, usize) -> bool| {
        let mut model = lines(200);
        press(&mut model, &["pagedown", "pagedown"]);
        let before = row(&model);
        press(&mut model, &[name]);
        fits(before, row(&model))
    };
    let opens = |keys: &[&str]| {
        let mut model = transcript();
        press(&mut model, keys);
        press(&mut model, &[name]);
        model
    };
    let done = match action {
        Action::ScrollUp => moves(|before, now| now + 1 == before),
        Action::ScrollDown => moves(|before, now| now == before + 1),
        Action::PageUp => moves(|before, now| now + 1 < before),
        Action::PageDown => moves(|before, now| now > before + 1),
        Action::First => moves(|_, now| now == 0),
        Action::Last => moves(|_, now| now == 190),
        Action::NextPart => pager(&opens(&["g"])).selected == Some((0, 20)),
        Action::PreviousPart => pager(&opens(&["g", "tab", "tab"])).selected == Some((0, 20)),
        Action::OpenOne => {
            let model = opens(&["g", "tab"]);
            pager(&model).is_open((0, 20)) && !pager(&model).is_open((0, 22))
        }
        Action::OpenAll => {
            let model = opens(&[]);
            pager(&model).is_open((0, 20)) && pager(&model).is_open((0, 22))
        }
        Action::Raw => pager(&opens(&[])).raw,
        Action::Search => {
            let mut model = opens(&["g"]);
            write(&mut model, "between");
            press(&mut model, &["enter"]);
            has(&model, "between") && !has(&model, "note 0")
        }
        Action::SearchNext => {
            let mut model = lines(200);
            press(&mut model, &["/"]);
            write(&mut model, "row 15");
            press(&mut model, &["enter", name]);
            has(&model, "row 150")
        }
        Action::Close => opens(&[]).dialog.is_none(),
        other => panic!("{other:?} has a key in what is read, and no script"),
    };
    assert!(done, "`{name}`");
}

#[test]
fn every_key_of_the_table_does_what_it_says() {
    let rows = keymap::BINDINGS.iter();
    for row in rows.filter(|row| row.context == Context::Pager) {
        for name in row.keys {
            does(row.action, name);
        }
    }
}

#[test]
fn the_wheel_moves_it() {
    let mut model = lines(200);
    wheel(&mut model, 3);
    wheel(&mut model, -1);
    assert_eq!(ends(&model).0, "row 2");
}

#[test]
fn esc_and_q_close_it_and_other_keys_are_for_everywhere() {
    for name in ["esc", "q"] {
        let mut model = lines(3);
        press(&mut model, &[name]);
        assert!(model.dialog.is_none(), "`{name}`");
    }
    let mut model = lines(3);
    let key = keymap::key("ctrl-c").unwrap();
    assert_eq!(super::key(&mut model, &key), None);
    assert!(model.dialog.is_some());
}

#[test]
fn the_position_is_in_the_bottom_row() {
    let mut model = lines(200);
    press(&mut model, &["pagedown"]);
    let last = screen(&model).pop().unwrap();
    assert!(last.starts_with("10–19 of 200 · 9 %"), "{last}");
    assert!(last.ends_with("Esc close · / search"), "{last}");
    assert!(screen(&lines(0))[11].starts_with("nothing to show"));
    assert!(screen(&lines(3))[11].starts_with("1–3 of 3 · 100 %"));
}

#[test]
fn a_search_goes_on_from_match_to_match_and_around() {
    let mut model = lines(200);
    press(&mut model, &["/"]);
    write(&mut model, "ROW 15q");
    press(&mut model, &["backspace"]);
    assert_eq!(screen(&model).pop().unwrap(), "/ROW 15");
    press(&mut model, &["enter"]);
    let found = |model: &Model| pager(model).search.found;
    assert_eq!(found(&model), Some(((0, 0), 15)));
    assert!(screen(&model).contains(&"row 15".to_owned()));
    press(&mut model, &["n"]);
    assert_eq!(found(&model), Some(((0, 2), 150 - 128)));
    assert!(screen(&model).contains(&"row 150".to_owned()));
    press(&mut model, &["n"; 9]);
    assert_eq!(found(&model), Some(((0, 2), 159 - 128)));
    assert_eq!(pager(&model).search.notice, SearchNotice::Nothing);
    press(&mut model, &["n"]);
    assert_eq!(found(&model), Some(((0, 0), 15)));
    assert_eq!(pager(&model).search.notice, SearchNotice::Wrapped);
}

#[test]
fn a_search_without_matches_says_so_and_stays() {
    let mut model = lines(200);
    press(&mut model, &["pagedown", "/"]);
    super::paste(&mut model, "no\nwhere");
    press(&mut model, &["enter"]);
    assert_eq!(screen(&model)[1], "row 9");
    let last = screen(&model).pop().unwrap();
    assert!(last.starts_with("no match for `no where`"), "{last}");
    press(&mut model, &["j"]);
    assert!(!screen(&model).pop().unwrap().contains("not here"));
    // Esc leaves the line for words, not the pager.
    press(&mut model, &["/", "esc"]);
    assert!(model.dialog.is_some());
}

#[test]
fn matches_are_highlighted() {
    let mut model = lines(20);
    press(&mut model, &["/"]);
    write(&mut model, "W 3");
    press(&mut model, &["enter"]);
    let panel = view::pager::panel(pager(&model), &model, &mut Cache::default(), 80, 12);
    let marked: String = panel
        .rows
        .iter()
        .flat_map(|row| &row.spans)
        .filter(|span| {
            span.style
                .add_modifier
                .contains(ratatui::style::Modifier::REVERSED)
        })
        .map(|span| span.content.as_ref())
        .collect();
    assert_eq!(marked, "w 3");
}

fn transcript() -> Model {
    let mut model = model();
    // In the middle of much: no short form shows it.
    let output = "hay\n".repeat(60) + "needle\n" + &"hay\n".repeat(60);
    for id in 0..20 {
        model
            .transcript
            .entries
            .push(notice(id, &format!("note {id}")));
    }
    model.transcript.entries.push(tool(20, "first", &output));
    model.transcript.entries.push(notice(21, "between"));
    model.transcript.entries.push(tool(22, "second", "hay"));
    open(&mut model, PagerContent::Transcript);
    model
}

fn has(model: &Model, words: &str) -> bool {
    screen(model).iter().any(|row| row.contains(words))
}

#[test]
fn the_transcript_begins_at_its_end() {
    let mut model = transcript();
    assert!(has(&model, "second"));
    press(&mut model, &["g"]);
    assert!(has(&model, "note 0") && !has(&model, "second"));
}

#[test]
fn parts_that_open_are_selected_in_turn_and_marked() {
    let mut model = transcript();
    let selected = |model: &Model| pager(model).selected;
    press(&mut model, &["g", "tab"]);
    assert_eq!(selected(&model), Some((0, 20)));
    let marked = |row: &String| row.starts_with('▌') && row.contains("first");
    assert!(screen(&model).iter().any(marked));
    assert!(!screen(&model).contains(&"▌".to_owned()));
    press(&mut model, &["tab"]);
    assert_eq!(selected(&model), Some((0, 22)));
    press(&mut model, &["tab"]);
    assert_eq!(selected(&model), Some((0, 22)));
    press(&mut model, &["shift-tab"]);
    assert_eq!(selected(&model), Some((0, 20)));
}

#[test]
fn enter_and_o_open_the_selected_part_and_a_all() {
    let mut model = transcript();
    press(&mut model, &["g", "tab", "enter"]);
    assert!(pager(&model).is_open((0, 20)) && !pager(&model).is_open((0, 22)));
    press(&mut model, &["o"]);
    assert!(!pager(&model).is_open((0, 20)));
    press(&mut model, &["o", "a"]);
    assert!(pager(&model).is_open((0, 20)) && pager(&model).is_open((0, 22)));
    press(&mut model, &["a"]);
    assert!(!pager(&model).is_open((0, 20)) && !pager(&model).is_open((0, 22)));
}

#[test]
fn a_search_opens_the_part_that_holds_the_words() {
    let mut model = transcript();
    press(&mut model, &["g", "/"]);
    write(&mut model, "needle");
    press(&mut model, &["enter"]);
    assert!(pager(&model).is_open((0, 20)));
    assert!(has(&model, "needle"));
}

#[test]
fn m_shows_answers_as_they_were_written() {
    let mut model = model();
    let mut markdown = Markdown::default();
    markdown.push("some **bold\u{1b}[31m** words");
    markdown.finish();
    let finish = Some(Finish::Stop);
    let kind = EntryKind::Answer {
        text: markdown,
        finish,
        plan: None,
    };
    model.transcript.entries.push(entry(0, kind));
    open(&mut model, PagerContent::Transcript);
    press(&mut model, &["m"]);
    assert!(has(&model, "some **bold** words"));
    assert!(screen(&model)[0].ends_with("raw"));
    press(&mut model, &["m"]);
    assert!(!pager(&model).raw);
}

#[test]
fn tab_goes_from_file_to_file_of_a_diff() {
    let mut model = model();
    let body: String = (0..30).map(|n| format!("+line {n}\n")).collect();
    let diff = format!("--- a\n+++ b\n@@ -1,1 +1,30 @@\n-old\n{body}");
    let diffs = ["one.rs", "two.rs"].map(|path| (path.to_owned(), diff.clone()));
    let title = "Changes".to_owned();
    let diffs = diffs.to_vec();
    open(&mut model, PagerContent::Diff { title, diffs });
    assert_eq!(screen(&model)[1].trim(), "one.rs +30 −1");
    press(&mut model, &["tab", "tab"]);
    assert!(has(&model, "two.rs +30 −1"));
    press(&mut model, &["shift-tab"]);
    assert_eq!(screen(&model)[1], "▌ one.rs +30 −1");
    press(&mut model, &["o"]);
    assert!(has(&model, "two.rs +30 −1"));
}

#[test]
fn tab_goes_from_section_to_section_of_help() {
    let mut model = model();
    open(&mut model, PagerContent::Help);
    press(&mut model, &["tab", "tab"]);
    assert!(has(&model, "Commands"));
    assert!(screen(&model)[0].starts_with("Help"));
}

fn earlier_of(model: &Model) -> Effect {
    let session = model.session.as_ref().unwrap().id.to_string();
    let before = Seq(5);
    Effect::Call(Call::Earlier { session, before })
}

fn event(seq: u64) -> client::DecodedEvent {
    let json = format!(
        r#"{{"seq":{seq},"session":7,"at":"2026-01-01T00:00:00.000Z","turn":1,"kind":"notice","data":{{"level":"info","text":"before {seq}"}}}}"#
    );
    serde_json::from_str::<proto::Event>(&json).unwrap().into()
}

fn answer(model: &mut Model, result: Result<Vec<client::DecodedEvent>, ErrorReport>) {
    let session = model.session.as_ref().unwrap().id.to_string();
    take(model, &session, result);
}

/// A transcript that begins at record 5.
fn late() -> Model {
    late_at(5)
}

fn late_at(first: u64) -> Model {
    let mut model = model();
    for id in first - 1..first + 25 {
        model
            .transcript
            .entries
            .push(notice(id, &format!("note {id}")));
    }
    open(&mut model, PagerContent::Transcript);
    model
}

#[test]
fn at_the_top_earlier_records_are_requested_once() {
    let mut model = late();
    assert_eq!(press(&mut model, &["g"]), [earlier_of(&model)]);
    assert!(press(&mut model, &["k", "g"]).is_empty());
    assert!(screen(&model)[0].ends_with("loading earlier entries…"));
    answer(&mut model, Ok(vec![event(3), event(4)]));
    assert!(!screen(&model)[0].contains("reading"));
    assert_eq!(pager(&model).earlier.first, Some(Seq(3)));
    assert!(has(&model, "note 4"), "{:#?}", screen(&model));
    // Nothing more is there.
    press(&mut model, &["g"]);
    answer(&mut model, Ok(Vec::new()));
    assert!(press(&mut model, &["g"]).is_empty());
}

#[test]
fn earlier_records_are_prepended_and_the_screen_stays() {
    let mut model = late();
    press(&mut model, &["g"]);
    let before = ends(&model);
    answer(&mut model, Ok(vec![event(3), event(4)]));
    assert_eq!(ends(&model), before);
    press(&mut model, &["g"]);
    assert!(has(&model, "before 3"), "{:#?}", screen(&model));
}

#[test]
fn a_failure_to_read_earlier_records_is_reported_once() {
    let mut model = late();
    press(&mut model, &["g"]);
    answer(&mut model, Err(ErrorReport::new("no such session", "")));
    assert_eq!(model.toast.as_ref().unwrap().words, "no such session");
    assert!(press(&mut model, &["g"]).is_empty());
}

#[test]
fn earlier_events_of_another_session_are_not_taken() {
    let mut model = late();
    press(&mut model, &["g"]);
    let session = SessionId::default().to_string();
    let result = Ok(vec![event(3)]);
    take(&mut model, &session, result);
    assert_eq!(pager(&model).earlier.first, None);
    assert!(pager(&model).earlier.asked);
}

#[test]
fn earlier_records_are_dropped_with_their_transcript() {
    let mut model = late();
    press(&mut model, &["g"]);
    answer(&mut model, Ok(vec![event(3), event(4)]));
    model.transcript.reset();
    model.transcript.entries.push(notice(0, "all new"));
    assert!(has(&model, "all new") && !has(&model, "before"));
    press(&mut model, &["g"]);
    assert!(pager(&model).earlier.entries.is_empty());
}

/// A call that begins at one record and ends at another.
fn call(call: &str, begins: u64, ends: u64) -> [client::DecodedEvent; 2] {
    let line = json!({"type": "line", "text": "done"});
    [
        scene::started(begins, call, "bash", &format!("make {call}")),
        scene::finished(ends, call, "ok", &line),
    ]
}

/// The calls of the transcript, with their subjects; a running one ends with `…`.
fn calls(model: &Model) -> Vec<String> {
    let layout = document(pager(model), model);
    let parts = (0..layout.count()).filter_map(|index| layout.part(index));
    let notice = parts.filter_map(|part| match part {
        view::pager::DocumentPart::Entry(_, entry) => match &entry.kind {
            EntryKind::Tool(tool) if tool.outcome.is_some() => Some(tool.subject.clone()),
            EntryKind::Tool(tool) => Some(format!("{}…", tool.subject)),
            _ => None,
        },
        _ => None,
    });
    notice.collect()
}

#[test]
fn a_call_that_two_pages_cut_is_one_call() {
    let [began, ended] = call("a", 3, 8);
    let [last, over] = call("b", 9, 12);
    let mut model = model();
    model.transcript.fold(&over);
    model.transcript.fold(&event(13));
    open(&mut model, PagerContent::Transcript);
    press(&mut model, &["g"]);
    answer(&mut model, Ok(vec![event(7), ended, last, event(10)]));
    assert_eq!(calls(&model), ["", "make b"]);
    press(&mut model, &["g"]);
    answer(&mut model, Ok(vec![event(2), began, event(4)]));
    assert_eq!(calls(&model), ["make a", "make b"]);
}

#[test]
fn a_call_that_never_ended_does_not_run_where_another_turn_has_begun() {
    let [began, _] = call("a", 3, 4);
    let turn = scene::event(
        Some(7),
        "turn.started",
        &json!({"prompt_id": proto::PromptId::default()}),
    );
    let mut model = late_at(9);
    press(&mut model, &["g"]);
    answer(&mut model, Ok(vec![turn, event(8)]));
    press(&mut model, &["g"]);
    answer(&mut model, Ok(vec![began, event(5)]));
    assert_eq!(calls(&model), ["make a"]);
}

proptest! {
    /// However it is cut into pages, it reads as if it had come at once.
    #[test]
    fn pages_make_one_transcript(kinds in prop::collection::vec(0_u8..5, 1..40), cuts in prop::collection::vec(1_usize..8, 1..40)) {
        let events: Vec<_> = kinds.iter().zip(1..).map(|(kind, seq)| {
            let name = format!("c{}", seq % 3);
            match kind {
                0 => scene::event(Some(seq), "turn.started", &json!({"prompt_id": proto::PromptId::default()})),
                1 | 2 => call(&name, seq, seq)[0].clone(),
                3 => call(&name, seq, seq)[1].clone(),
                _ => event(seq),
            }
        }).collect();
        let mut whole = Transcript::default();
        for event in &events {
        whole.fold(event);
    }
        let words = |entry: &Entry| format!("{:?} {:?}", entry.seq, entry.kind);
        let whole: Vec<_> = whole.entries.iter().map(words).collect();
        let mut earlier = crate::model::pager::Earlier::default();
        let (mut rest, mut cuts) = (events.as_slice(), cuts.iter().cycle());
        while !rest.is_empty() {
            let at = rest.len().saturating_sub(*cuts.next().unwrap());
            earlier.take(rest[at..].to_vec(), &Transcript::default());
            rest = &rest[..at];
        }
        let pages: Vec<_> = earlier.entries.iter().map(words).collect();
        prop_assert_eq!(pages, whole);
        let ids: std::collections::HashSet<_> = earlier.entries.iter().map(|entry| entry.id).collect();
        prop_assert_eq!(ids.len(), earlier.entries.len());
    }
}

#[test]
fn a_hundred_thousand_lines_are_laid_out_without_making_them_all() {
    let mut model = lines(100_000);
    let begun = Instant::now();
    press(&mut model, &["G", "pageup", "k", "g", "j", "G"]);
    assert_eq!(ends(&model).1, "row 99999");
    // Making them all takes several times as long, also on a slow machine.
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

/// Changes of two files.
fn changes() -> Model {
    let mut model = model();
    let diffs = vec![("one.rs".to_owned(), "@@ -1 +1 @@\n-a\n+b\n".to_owned()); 2];
    let title = "Changes".to_owned();
    open(&mut model, PagerContent::Diff { title, diffs });
    model
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn whatever_is_pressed_the_rows_fit_the_screen(
        columns in 1_u16..100,
        rows in 1_u16..30,
        keys in prop::collection::vec(0_usize..64, 0..30),
        what in 0..4,
    ) {
        let mut model = match what {
            0 => lines(150),
            1 => transcript(),
            2 => late(),
            _ => changes(),
        };
        model.look.columns = columns;
        model.look.rows = rows;
        let table = keymap::BINDINGS.iter().filter(|row| row.context == Context::Pager);
        let names: Vec<&str> = table.flat_map(|row| row.keys).copied().collect();
        for key in keys {
            // Keys that would close it are left out; a letter is typed into a search.
            let name = names[key % names.len()];
            if !["q", "esc"].contains(&name) {
                press(&mut model, &[name]);
            }
            let panel = view::pager::panel(
                pager(&model),
                &model,
                &mut Cache::default(),
                columns.into(),
                rows.into(),
            );
            prop_assert_eq!(panel.rows.len(), usize::from(rows));
            for row in &panel.rows {
                prop_assert!(row.width() <= usize::from(columns), "{}", row);
            }
        }
    }
}

#[test]
fn changes_by_commands_are_among_the_changes() {
    let mut model = model();
    let mut entry = tool(1, "make", "done");
    if let EntryKind::Tool(tool) = &mut entry.kind {
        let changed = |path: &str, now: FileState| Changed {
            path: path.to_owned(),
            now,
        };
        tool.outcome.as_mut().unwrap().changed = vec![
            changed("/w/made", FileState::Directory),
            changed("/w/gone", FileState::Absent),
        ];
    }
    model.transcript.entries.push(entry);
    say(&mut model, "/diff");
    let rows = screen(&model);
    let screen: Vec<&str> = rows
        .iter()
        .map(|row| row.trim_matches([' ', '▌']))
        .collect();
    assert_eq!(screen[1], "/w/made");
    assert_eq!(screen[2], "changed by make; no diff available");
    assert_eq!(screen[4], "/w/gone");
    assert_eq!(screen[5], "removed by make");
}
