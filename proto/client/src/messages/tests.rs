use std::path::Path;

use super::{
    Language, Message, daemon, failures, fill, health, library, session_failures, settings, trace,
    transcript,
};

/// The places of values, in order of their numbers.
fn places(words: &str) -> Vec<String> {
    let mut found: Vec<String> = (0..10)
        .map(|n| format!("{{{n}}}"))
        .filter(|place| words.contains(place.as_str()))
        .collect();
    found.sort();
    found
}

fn complete<M: Message + std::fmt::Debug>(all: &[M]) {
    for message in all {
        let (english, chinese) = (message.english(), message.chinese());
        assert!(!english.is_empty() && !chinese.is_empty(), "{message:?}");
        assert_eq!(places(english), places(chinese), "{message:?}");
    }
}

#[test]
fn every_message_has_both_languages_with_the_same_values() {
    complete(transcript::Msg::ALL);
    complete(trace::Msg::ALL);
    complete(daemon::Msg::ALL);
    complete(failures::Msg::ALL);
    complete(session_failures::Msg::ALL);
    complete(health::Msg::ALL);
    complete(library::Msg::ALL);
    complete(settings::Msg::ALL);
    complete(crate::form::Msg::ALL);
    complete(crate::server_state::Msg::ALL);
    complete(crate::form::lines::Msg::ALL);
}

#[test]
fn no_sentence_that_comes_as_text_has_two_rows() {
    fn english<M: Message + 'static>(rows: &'static [M]) -> impl Iterator<Item = &'static str> {
        rows.iter().copied().map(Message::english)
    }
    let rows = english(daemon::Msg::ALL)
        .chain(english(failures::Msg::ALL))
        .chain(english(session_failures::Msg::ALL))
        .chain(english(health::Msg::ALL))
        .chain(english(library::Msg::ALL))
        .chain(english(settings::Msg::ALL));
    let mut seen = std::collections::HashSet::new();
    let twice: Vec<_> = rows.filter(|sentence| !seen.insert(*sentence)).collect();
    assert!(twice.is_empty(), "more than one row: {twice:#?}");
}

#[test]
fn sentences_of_the_daemon_are_translated_with_their_values() {
    let chinese = |text| Language::Chinese.translate(text).into_owned();
    assert_eq!(
        chinese("the call was written as text, not made as a tool call"),
        "该调用写在回答的文字中，而不是作为工具调用发出"
    );
    assert_eq!(chinese("always asked: `forget`"), "始终询问：`forget`");
    assert_eq!(
        chinese(
            "always asked: `/w/.git` is a config file of the agent, its repository, an editor or a shell"
        ),
        "始终询问：`/w/.git` 是代理、仓库、编辑器或 shell 的配置文件"
    );
    assert_eq!(
        chinese(
            "no rule allows it: the value of `$X` is only known at run time; the sandbox cannot protect all denied paths"
        ),
        "没有规则允许：`$X` 的值要到运行时才知道；沙箱无法保护所有禁止访问的路径"
    );
    // A name is not a sentence.
    assert_eq!(chinese("always asked: `rewind`"), "始终询问：`rewind`");
    // A rule of the user's, and what this build does not know, come as they are.
    for text in ["Bash(rm:*)", "of the future", "", "always asked: ``"] {
        assert_eq!(chinese(text), text);
    }
    assert_eq!(Language::English.translate("rewind"), "rewind");
}

#[test]
fn what_holds_commands_is_translated_part_by_part() {
    let commands = [
        "not known yet: no command was started",
        "process namespace (bubblewrap); processes limited by kernel.pid_max; \
         bubblewrap (files, processes, network); Landlock ABI 6; seccomp; socket broker",
        "process namespace (direct); processes not limited; partial sandbox: \
         direct (files, processes, network); seccomp; only known Unix sockets are hidden: the \
         kernel does not let connections be brokered (seccomp user notification)",
        "subreaper and sweep (no process namespace: bubblewrap (`bwrap`) is not installed); what a \
         killed helper leaves may not be found; processes not limited; no sandbox: the mounts have \
         no effect; it is switched off",
        "process group; no sandbox: there is none for this system",
    ];
    let memory = [
        "memory not limited",
        "memory of a command limited to 17 MB by a control group",
        "memory of a command limited to 17 MB by a watchdog (no control group: there is none that \
         this user may write)",
    ];
    for commands in commands {
        for memory in memory {
            let said = format!("file tools: workspace only; commands: {commands}; {memory}");
            let translated = Language::Chinese.translate(&said);
            // Names of layers, programs and settings are left.
            let names = [
                "bubblewrap",
                "bwrap",
                "direct",
                "kernel.pid_max",
                "Landlock ABI",
                "seccomp",
                "Unix",
                "MB",
            ];
            let left = names
                .iter()
                .fold(translated.into_owned(), |left, name| left.replace(name, ""));
            let is_english = left.contains(|c: char| c.is_ascii_alphabetic());
            assert!(!is_english, "{said}\n{left}");
        }
    }
}

