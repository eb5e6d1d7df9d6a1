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
    check("bash -oc errexit 'curl x'", &["bash", "curl"]);
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
    check(
        "bash --version; python3 -V; node -v",
        &["bash", "python3", "node"],
    );
    check("sh <<'E'\ncurl x\nE", &["sh", "curl"]);
}

/// Whether the caller has to take something that the line starts for the session's own.
fn is_unclear(line: &str) -> bool {
    let mut programs = started_programs(line).into_iter();
    programs.any(|one| one.path == Setting::Unknown)
}

#[test]
fn program_that_depends_on_the_run_is_unclear() {
    for line in [
        // Another file for each process.
        "/proc/self/cwd/.venv/bin/curl",
        "/proc/thread-self/cwd/.venv/bin/curl",
        "/proc/$$/cwd/x",
        "cd /proc/12/root && ./x",
        "//proc/./self/fd/3",
        "/usr/../proc/self/cwd/x",
        "../dev/fd/3",
        "sh /proc/self/cwd/x.sh",
        "sh /dev/stdin <x.sh",
        "sh /dev/fd/3 3<x.sh",
        ". /proc/self/cwd/x.sh",
        "cd /proc/self/cwd && ./x",
        "cd / && proc/self/cwd/x",
        "PATH=/proc/self/cwd/bin curl",
        "LD_PRELOAD=/proc/self/cwd/x.so curl",
        // The shell's own directory, and other expansions.
        "$PWD/.venv/bin/curl",
        "\"$PWD\"/x.sh",
        "${PWD}/x.sh",
        "~+/x",
        "~-/x",
        "A=.venv/bin/curl; $A",
        "\"$EDITOR\" x",
        "env $A x",
        "f() { \"$@\"; }; f curl",
        "$(cat x) y",
        "{./x,y}",
        ".ve?v/bin/curl",
        "./*.sh",
        "./[x].sh",
        "sh $x",
        "sh *.sh",
        "python3 \"$x\"",
        "find . -exec {} ;",
        "ls | xargs sh",
    ] {
        assert!(is_unclear(line), "{line}");
    }
    // A quoted `~` is a file of the directory.
    check("'~/x' y; ~/z", &["./~/x", "~/z"]);
}

#[test]
fn launcher_or_shell_whose_text_is_unknown_is_unclear() {
    for line in [
        "env -S '.venv/bin/curl a'",
        "env -iS '.venv/bin/curl a'",
        "env -S.venv/bin/curl",
        "env --split-string='.venv/bin/curl a'",
        "env --split-string '.venv/bin/curl a'",
        "timeout $T .venv/bin/curl",
        "parallel ./x ::: a",
        "cat x.sh | sh",
        "echo ./x | sh",
        "cat x.sh | bash -s a",
        "cat x.sh | env sh -eu",
        "cat x.sh | sh -",
        "cat x.sh | sh -v",
        "{ sh; } <x.sh",
        "exec 3<x.sh; sh <&3",
        "cat x.py | python3",
        "cat x.py | python3 -",
        "cat x.js | node",
        "cat x.pl | perl",
        "cat x.rb | ruby -w",
        "$(cat x.sh)",
        "bash -c \"$(cat x.sh)\"",
        "bash -c \"ls $x; .venv/bin/curl\"",
        "eval \"$(cat x.sh)\"",
        "eval \"$x\"",
        "source <(cat x.sh)",
        "bash <(cat x.sh)",
        "sh <<E\n$(cat x.sh)\nE",
        "bash <<<\"$x\"",
        "python3 -c \"$(cat x.py)\"",
        "perl -e \"$x\"",
        "awk \"$(cat x.awk)\"",
        "trap \"$x\" EXIT",
        "xargs -I{} sh -c '{}'",
        "su -c \"$x\"",
        "fish x.fish",
        "./x $[1]",
        "if ./x",
    ] {
        assert!(is_unclear(line), "{line}");
    }
}

