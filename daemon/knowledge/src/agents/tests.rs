//! Definitions that are read, overridden, warned about and left out.

use std::path::Path;

use workspace::{Workspace, WorkspaceOptions};

use super::*;

/// The agents of a project with these files, and of a user with those.
fn found(project: &[(&str, &str)], user: &[(&str, &str)]) -> AgentDefinitions {
    let dir = tempfile::tempdir().expect("a directory");
    let (root, home) = (dir.path().join("project"), dir.path().join("home"));
    let own = home.join("own/agents");
    for dir in [&root, &home, &own] {
        std::fs::create_dir_all(dir).expect("a directory");
    }
    let write = |base: &Path, files: &[(&str, &str)]| {
        for (name, text) in files {
            let path = base.join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(path, text).expect("a file");
        }
    };
    write(&root, project);
    write(&home, user);
    let options = WorkspaceOptions {
        root: root.clone(),
        cwd: root,
        user_home: home.clone(),
        readable: vec![own.clone(), home.join(".claude")],
        ..WorkspaceOptions::default()
    };
    find_agents(&Workspace::open(options).expect("a workspace"), &own)
}

fn one(text: &str) -> Result<AgentDefinition, (u64, String)> {
    parse("file", text).map(|parsed| parsed.agent)
}

const BARE: &str = "---\ndescription: Looks\n---\nLook.\n";

#[test]
fn built_in_agents_are_there_and_explore_only_looks() {
    let found = found(&[], &[]);
    let names: Vec<_> = found.counting().map(|agent| &*agent.name).collect();
    assert_eq!(names, ["explore", "general", "plan", "review"]);
    assert_eq!(found.problems, Vec::<String>::new());
    let explore = found.named("explore").expect("explore");
    let tools = explore.tools.clone().expect("tools");
    assert_eq!(tools, ["read_file", "grep", "glob", "ls"]);
    for name in ["plan", "review"] {
        assert!(found.named(name).expect(name).read_only, "{name}");
    }
    assert!(found.listed().len() < 300, "{}", found.listed());
}

#[test]
fn planner_only_looks_and_is_no_agent() {
    let planner = planner_definition();
    assert_eq!((&*planner.name, planner.read_only), ("planner", true));
    let tools = planner.tools.expect("tools");
    assert_eq!(tools, ["read_file", "grep", "glob", "ls"]);
    assert!(planner.body.contains("<last-answer>"), "{}", planner.body);
    assert!(planner.body.contains("<conversation>"), "{}", planner.body);
    assert_eq!(found(&[], &[]).named("planner"), None);
}

#[test]
fn project_counts_before_user_and_user_before_program() {
    let project = [(".claude/agents/look.md", BARE)];
    let user = [
        (".claude/agents/look.md", BARE),
        ("own/agents/explore.md", BARE),
    ];
    let found = found(&project, &user);
    let look = found.named("look").expect("look");
    assert_eq!(look.source, CommandSource::Project);
    assert_eq!(look.file.as_deref(), Some(".claude/agents/look.md"));
    let hidden = found.agents.iter().filter(|it| it.hidden_by.is_some());
    assert_eq!(hidden.count(), 2);
    let explore = found.named("explore").expect("explore");
    assert_eq!(
        (explore.source, &explore.tools),
        (CommandSource::User, &None)
    );
}

#[test]
fn file_of_claude_is_read_as_it_is() {
    let text = "---\nname: code-reviewer\ndescription: Use this agent when: the user asks.\\n\\n<example>\\nContext: x\ntools: Read, Grep, Bash\nmodel: sonnet\ncolor: blue\n---\n\nYou review.\n";
    let agent = one(text).expect("an agent");
    assert_eq!(agent.name, "code-reviewer");
    assert!(
        agent
            .description
            .starts_with("Use this agent when: the user asks.")
    );
    assert_eq!(agent.tools.expect("tools"), ["Read", "Grep", "Bash"]);
    assert_eq!((agent.model, &*agent.body), (None, "You review."));
}