#[test]
fn problems_in_a_config_file_are_translated_behind_their_place() {
    for (said, chinese) in [
        (
            "/h/config.toml:1: unknown setting `nonsense`; it is ignored",
            "/h/config.toml:1: 未知设置 `nonsense`；已忽略",
        ),
        (
            "/h/config.toml:2: unknown setting `agent.max_step`; did you mean `agent.max_steps`?; it is ignored",
            "/h/config.toml:2: 未知设置 `agent.max_step`；是否想用 `agent.max_steps`？；已忽略",
        ),
        (
            "/p/reasonix.toml:2: `memory.enabled` is the user's own setting; it is ignored in a project's file",
            "/p/reasonix.toml:2: `memory.enabled` 只能由用户自己设置；项目文件中的值已忽略",
        ),
        (
            "/h/config.toml:4: `agent.max_steps` must be a whole number from 0 to 1000000; 0 counts",
            "/h/config.toml:4: `agent.max_steps` 应为：0 到 1000000 之间的整数；采用 0",
        ),
        (
            "/h/config.toml:7: an entry of `permissions.deny`: `Bash((`: the `)` at its end is missing; until this is fixed, every call that changes something needs approval; it is used as read",
            "/h/config.toml:7: `permissions.deny` 中的一项：`Bash((`：末尾缺少 `)`；修正之前，任何会改动内容的调用都需要批准；仍按读到的内容采用",
        ),
        (
            "/h/config.toml:8: `permissions.mode` must be one of ask, auto, yolo; \"ask\" counts",
            "/h/config.toml:8: `permissions.mode` 应为：以下之一：ask, auto, yolo；采用 \"ask\"",
        ),
        (
            "/h/config.toml:20: `skills.paths` must be a list of paths; [] counts",
            "/h/config.toml:20: `skills.paths` 应为：列表，其元素为路径；采用 []",
        ),
        (
            "/h/config.toml:15: this provider is ignored: missing field `kind` (it may have name, kind)",
            "/h/config.toml:15: 此服务商已忽略：缺少字段 `kind`（可有：name, kind）",
        ),
        (
            "/h/config.toml: cannot be read: x",
            "/h/config.toml: 无法读取：x",
        ),
        (
            "/p/.mcp.json: not trusted yet, so its MCP servers are not used (2): a, b. `reasonix trust` shows what they run, and trusts them.",
            "/p/.mcp.json: 尚未受信任，因此不使用其 MCP 服务器（2 个）：a, b。`reasonix trust` 显示它们运行的内容并可信任它们。",
        ),
        (
            "run: deny rule ``: a rule is `Tool` or `Tool(specifier)`; until this is fixed, every call that changes something needs approval",
            "run：deny 规则 ``：规则的形式是 `Tool` 或 `Tool(specifier)`；修正之前，任何会改动内容的调用都需要批准",
        ),
        (
            "run: deny rule `Read(`: the `)` at its end is missing; until this is fixed, it applies to every call of `Read`",
            "run：deny 规则 `Read(`：末尾缺少 `)`；修正之前，它适用于 `Read` 的所有调用",
        ),
        (
            "run: allow rule `Foo(`: the `)` at its end is missing; it allows nothing",
            "run：allow 规则 `Foo(`：末尾缺少 `)`；它不允许任何调用",
        ),
        (
            "Turn 1: Changes by commands cannot be undone: this is not a git work tree.",
            "第 1 回合：命令所做的改动无法撤回：这里不是 git 工作树。",
        ),
        ("/h/other: what it says", "/h/other: what it says"),
        ("Steps are numbered from 1 to 4.", "步的编号为 1 到 4。"),
        (
            "the value of `$x` is only known at run time, and a deny rule names `rm`",
            "`$x` 的值要到运行时才知道，而有一条拒绝规则涉及 `rm`",
        ),
        (
            "The deny rule `Bash(` cannot be used: the `)` at its end is missing.",
            "无法使用拒绝规则 `Bash(`：末尾缺少 `)`。",
        ),
    ] {
        assert_eq!(Language::Chinese.translate(said), chinese);
        assert_eq!(Language::English.translate(said), said);
    }
}