/// Expects that what the line starts includes this file.
fn reads(line: &str, file: &str) {
    let programs = started_programs(line);
    let mut scripts = programs
        .iter()
        .filter(|one| one.kind == StartedKind::Script);
    assert!(scripts.any(|one| one.name == file), "{line}: {programs:?}");
}

#[test]
fn value_of_an_option_is_not_the_script() {
    for line in [
        "bash -O extglob y.sh",
        "bash +O extglob y.sh",
        "bash -o pipefail y.sh",
        "bash -euo pipefail y.sh",
        "bash -ox pipefail y.sh",
        "dash -oe nounset y.sh",
        "bash -oO pipefail extglob y.sh",
        "zsh -onounset y.sh",
        "bash --norc -- y.sh",
        "sh - y.sh",
        "bash -s a <y.sh",
        "bash -is <y.sh a",
        "bash --unknown value y.sh",
        "bash --rcfile y.sh -i",
        "bash --init-file y.sh -i",
        "bash --rcfile=y.sh",
        "python3 -W ignore -Xdev y.sh",
        "node --title x y.sh",
        "perl -i.e y.sh",
    ] {
        reads(line, "./y.sh");
    }
}

#[test]
fn files_that_options_and_operands_of_interpreters_name_are_found() {
    for (line, file) in [
        ("perl -I. -MFoo -e1", "./."),
        ("perl -I lib x.pl", "./lib"),
        ("perl -MFoo::Bar -e1", "./Foo/Bar.pm"),
        ("perl -Mlib=sub -e1", "./sub"),
        ("perl5.36.0 x.pl", "./x.pl"),
        ("perl <x.pl", "./x.pl"),
        ("awk -f y.awk z", "./y.awk"),
        ("gawk -fy.awk z", "./y.awk"),
        ("gawk -i inc '{}'", "./inc.awk"),
        ("gawk -l ./ext '{}'", "./ext"),
        ("mawk --file=y.awk", "./y.awk"),
        ("nawk -F: -f y.awk", "./y.awk"),
        ("sed -n -f x.sed y", "./x.sed"),
        ("ruby -I. -e1", "./."),
        ("ruby -r./x -e1", "./x.rb"),
        ("ruby -C sub x.rb", "./sub"),
        ("ruby <x.rb", "./x.rb"),
        ("lua5.4 -l x -e1", "./x.lua"),
        ("luajit x.lua", "./x.lua"),
        ("php x.php", "./x.php"),
        ("php -d auto_prepend_file=x.php -r1", "./x.php"),
        ("java J.java", "./J.java"),
        ("java Main", "./Main.class"),
        ("java a.Main", "./a/Main.class"),
        ("java -cp . a.Main", "./."),
        ("java -cp /a:lib Main", "./lib"),
        ("java --class-path=lib Main", "./lib"),
        ("java -jar x.jar", "./x.jar"),
        ("java -javaagent:x.jar=a -version", "./x.jar"),
        ("java @args", "./args"),
        ("java --module a.Main", "./a/Main.class"),
        ("java -Dmap a.Main", "./a/Main.class"),
        ("java -Xcomp a.Main", "./a/Main.class"),
        ("java -splash:x a.Main", "./a/Main.class"),
        ("tclsh8.6 x.tcl", "./x.tcl"),
        ("Rscript x.R", "./x.R"),
        ("R -f x.R", "./x.R"),
        ("deno run -A x.ts", "./x.ts"),
        ("deno run --allow-net x.ts", "./x.ts"),
        ("bun x.ts", "./x.ts"),
        ("bun run x.ts", "./x.ts"),
        ("node --require=./x.js -e1", "./x.js"),
        ("node --import ./x.mjs y.js", "./x.mjs"),
        ("node --loader ./x.mjs y.js", "./x.mjs"),
        ("node -r ./x -e1", "./x.js"),
        ("node --test -r ./x y.js", "./y.js"),
        ("node --require ./x.js y.js", "./y.js"),
        ("python3 <x.py", "./x.py"),
        ("tsx x.ts", "./x.ts"),
    ] {
        reads(line, file);
    }
}