/// Files as public projects have them load without a change and without a word.
#[test]
fn files_of_public_projects_load_unchanged() {
    let project = [
        (
            ".claude/agents/code-reviewer.md",
            include_str!("samples/code-reviewer.md"),
        ),
        (
            ".claude/agents/testing/test-runner.md",
            include_str!("samples/test-runner.md"),
        ),
        (
            ".claude/agents/docs-architect.md",
            include_str!("samples/docs-architect.md"),
        ),
    ];
    let found = found(&project, &[]);
    assert_eq!(found.problems, [""; 0]);
    let agent = |name| found.named(name).expect("an agent");
    let reviewer = agent("code-reviewer");
    let tools = ["Read", "Grep", "Glob", "Bash"].map(str::to_owned);
    assert_eq!(reviewer.tools.as_deref(), Some(&tools[..]));
    assert!(reviewer.body.ends_with("(consider improving)"));
    let runner = agent("test-runner");
    assert_eq!(runner.tools.as_ref().map(Vec::len), Some(10));
    assert!(
        runner
            .description
            .starts_with("Use this agent when you need")
    );
    let architect = agent("docs-architect");
    assert_eq!(
        (architect.tools.clone(), architect.max_steps),
        (None, Some(20))
    );
    assert_eq!(architect.without, ["Bash", "Write"]);
    assert!(
        architect
            .description
            .starts_with("Creates technical documentation")
    );
    assert!(architect.body.ends_with("one page on its purpose."));
    for agent in [reviewer, runner, architect] {
        assert_eq!(agent.model, None, "{}: that of the parent", agent.name);
    }
}

#[test]
fn all_fields_are_read() {
    let text = "---\nname: n\ndescription: |\n  Does\n  it\ntools: [a, b]\ndisallowedTools: c, d\nmodel: p/m\neffort: low\nmax_steps: 3\nread_only: true\nisolation: worktree\nmcpServers: [good, other]\n---\nB";
    let agent = one(text).expect("an agent");
    assert_eq!(agent.description, "Does it");
    assert_eq!(agent.tools.expect("tools"), ["a", "b"]);
    assert_eq!(agent.without, ["c", "d"]);
    assert_eq!(agent.model.as_deref(), Some("p/m"));
    assert_eq!(agent.effort.as_deref(), Some("low"));
    assert_eq!((agent.max_steps, agent.read_only), (Some(3), true));
    assert!(agent.worktree);
    assert_eq!(agent.mcp_servers, ["good", "other"]);
    let all = one("---\ndescription: d\ntools: '*'\n---\nB").expect("an agent");
    assert_eq!((&*all.name, all.tools), ("file", None));
}

const YAML: &str = "name: n\ndescription: |\n  Does\n  it\ntools: [a, b]\ndisallowedTools: c, d\nmodels:\n  provider: p\n  preferred: m\neffort: low\nmax_steps: 3\nread_only: true\nisolation: worktree\n";

#[test]
fn definition_in_yaml_gives_the_same_fields() {
    let yaml = [
        (".reasonix/agents/apart/agent.yaml", YAML),
        (".reasonix/agents/apart/instructions.md", "B\n"),
    ];
    let text = format!("---\n{YAML}---\nB");
    let markdown = [(".reasonix/agents/apart.md", &*text)];
    let (of_yaml, of_markdown) = (found(&yaml, &[]), found(&markdown, &[]));
    assert_eq!((of_yaml.problems, of_markdown.problems), (vec![], vec![]));
    let named = |agents: &[AgentDefinition]| {
        let agent = agents.iter().find(|agent| agent.name == "n");
        agent.expect("the agent").clone()
    };
    let (of_yaml, of_markdown) = (named(&of_yaml.agents), named(&of_markdown.agents));
    assert_eq!(of_yaml.model.as_deref(), Some("p/m"));
    assert_eq!(
        of_yaml.file.as_deref(),
        Some(".reasonix/agents/apart/agent.yaml")
    );
    assert_eq!((of_yaml.tools_line, of_markdown.tools_line), (5, 6));
    let same = AgentDefinition {
        file: of_markdown.file.clone(),
        tools_line: of_markdown.tools_line,
        fallback_line: of_markdown.fallback_line,
        ..of_yaml
    };
    assert_eq!(same, of_markdown);
}