/// Sources, and the built-in files, as one text, with strings that a backslash continues put together.
fn sources(path: &Path, text: &mut String) {
    if path.is_dir() && !path.ends_with("messages") {
        let mut entries = std::fs::read_dir(path).unwrap();
        entries
            .try_for_each(|entry| entry.map(|entry| sources(&entry.path(), text)))
            .unwrap();
    } else if path.extension().is_some_and(|it| it == "rs" || it == "md") {
        let source = std::fs::read_to_string(path).unwrap();
        let mut pieces = source.split("\\\n");
        text.push_str(pieces.next().unwrap_or_default());
        pieces.for_each(|piece| text.push_str(piece.trim_start()));
    }
}

/// Where the daemon makes sentences for people: the source, the text before them, and the text after them.
const SAID: [(&str, &str, &str); 12] = [
    ("turn/src", "self.notice(", ");\n"),
    ("turn/src/words.rs", "/// For users", ";\n"),
    (
        "turn/src/facts/interactions.rs",
        "pub fn answer_refusal(",
        "pub fn persisted_rule",
    ),
    ("session/src/actor", "text: format!(", ")"),
    (
        "session/src/actor/commands/interactions.rs",
        "const LAST_LEFT",
        ";\n",
    ),
    (
        "session/src/actor/commands/interactions.rs",
        "=> format!(",
        ")",
    ),
    (
        "session/src/actor/commands/interactions.rs",
        "Failure::new(",
        ")\n",
    ),
    (
        "session/src/supervisor/load.rs",
        "opened.repair.map(",
        "});",
    ),
    (
        "session/src/supervisor/model_switch.rs",
        "fn dropped(",
        "\n}\n",
    ),
    (
        "session/src/request/budget/words.rs",
        "pub fn unheld(",
        "\n}\n",
    ),
    ("policy/src/grants.rs", " words: ", ",\n"),
    ("reasonixd/src/wire.rs", "notices.push(", ",\n"),
];

#[test]
fn every_sentence_that_the_daemon_makes_is_translated() {
    let daemon = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../daemon");
    for (path, before, after) in SAID {
        let mut text = String::new();
        sources(&daemon.join(path), &mut text);
        let regions = text.split(before).skip(1);
        let regions = regions.filter_map(|rest| rest.split(after).next());
        let literals = regions.flat_map(|region| region.split('"').skip(1).step_by(2));
        // Words of the wire have no blank.
        let sentences: Vec<_> = literals.filter(|literal| literal.contains(' ')).collect();
        assert!(!sentences.is_empty(), "{path}: nothing after `{before}`");
        for sentence in sentences {
            let said = filled(sentence);
            let translated = Language::Chinese.translate(&said);
            assert_ne!(translated, said, "{path}: no row for {sentence:?}");
        }
    }
}

/// Sources that make failures, and whose sentences go to the model, to programs, or are parts of others.
const NOT_FOR_PEOPLE: [&str; 14] = [
    "calls/hooks.rs",
    "calls/judgement.rs",
    "calls/references.rs",
    "facts/interactions.rs",
    "methods/session.rs",
    "rpc/conn.rs",
    "rpc/dispatch.rs",
    "settings/presets.rs",
    "src/wire.rs",
    "supervisor/agents.rs",
    "tools/src/history.rs",
    "supervisor/agents/",
    "supervisor/delete.rs",
    "methods/mcp.rs",
];