#[test]
fn files_with_commands_of_other_programs_are_found() {
    for (line, file) in [
        ("gdb -batch -x f", "./f"),
        ("gdb -ex run ./app", "./app"),
        ("vim -S f", "./f"),
        ("nvim x -u f", "./f"),
        ("emacs --batch -l f", "./f"),
        ("sqlite3 -init f db", "./f"),
        ("sqlite3 db <f", "./f"),
        ("ed x <f", "./f"),
        ("psql -f f", "./f"),
        ("ssh -F ./cfg host", "./cfg"),
        ("ssh -o ProxyCommand=./x host", "./x"),
        ("scp -S ./x a host:", "./x"),
        ("rsync -e ./x a host:", "./x"),
        ("/lib64/ld-linux-x86-64.so.2 ./x", "./x"),
        ("/lib/ld-linux.so.2 --preload ./y.so /bin/ls", "./y.so"),
        ("git -c core.pager=./x log", "./x"),
        ("git -c 'alias.y=!./x a' y", "./x"),
        ("git fetch --upload-pack ./x", "./x"),
        ("git rebase --exec=./x HEAD~2", "./x"),
        ("tar -xf y --to-command=./x", "./x"),
        ("tar -xf y --to-com ./x", "./x"),
        ("tar xIf ./x y", "./x"),
        ("tar xbfI 20 y ./x", "./x"),
        ("tar xIf \"$x\" y", "$x"),
        ("sort --compress-prog=./x y", "./x"),
        ("sed --fil=./x y", "./x"),
        ("git fetch --upload-p ./x", "./x"),
        ("vim -s f x", "./f"),
        ("vim -e -s -S f", "./f"),
        ("vim -esS f", "./f"),
        ("rg --pre ./x y", "./x"),
    ] {
        reads(line, file);
    }
}

#[test]
fn files_that_variables_name_are_found() {
    for (line, file) in [
        ("LD_PRELOAD=./x.so curl", "./x.so"),
        ("LD_PRELOAD=/a/x.so curl", "/a/x.so"),
        ("LD_LIBRARY_PATH=lib curl", "./lib"),
        ("LD_LIBRARY_PATH=/a: curl", "./."),
        ("LD_AUDIT=x.so curl", "./x.so"),
        ("BASH_ENV=x.sh bash -c ls", "./x.sh"),
        ("ENV=x.sh sh -i", "./x.sh"),
        ("NODE_OPTIONS='--require ./x.js' npm -v", "./x.js"),
        ("NODE_OPTIONS=--import=./x.mjs node -v", "./x.mjs"),
        ("NODE_PATH=lib node -e1", "./lib"),
        ("PYTHONPATH=/a:src python3 -V", "./src"),
        ("PYTHONSTARTUP=x.py python3", "./x.py"),
        ("PERL5LIB=. perl -e1", "./."),
        ("PERL5OPT=-I. perl -e1", "./."),
        ("RUBYOPT=-r./x ruby -e1", "./x.rb"),
        ("RUBYLIB=lib ruby -e1", "./lib"),
        ("CLASSPATH=lib java Main", "./lib"),
        ("JAVA_TOOL_OPTIONS=-javaagent:x.jar java A", "./x.jar"),
        ("_JAVA_OPTIONS=-javaagent:x.jar java A", "./x.jar"),
        ("JDK_JAVA_OPTIONS='-cp x.jar' java A", "./x.jar"),
        ("GIT_SSH_COMMAND='./x -v' git fetch", "./x"),
        ("GIT_SSH=./x git fetch", "./x"),
        ("GIT_EXTERNAL_DIFF=./x git diff", "./x"),
        ("GIT_PAGER=./x git log", "./x"),
        ("PAGER='less -F | ./x' man y", "./x"),
        ("EDITOR=./x git commit", "./x"),
        ("VISUAL=./x crontab -e", "./x"),
        ("GIT_CONFIG_GLOBAL=cfg git log", "./cfg"),
        ("GIT_CONFIG_PARAMETERS=\"'core.pager=./x'\" git log", "./x"),
        ("RUSTC_WRAPPER=./x cargo build", "./x"),
        ("CC=./x make", "./x"),
        ("HOME=sub git log", "./sub"),
        ("export LD_PRELOAD=./x.so; curl", "./x.so"),
        ("LD_PRELOAD=./x.so; export LD_PRELOAD; curl", "./x.so"),
        ("declare -x GIT_PAGER='./x'", "./x"),
        ("env LD_PRELOAD=./x.so curl", "./x.so"),
        ("sudo LD_PRELOAD=./x.so curl", "./x.so"),
        ("env 'BASH_FUNC_ls%%=() { ./x; }' bash -c ls", "./x"),
    ] {
        reads(line, file);
    }
    for line in [
        "LD_PRELOAD=$PWD/x.so curl",
        "export LD_PRELOAD=$(pwd)/x.so",
        "env LD_PRELOAD=\"$x\" curl",
        "BASH_ENV='$PWD/x' bash -c ls",
        "cd $x; PYTHONPATH=lib python3 -V",
        "env -C sub PYTHONPATH=lib python3 -V",
    ] {
        let mut programs = started_programs(line).into_iter();
        let is_own = |one: StartedProgram| {
            one.path == Setting::Unknown
                || (one.kind == StartedKind::Script && one.dir == Setting::Unknown)
        };
        assert!(programs.any(is_own), "{line}");
    }
}