#[test]
fn unknown_keys_of_a_definition_in_yaml_are_warned_about_with_their_lines() {
    let yaml = "# A reviewer.\ndescription: d\nmodels:\n  preferred: m\n  # Not here.\n  fallback: x\n  limits:\n    provider: 3\ncontext_budget: 9\nmax_steps: 4\n";
    let project = [
        (".claude/agents/looks/agent.yml", yaml),
        (".claude/agents/looks/instructions.md", "Look.\n"),
        // What is beside it is no agent.
        (".claude/agents/looks/NOTES.md", "Notes.\n"),
        (".claude/agents/looks/more/other.md", BARE),
    ];
    let found = found(&project, &[]);
    let agent = found.named("looks").expect("named like its directory");
    assert_eq!(
        (agent.model.as_deref(), agent.max_steps),
        (Some("m"), Some(4))
    );
    assert_eq!(agent.body, "Look.");
    assert!(found.named("other").is_some() && found.named("NOTES").is_none());
    let place = "`.claude/agents/looks/agent.yml";
    assert_eq!(
        found.problems,
        [
            format!("{place}:6`: the key `models.fallback` has no effect."),
            format!("{place}:7`: the key `models.limits` has no effect."),
            format!("{place}:9`: the key `context_budget` has no effect."),
        ]
    );
}

#[test]
fn definition_in_yaml_that_cannot_be_used_is_told_with_its_line() {
    let check = |yaml: &str, instructions: Option<&str>, problem: &str| {
        let mut project = vec![(".reasonix/agents/a/agent.yaml", yaml)];
        project.extend(instructions.map(|text| (".reasonix/agents/a/instructions.md", text)));
        let found = found(&project, &[]);
        assert!(found.named("a").is_none(), "{yaml}");
        assert_eq!(found.problems.len(), 1, "{:?}", found.problems);
        assert!(found.problems[0].contains(problem), "{:?}", found.problems);
    };
    let file = "`.reasonix/agents/a/agent.yaml";
    let of = |rest: &str| format!("{file}{rest}");
    check(
        "description: d\n",
        None,
        &of("` is left out: there is no `instructions.md` beside it."),
    );
    check(
        "description: d\n",
        Some(" \n"),
        "it says nothing to the model",
    );
    check(
        "description: d\nbudget: 3\n",
        Some("B"),
        &of(":2` is left out: the key `budget` is not supported"),
    );
    check(
        "description: d\ntools: [x\n",
        Some("B"),
        "its YAML is not valid",
    );
    check(
        "description: d\nmodel: a\nmodels:\n  preferred: b\n",
        Some("B"),
        &of(":3` is left out: it has `model` and `models`"),
    );
}

#[test]
fn what_cannot_be_done_is_refused_with_its_line() {
    let cases = [
        (
            "---\nname: a\ndescription: d\nisolation: container\n---\nB",
            4,
            "`isolation: container` is not known: write `worktree` or `none`",
        ),
        (
            "---\nname: a\ndescription: d\nmcp_servers:\n  - x:\n      command: sh\n---\nB",
            4,
            "names of configured servers",
        ),
        ("---\ndescription: d\nbudget: 1\n---\nB", 3, "budget"),
        ("---\nname: a b\ndescription: d\n---\nB", 2, "name"),
        ("---\nname: a\n---\nB", 1, "description"),
        ("---\nname: a\ndescription: d\n---\n \n", 1, "nothing"),
        (
            "---\ndescription: d\ntools: Bash(git:*)\n---\nB",
            3,
            "no whole tool",
        ),
        (
            "---\ndescription: d\nhooks:\n  PreToolUse:\n    - matcher: Bash\n---\nB",
            3,
            "the hook `PreToolUse`",
        ),
        ("---\ndescription: d\nhooks: [x]\n---\nB", 3, "`hooks`"),
    ];
    for (text, line, word) in cases {
        let (at, reason) = one(text).expect_err(text);
        assert_eq!(at, line, "{text}: {reason}");
        assert!(reason.contains(word), "{reason}");
    }
}