#[test]
fn every_sentence_of_a_source_that_makes_failures_is_translated() {
    let mut files = Vec::new();
    rust_files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../daemon"),
        &mut files,
    );
    let mut seen = 0;
    let mut missing = Vec::new();
    for file in files {
        let name = file.to_string_lossy().into_owned();
        let mut text = String::new();
        sources(&file, &mut text);
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("");
        if !text.contains("Failure::new(") || NOT_FOR_PEOPLE.iter().any(|part| name.contains(part))
        {
            continue;
        }
        let lines = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        let literals = lines.flat_map(|line| line.split('"').skip(1).step_by(2));
        for literal in literals.filter(|literal| is_sentence(literal)) {
            seen += 1;
            let said = filled(literal);
            if Language::Chinese.translate(&said) == said {
                missing.push((name.clone(), literal.to_owned()));
            }
        }
    }
    assert!(seen > 150, "only {seen} sentences are found");
    assert!(missing.is_empty(), "no row for: {missing:#?}");
}

/// All sources of programs below a directory, without tests.
fn rust_files(directory: &Path, to: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        match path.is_dir() {
            true if matches!(&*name, "tests" | "examples" | "testkit" | "target") => {}
            true => rust_files(&path, to),
            false if name.ends_with(".rs") && name != "tests.rs" => to.push(path.clone()),
            false => {}
        }
    }
}

/// Whether a literal is a sentence for people: several words, with a capital at the start and a point at the end.
fn is_sentence(literal: &str) -> bool {
    let starts = literal.starts_with(|first: char| first.is_ascii_uppercase() || first == '`');
    starts && !literal.starts_with("` ") && literal.contains(' ') && literal.ends_with(['.', '?'])
}

/// A sentence with a value wherever it has a place for one.
fn filled(sentence: &str) -> String {
    let (first, rest) = sentence.split_once('{').unwrap_or((sentence, ""));
    let values = rest.split('{').map(|piece| piece.split_once('}'));
    let words: String = values
        .flatten()
        .map(|(_, words)| format!("x{words}"))
        .collect();
    format!("{first}{words}")
}

#[test]
fn every_sentence_that_is_translated_is_still_said() {
    let mut text = String::new();
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    sources(&here.join("../../daemon"), &mut text);
    sources(&here.join("src"), &mut text);
    sources(&here.join("../src"), &mut text);
    still_said(daemon::Msg::ALL, &text);
    still_said(failures::Msg::ALL, &text);
    still_said(session_failures::Msg::ALL, &text);
    still_said(health::Msg::ALL, &text);
    still_said(library::Msg::ALL, &text);
    // Made by serde.
    still_said(settings::Msg::ALL, &format!("{text} missing field"));
}

fn still_said<M: Message + std::fmt::Debug>(rows: &[M], text: &str) {
    let mut stale = Vec::new();
    for message in rows {
        let literals = message.english().split(['{', '}']).step_by(2);
        // Put together by the daemon of parts.
        let parts = literals.flat_map(|literal| {
            let parts = literal.split(". ").flat_map(|part| part.split(" over: "));
            let parts = parts.flat_map(|part| part.split([',', ':', '`']));
            parts.map(|part| part.trim().trim_start_matches("or "))
        });
        for part in parts.map(|part| part.trim_matches([':', ';', ',', ' ', '`', '(', ')', '.'])) {
            let written = part.replace('"', "\\\"");
            if !text.contains(part) && !text.contains(&written) {
                stale.push((message, part));
            }
        }
    }
    assert!(stale.is_empty(), "nobody says these any more: {stale:#?}");
}

#[test]
fn every_kind_and_decision_is_translated() {
    use proto::params::elicitation::ElicitationDecision;
    use proto::params::interaction::{ApprovalDecision, InteractionKind, PlanDecision};
    let kinds = InteractionKind::ALL.map(|kind| format!("{} 3.1", kind.as_str()));
    let decisions = ApprovalDecision::ALL.map(ApprovalDecision::called);
    let plans = PlanDecision::ALL.map(PlanDecision::called);
    let servers = ElicitationDecision::ALL.map(ElicitationDecision::called);
    let decisions = decisions.into_iter().chain(plans).chain(servers);
    let answered = decisions.map(|called| format!("ann answered first: {called}."));
    for said in kinds.into_iter().chain(answered) {
        let translated = Language::Chinese.translate(&said);
        let is_english = |c: char| c.is_ascii_alphabetic();
        assert!(
            !translated.replace("ann", "").contains(is_english),
            "{translated}"
        );
    }
}