#[test]
fn plain_commands_start_nothing_that_is_unclear_and_no_script() {
    for line in [
        "ls -la $x; echo \"$(date)\" *.rs",
        "git status && git commit -m \"$m\"",
        "git -C sub log --oneline | head -n 5",
        "git switch -c x; git switch -c \"$x\"",
        "sed -e \"s/$a/$b/\" data",
        "cargo build --release && npm test",
        "RUST_BACKTRACE=1 FOO=$x cargo test",
        "for f in a b; do cat $f; done",
        "curl -s \"$url\" | jq .x > out.json",
        "sort <data | uniq -c",
        "awk '{print $1}' data",
        "sed -i s/a/b/ data",
        "perl -pe s/x/y/ data",
        "bash -c 'ls; pwd'",
        "python3 -I -c 'print(1)' \"$x\"",
        "ssh host uptime",
        "ssh host \"cd $x && ls\"",
        "tar -xzf data.tgz -C out",
        "find . -name '*.rs' -exec wc -l {} +",
        "ls | xargs -n1 wc -l",
        "docker ps; make --version; java -version",
        "[ -n \"$x\" ] && test -f y || true",
        "GIT_AUTHOR_NAME=\"$x\" git log",
        "nc host 80; timeout 5 sleep 1",
        "psql -c 'select 1'; sqlite3 db 'select 1'",
        "vim data; rg x src; rsync -a a b",
        "rg --pr x src",
        "tar xzf data.tgz -C out; tar cf x.tar --checkpoint data",
        "vim -es data -c q; ex -s data",
    ] {
        let programs = started_programs(line);
        let is_harmless =
            |one: &StartedProgram| one.path != Setting::Unknown && one.kind != StartedKind::Script;
        assert!(programs.iter().all(is_harmless), "{line}: {programs:?}");
    }
}

