//! Lines that start a file of the session's own, and lines that do not, in a directory that the session may write and
//! that has a file for every case.

use super::{Setting, StartedKind, StartedProgram, started_programs};

mod programs;
mod runners;
mod variables;

/// The files in the session's directory. Everything else on the `PATH` is the system's.
const FILES: &[&str] = &[
    ".",
    ".cargo/config.toml",
    ".pre-commit-config.yaml",
    ".venv/bin/x",
    ".yarnrc.yml",
    "CMakeCache.txt",
    "CMakeLists.txt",
    "Cargo.toml",
    "Dockerfile",
    "Gemfile",
    "Justfile",
    "Makefile",
    "Rakefile",
    "Taskfile.yml",
    "a",
    "a/Makefile",
    "a/b",
    "a/b/Makefile",
    "a/package.json",
    "b",
    "build",
    "build.gradle",
    "build.ninja",
    "build/CMakeCache.txt",
    "compose.yaml",
    "deno.json",
    "go.mod",
    "gradlew",
    "noxfile.py",
    "package.json",
    "pom.xml",
    "pyproject.toml",
    "reqs",
    "requirements.txt",
    "rust-toolchain.toml",
    "tests",
    "test_x.py",
    "tox.ini",
    "x",
    "x.js",
    "x.mk",
    "x.py",
    "x.sh",
    "x.so",
];

/// A directory that has nothing but files without a special name.
const FEW_FILES: &[&str] = &[
    ".", "..", "a", "b", "build", "reqs", "tests", "x", "x.js", "x.py", "x.sh",
];

/// What the session would mark: a file in its directory, or one that is unknown before the line runs.
fn own_program(line: &str, files: &[&str]) -> Option<StartedProgram> {
    let is_own = |one: &StartedProgram| {
        let by_path = one.name.contains('/');
        if one.path == Setting::Unknown {
            return true;
        }
        let dir = match &one.dir {
            Setting::Unknown if by_path => return true,
            Setting::To(dir) if dir.starts_with('/') => return false,
            Setting::To(dir) => dir.as_str(),
            Setting::Unchanged | Setting::Unknown => ".",
        };
        if !by_path && one.kind == StartedKind::Program {
            return false;
        }
        let place = path_clean(&format!("{dir}/{}", one.name));
        let has_modules = one.kind == StartedKind::ImportedModules && files.contains(&"x.py");
        !one.name.starts_with('/') && (files.contains(&place.as_str()) || has_modules)
    };
    started_programs(line).into_iter().find(is_own)
}

/// A path without its `.` and `a/..`.
fn path_clean(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    match parts.is_empty() {
        true => ".".to_owned(),
        false => parts.join("/"),
    }
}

/// Lines that are not marked although they are to be, and the other way round.
fn wrongly_judged(lines: &str, files: &[&str], is_own: bool) -> Vec<String> {
    let lines = lines.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty());
    let wrong = lines.filter_map(|line| {
        let found = own_program(line, files);
        (found.is_some() != is_own).then(|| match found {
            Some(found) => format!("{line}   # {found:?}"),
            None => line.to_owned(),
        })
    });
    wrong.collect()
}

fn all_own(lines: &str, files: &[&str]) {
    let wrong = wrongly_judged(lines, files, true);
    assert!(wrong.is_empty(), "not marked:\n{}", wrong.join("\n"));
}

fn none_own(lines: &str, files: &[&str]) {
    let wrong = wrongly_judged(lines, files, false);
    assert!(wrong.is_empty(), "marked:\n{}", wrong.join("\n"));
}
