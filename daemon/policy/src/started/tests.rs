use super::*;

/// Expects `name`, `name on PATH` and `name in DIR`, one per line; `?` if unknown.
fn check(line: &str, expected: &[&str]) {
    let said = |setting: &Setting, word: &str| match setting {
        Setting::Unchanged => String::new(),
        Setting::To(value) => format!(" {word} {value}"),
        Setting::Unknown => format!(" {word} ?"),
    };
    let found: Vec<String> = started_programs(line)
        .iter()
        .filter(|one| {
            !matches!(
                one.kind,
                StartedKind::ProjectFile { .. } | StartedKind::ImportedModules
            )
        })
        .map(|one| {
            format!(
                "{}{}{}",
                one.name,
                said(&one.path, "on"),
                said(&one.dir, "in")
            )
        })
        .collect();
    assert_eq!(found, expected, "{line}");
}

#[test]
fn every_program_of_a_line_is_found_at_any_position() {
    check(
        "curl -s x | tee f && (wget y; ls) & rg z",
        &["curl", "tee", "wget", "ls", "rg"],
    );
    check("env X=1 curl x", &["env", "curl"]);
    check("sh -c 'curl x; echo y'", &["sh", "curl"]);
    check("find . -exec rm {} ;", &["find", "rm"]);
    check("ls | xargs -n1 grep x", &["ls", "xargs", "grep"]);
    check("time -p make; sudo make install", &["make", "sudo"]);
    check("echo $(git log) `hg id`", &["git", "hg"]);
    check("X=1 curl x", &["curl"]);
    check(
        "if a; then b; fi; for i in 1 2; do c; done",
        &["a", "b", "c"],
    );
    check(
        "timeout 5 nice curl x; curl y",
        &["timeout", "nice", "curl"],
    );
}

#[test]
fn files_that_interpreters_read_count_as_programs() {
    check("sh y.sh", &["sh", "./y.sh"]);
    check(". ./z.sh; source w", &["./z.sh", "./w"]);
    check("bash -eu lib/run.sh a b", &["bash", "lib/run.sh"]);
    check("python3.12 -u p.py data", &["python3.12", "./p.py"]);
    check("cd sub && node x.js", &["node in sub", "./x.js in sub"]);
    check("env X=1 perl -w /opt/a.pl", &["env", "perl", "/opt/a.pl"]);
    check(
        "sh < y.sh; bash -s - <lib/z",
        &["sh", "./y.sh", "bash", "lib/z"],
    );
    // A module may be a file of the directory.
    check(
        "python3 -u -m tools.gen x",
        &["python3", "./tools/gen.py", "./tools/gen/__main__.py"],
    );
    check("python -mx", &["python", "./x.py", "./x/__main__.py"]);
    // Code in the line, or from another command, is no file.
    check("bash -c 'curl x'", &["bash", "curl"]);
    check("perl -pe s/x/y/ f", &["perl"]);
    check("echo x | sh; sh -; bash --version", &["sh", "bash"]);
    check("sh $x; sh *.sh", &["sh"]);
}

#[test]
fn python_may_import_what_lies_where_it_is_started_with_code_or_a_module() {
    let imports = |line: &str| {
        let programs = started_programs(line);
        let mut modules = programs.into_iter();
        modules.find(|one| one.kind == StartedKind::ImportedModules)
    };
    for line in [
        "python3 -c 'import json'",
        "python3 -uc pass",
        "python -m json.tool x",
        "echo x | python3.12",
        "env X=1 pypy3 -c x",
        "python3 -mPIL",
        "python3 -c'import P' --version",
        "python3 -W ignore -Xdev -c x",
        "python3 - <<E\nimport json\nE",
    ] {
        assert!(imports(line).is_some(), "{line}");
    }
    let elsewhere = imports("cd sub && python3 -c x").unwrap();
    assert_eq!(elsewhere.dir, Setting::To("sub".into()));
    for line in [
        "python3 x.py -c",
        "python3 -I -c x",
        "python3 -Pm json.tool",
        "python3 --version",
        "python3 -W ignore x.py -c",
        "ruby -e x",
    ] {
        assert!(imports(line).is_none(), "{line}");
    }
}

#[test]
fn builtins_are_not_programs_unless_launched_by_another_program() {
    check("cd x; echo y; pwd; [ -f z ] && true", &[]);
    check("env echo x", &["env", "echo"]);
    check("command echo x; builtin pwd; command curl", &["curl"]);
    check("xargs sh -c 'echo x; curl y'", &["xargs", "sh", "curl"]);
    check("$x y; `a` b", &["a"]);
    check("curl() { wget x; }; curl y", &["wget"]);
    // Here it is a program after all.
    check("(curl() { wget x; }); curl y", &["wget", "curl"]);
    check("curl y; curl() { wget x; }", &["curl", "wget"]);
    check(
        "curl() { wget x; }; unset -f curl; curl y",
        &["wget", "curl on ?"],
    );
}