#[test]
fn python_with_code_or_a_module_imports_from_the_working_directory() {
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
    check("$x y; `a` b", &["$x on ?", "`a` on ?", "a"]);
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

#[test]
fn uncertain_cd_or_path_change_keeps_the_previous_value_too() {
    for line in [
        "(cd /); ./run",
        "cd / | ./run",
        "true | cd / && ./run",
        "cd /nope; ./run",
        "cd /nope\n./run",
        "true || cd /; ./run",
        "true || cd / && ./run",
        "if false; then cd /; fi; ./run",
        "f(){ cd /; }; ./run",
        "{ cd /; } & ./run",
        "x=$(cd /); ./run",
        "cat <(cd /); ./run",
        "cd / && true; ./run",
        "cd / && (cd /a); ./run",
    ] {
        let found = started_programs(line);
        let is_found = |dir: &Setting| {
            found
                .iter()
                .any(|one| one.name == "./run" && one.dir == *dir)
        };
        assert!(is_found(&Setting::Unchanged), "{line}: {found:?}");
    }
    check(
        "(cd /a); cd b; ./run",
        &["./run in /a/b", "./run in b", "./run in /a", "./run"],
    );
    check("(PATH=/a); curl x", &["curl on /a", "curl"]);
    check("false && PATH=/a; curl x", &["curl on /a", "curl"]);
    check(
        "for PATH in ev; do curl x; done",
        &["curl on ev", "curl on ?"],
    );
    let many = "cd a; ".repeat(20) + "./run";
    check(&many, &["./run in ?"]);
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
    obeys("npm run build", &["./.npmrc", "./package.json"]);
    obeys(
        "npm --prefix web test",
        &["./.npmrc in web", "./package.json in web"],
    );
    obeys("npx eslint .", &["./.npmrc", "./package.json", "./."]);
    let yarn = [
        "./.npmrc",
        "./.pnpmfile.cjs",
        "./.yarnrc",
        "./.yarnrc.yml",
        "./package.json",
        "./pnpm-workspace.yaml",
    ];
    obeys("yarn", &yarn);
    obeys("yarn --version", &yarn[2..]);
    let always = [
        ".cargo/config",
        ".cargo/config.toml",
        "./rust-toolchain",
        "./rust-toolchain.toml",
    ];
    let cargo = [&["./Cargo.toml", "./build.rs"][..], &always].concat();
    obeys("cargo +nightly test", &cargo);
    obeys("cargo --version", &always);
    obeys("cargo +nightly help", &always);
    obeys("rustc --version", &always[2..]);
    obeys(
        "cargo build --manifest-path sub/Cargo.toml",
        &[&["sub/Cargo.toml"][..], &always].concat(),
    );
    obeys("just", &["./.justfile", "./Justfile", "./justfile"]);
    obeys("mvn -f other.xml verify", &["./other.xml", "./.mvn"]);
    obeys("ninja -C out", &["./build.ninja in out"]);
    obeys("nox -f own.py", &["./own.py"]);
    let pytest = started_programs("pytest -q tests/a.py");
    assert!(pytest.iter().any(|one| one.name == "tests/a.py"));
    assert!(pytest.iter().any(|one| one.name == "./."));
    let module = started_programs("python3 -m pytest");
    assert!(module.iter().any(|one| one.name == "./."));
}

#[test]
fn a_runner_that_only_reports_obeys_no_file() {
    for line in [
        "make --version",
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
fn runner_whose_help_or_version_word_may_be_a_value_obeys_its_files() {
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
        let has_operands = runner.operands || runner.paths || runner.places;
        let has_files = !runner.files.is_empty() || !runner.always.is_empty();
        assert!(has_files || has_operands, "{:?}", runner.names);
        for name in &runner.names {
            assert!(names.insert(name), "{name} twice");
            assert!(!started_programs(name).is_empty(), "{name}");
        }
    }
    assert!(names.len() > 30);
}

#[test]
fn every_reader_of_code_is_in_one_row() {
    let mut names = HashSet::new();
    for name in tables().code_readers.iter().flat_map(|row| &row.names) {
        assert!(names.insert(name), "{name} twice");
    }
    assert!(names.len() > 60);
}

#[test]
fn value_with_too_many_paths_is_unclear() {
    let value = (0..200).fold(String::new(), |all, at| format!("{all}x{at}:"));
    assert!(is_unclear(&format!("PYTHONPATH={value} python3 -V")));
    let many = "CC=a:b:c ".repeat(900);
    assert!(started_programs(&format!("{many} make")).len() < 40);
}