#[test]
fn values_stand_where_their_numbers_are() {
    assert_eq!(fill("{1} of {0}", &["ten", "one"]), "one of ten");
    assert_eq!(fill("{0}", &["{1}"]), "{1}");
    assert_eq!(fill("a {b} {9}", &["x"]), "a {b} {9}");
}

#[test]
fn a_language_is_found_by_a_locale() {
    assert_eq!(Language::named("zh_CN.UTF-8"), Some(Language::Chinese));
    assert_eq!(Language::named("zh-Hans"), Some(Language::Chinese));
    assert_eq!(Language::named("en"), Some(Language::English));
    assert_eq!(Language::named("fr_FR"), None);
}

#[test]
fn one_of_a_thing_is_said_in_the_singular() {
    use crate::transcript::Status;
    use crate::transcript::words::status;
    use proto::GoalId;
    use proto::record::{GaveUpReason, GoalEnded, GoalOutcome, SessionGaveUp};
    let say = |language, count| {
        let ended = GoalEnded {
            goal: GoalId::new(),
            outcome: GoalOutcome::Complete,
            reason: "done".to_owned(),
            turns: count,
            by: None,
            request_id: None,
        };
        let gave_up = SessionGaveUp {
            reason: GaveUpReason::TooMany,
            restarts: count,
            detail: String::new(),
        };
        [
            status(language, &Status::GoalEnded(ended)),
            status(language, &Status::GaveUp(gave_up)),
        ]
    };
    assert_eq!(
        say(Language::English, 1),
        [
            "goal complete after 1 turn: done",
            "gave up after 1 restart: too many restarts in a short time"
        ]
    );
    assert_eq!(
        say(Language::English, 3)[0],
        "goal complete after 3 turns: done"
    );
    assert_eq!(
        say(Language::Chinese, 1),
        [
            "目标已完成，共 1 个回合：done",
            "1 次重启后放弃：短时间内重启过多"
        ]
    );
}

#[test]
fn what_a_budget_says_is_translated_whole() {
    for (said, chinese) in [
        (
            "The session's budget is now used up: 3053 of 1 tokens. Raise it, for example with `reasonix budget 159 --tokens 6106` (0: no limit).",
            "会话的预算已用尽：已用 3053 个词元，上限 1。可提高它，例如用 `reasonix budget 159 --tokens 6106`（0：不限）。",
        ),
        (
            "The day's budget is nearly used up: $0.90 of $1.00. It resets at midnight. To raise it, run for example `reasonix config set budget.day.usd 2.00` (0: no limit).",
            "当天的预算即将用尽：已用 $0.90，上限 $1.00。它在午夜重置。如需提高，可运行例如 `reasonix config set budget.day.usd 2.00`（0：不限）。",
        ),
        (
            "The session's budget is used up: 2974 of 1 tokens",
            "会话的预算已用尽：已用 2974 个词元，上限 1",
        ),
        (
            "Session 158 has work to do, so it was not deleted.",
            "会话 158 还有工作要做，因此没有删除。",
        ),
    ] {
        assert_eq!(Language::Chinese.translate(said), chinese);
    }
}

#[test]
fn long_waits_are_in_minutes_and_hours() {
    use crate::transcript::Status;
    use crate::transcript::words::status;

    let wait = |language, ms| {
        let cause = "`acme` rate-limited the request (429): slow down".to_owned();
        let retry = Status::Retry {
            in_ms: Some(ms),
            cause,
        };
        status(language, &retry)
    };
    for (ms, english) in [
        (1_500, "1.5 s"),
        (59_900, "59.9 s"),
        (59_999, "1 min 0 s"),
        (249_100, "4 min 10 s"),
        (7_500_000, "2 h 5 min"),
    ] {
        let words =
            format!("retrying in {english}: `acme` rate-limited the request (429): slow down");
        assert_eq!(wait(Language::English, ms), words);
    }
    assert_eq!(
        wait(Language::Chinese, 249_100),
        "4 分 10 秒后重试：`acme` 限制了请求频率（429）：slow down"
    );
}