/// What public files have beside that: it is taken where the agent gets no more by it than the file says.
#[test]
fn keys_of_claude_that_add_something_are_warned_about_and_never_widen() {
    let text = "---\ndescription: d\ntools: Read, Bash(git:*), Bash(npm test), Task(explore), task\ndisallowedTools: Edit(docs/**)\npermissionMode: bypassPermissions\nskills: [x]\nhooks:\n  PostToolUse:\n    - matcher: Edit\n---\nB";
    let Parsed { agent, warnings } = parse("file", text).expect("an agent");
    assert_eq!(agent.tools.expect("tools"), ["Read", "task"]);
    assert_eq!(agent.without, ["Edit"]);
    assert!(!agent.read_only);
    let said: Vec<_> = warnings
        .iter()
        .map(|(line, text)| {
            format!(
                "{line} {}",
                text.split([':', ',']).next().unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(warnings.len(), 6, "{warnings:?}");
    for (line, word) in [
        (3, "no `Bash` by it"),
        (4, "no `Edit` at all"),
        (5, "`permissionMode` gives no permission"),
        (6, "the key `skills` has no effect"),
        (7, "the key `hooks` has no effect"),
    ] {
        let found = warnings
            .iter()
            .any(|(at, text)| *at == line && text.contains(word));
        assert!(found, "{line} {word}: {said:?}");
    }
    let plans = one("---\ndescription: d\npermissionMode: plan\n---\nB").expect("an agent");
    assert!(plans.read_only, "it only reads there too");
}

#[test]
fn unknown_key_of_models_is_warned_about_in_braces_too() {
    let text = "---\ndescription: d\nmodels: {provider: x, foo: y}\n---\nB";
    let Parsed { agent, warnings } = parse("file", text).expect("an agent");
    assert_eq!(agent.model.as_deref(), Some("x"));
    let expected = (3, "the key `models.foo` has no effect".to_owned());
    assert_eq!(warnings, [expected]);
}

#[test]
fn wrong_number_or_flag_is_answered_with_what_to_write() {
    let read = |line: &str| one(&format!("---\ndescription: d\n{line}\n---\nB"));
    for (key, value) in [
        ("max_steps", "many"),
        ("max_steps", "-1"),
        ("maxTurns", "2.5"),
        ("max_turns", "[3]"),
        ("max_steps", "99999999999999999999999"),
        ("read_only", "maybe"),
        ("read_only", "7"),
    ] {
        let (line, reason) = read(&format!("{key}: {value}")).expect_err(value);
        assert_eq!(line, 3, "{reason}");
        let example = match key {
            "read_only" => {
                "must be `true` or `false`: write, for example, `read_only: true`".into()
            }
            key => format!("must be a whole number from 0: write, for example, `{key}: 20`"),
        };
        assert_eq!(reason, format!("`{key}` {example}"));
    }
    assert_eq!(read("maxTurns: '7'").expect("quoted").max_steps, Some(7));
    assert!(read("read_only: yes").expect("a yes").read_only);
    assert!(!read("read_only: 'off'").expect("a no").read_only);
}

#[test]
fn bad_file_is_told_with_its_line_and_unknown_keys_too() {
    let project = [
        (
            ".reasonix/agents/bad.md",
            "---\nname: bad\nbudget: 3\ndescription: d\n---\nB",
        ),
        (
            ".reasonix/agents/odd.md",
            "---\ndescription: d\nmood: good\n---\nB",
        ),
    ];
    let found = found(&project, &[]);
    assert!(found.named("bad").is_none());
    assert!(found.named("odd").is_some());
    let problems = &found.problems;
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].starts_with("`.reasonix/agents/bad.md:3` is left out"),
        "{problems:?}"
    );
    assert!(
        problems[1].starts_with("`.reasonix/agents/odd.md:3`: the key `mood`"),
        "{problems:?}"
    );
}

#[test]
fn list_in_the_prefix_is_bounded() {
    let long = "x".repeat(4_000);
    let text = format!("---\ndescription: {long}\n---\nB");
    let names: Vec<_> = (0..100)
        .map(|at| format!(".claude/agents/a{at}.md"))
        .collect();
    let files: Vec<_> = names.iter().map(|name| (&**name, &*text)).collect();
    let listed = found(&files, &[]).listed();
    assert!(listed.len() < LIST_BYTES_MAX + 40, "{}", listed.len());
    assert!(listed.contains("more"));
}

fn with_fallback(fallback: &str) -> String {
    format!("---\ndescription: d\nfallback: {fallback}\n---\nWork.\n")
}

#[test]
fn fallback_is_read_and_one_that_does_not_exist_is_reported_with_its_line() {
    let (to_explore, to_none) = (with_fallback("explore"), with_fallback("nobody"));
    let project = [
        (".reasonix/agents/one.md", &*to_explore),
        (".reasonix/agents/two.md", &*to_none),
    ];
    let found = found(&project, &[]);
    let fallback = |name| found.named(name).expect(name).fallback.as_deref();
    assert_eq!((fallback("one"), fallback("two")), (Some("explore"), None));
    assert_eq!(
        found.problems,
        ["`.reasonix/agents/two.md:3`: there is no agent `nobody`, so the agent has no fallback."]
    );
}

#[test]
fn agents_whose_fallbacks_form_a_cycle_are_left_out_with_file_and_line() {
    let (one, two, three) = (
        with_fallback("two"),
        with_fallback("three"),
        with_fallback("one"),
    );
    let (own, outside) = (with_fallback("alone"), with_fallback("two"));
    let project = [
        (".reasonix/agents/one.md", &*one),
        (".reasonix/agents/two.md", &*two),
        (".reasonix/agents/three.md", &*three),
        (".reasonix/agents/alone.md", &*own),
        (".reasonix/agents/outside.md", &*outside),
    ];
    let found = found(&project, &[]);
    for name in ["one", "two", "three", "alone"] {
        assert!(found.named(name).is_none(), "{name}");
    }
    assert_eq!(found.problems.len(), 5, "{:?}", found.problems);
    assert!(
        found.problems.contains(
            &"`.reasonix/agents/alone.md:3` is left out: its fallbacks lead back to it: `alone` → `alone`."
                .to_owned()
        ),
        "{:?}",
        found.problems
    );
    let of_one = found
        .problems
        .iter()
        .find(|problem| problem.contains("/one.md"));
    let of_one = of_one.expect("a problem of `one`");
    assert!(
        of_one.contains("`one` → `two` → `three` → `one`")
            || of_one.contains("`three` → `one` → `two`"),
        "{of_one}"
    );
    // Its fallback is gone with the cycle.
    assert_eq!(found.named("outside").expect("outside").fallback, None);
}

#[test]
fn user_agent_counts_if_the_project_agent_that_hides_it_is_left_out() {
    let (own, plain) = (with_fallback("look"), BARE);
    let project = [(".reasonix/agents/look.md", &*own)];
    let user = [("own/agents/look.md", plain)];
    let found = found(&project, &user);
    let look = found.named("look").expect("the user's");
    assert_eq!((look.source, &look.hidden_by), (CommandSource::User, &None));
}