#[test]
fn path_set_by_the_line_applies_to_later_commands() {
    check("PATH=/a:/b curl x; wget y", &["curl on /a:/b", "wget"]);
    check("PATH=/a; curl x", &["curl on /a"]);
    check(
        "export PATH=\"$PWD/bin:$PATH\"; curl x",
        &["curl on $PWD/bin:$PATH"],
    );
    check(
        "PATH=/a:$PATH; PATH=/b:$PATH; curl x",
        &["curl on /b:/a:$PATH"],
    );
    check("env PATH=/a curl x", &["env", "curl on /a"]);
    check("env -i curl x", &["env", "curl on ?"]);
    check(
        "PATH=$(pwd) curl x",
        ["pwd", "curl on ?"].as_slice()[1..].as_ref(),
    );
    check("hash -p ./evil curl; curl x", &["curl on ?"]);
    check("source ./activate; curl x", &["./activate", "curl on ?"]);
    check(
        "/usr/bin/curl x; PATH=/a /usr/bin/wget",
        &["/usr/bin/curl", "/usr/bin/wget"],
    );
}

#[test]
fn directory_entered_by_the_line_applies_to_relative_names() {
    check(
        "cd sub && ./run && curl x",
        &["./run in sub", "curl in sub"],
    );
    check("cd a && cd b && ./run", &["./run in a/b"]);
    check("cd /a && ./run", &["./run in /a"]);
    check("cd $x && ./run; /bin/ls", &["./run in ?", "/bin/ls"]);
    check("cd - && ./run", &["./run in ?"]);
    check("env -C sub ./run", &["env", "./run in ?"]);
    check("pushd a && popd && ./run", &["./run in ?"]);
}

/// Expects the files of the project that the runners of a line obey.
fn obeys(line: &str, expected: &[&str]) {
    let started = started_programs(line);
    let files = started
        .iter()
        .filter(|one| one.kind != StartedKind::Program);
    let found: Vec<String> = files
        .map(|one| match &one.dir {
            Setting::Unchanged => one.name.clone(),
            Setting::To(dir) => format!("{} in {dir}", one.name),
            Setting::Unknown => format!("{} in ?", one.name),
        })
        .collect();
    assert_eq!(found, expected, "{line}");
}

#[test]
fn files_that_a_runner_obeys_count_although_the_line_does_not_name_them() {
    let make = ["./GNUmakefile", "./Makefile", "./makefile"];
    obeys("make", &make);
    obeys("make -j4 test", &make);
    obeys("FOO=1 env gmake all", &make);
    obeys("sh -c 'true; make x'", &make);
    obeys("make -f build.mk x", &["./build.mk"]);
    obeys("make -fbuild.mk", &["./build.mk"]);
    obeys("make --file=lib/build.mk", &["lib/build.mk"]);
    obeys(
        "make -C sub",
        &[
            "./GNUmakefile in sub",
            "./Makefile in sub",
            "./makefile in sub",
        ],
    );
    obeys("cd a && make -C b -f c", &["./c in a/b"]);
    obeys("make -C $d -f x", &["./x in ?"]);
    obeys("npm run build", &["./package.json"]);
    obeys("npm --prefix web test", &["./package.json in web"]);
    obeys("npx eslint .", &["./package.json"]);
    obeys("yarn", &["./package.json"]);
    let cargo = ["./Cargo.toml", "./build.rs"];
    let cargo = [&[".cargo/config", ".cargo/config.toml"][..], &cargo].concat();
    obeys("cargo +nightly test", &cargo);
    obeys(
        "cargo build --manifest-path sub/Cargo.toml",
        &["sub/Cargo.toml"],
    );
    obeys("just", &["./.justfile", "./Justfile", "./justfile"]);
    obeys("mvn -f other.xml verify", &["./other.xml"]);
    obeys("ninja -C out", &["./build.ninja in out"]);
    obeys("nox -f own.py", &["./own.py"]);
    let pytest = started_programs("pytest -q tests/a.py");
    assert!(pytest.iter().any(|one| one.name == "tests/a.py"));
    assert!(pytest.iter().any(|one| one.name == "./conftest.py"));
    let module = started_programs("python3 -m pytest");
    assert!(module.iter().any(|one| one.name == "./conftest.py"));
}

#[test]
fn a_runner_that_only_reports_obeys_no_file() {
    for line in [
        "make --version",
        "cargo --version",
        "cargo +nightly help",
        "npm view x",
        "npm ls",
        "pip list",
        "pytest --version",
        "echo make",
        "cat Makefile",
    ] {
        obeys(line, &[]);
    }
}

/// An option may have a value that looks like a quiet word, or be no report at all.
#[test]
fn a_runner_with_options_before_a_quiet_word_obeys_its_files() {
    for line in [
        "go -C env test",
        "npm --prefix help test",
        "pip --log list install .",
        "pytest --help",
        "scons -h",
        "make --version all",
    ] {
        assert!(!started_programs(line).is_empty(), "{line}");
    }
}

#[test]
fn every_runner_of_the_table_has_files_and_is_in_one_row() {
    let mut names = HashSet::new();
    for runner in &tables().project_runners {
        assert!(!runner.files.is_empty(), "{:?}", runner.names);
        for name in &runner.names {
            assert!(names.insert(name), "{name} twice");
            assert!(!started_programs(name).is_empty(), "{name}");
        }
    }
    assert!(names.len() > 30);
}
