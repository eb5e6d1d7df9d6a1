//! Does it search a large tree as fast as ripgrep? The tools' own times, beside those of `rg` for the same question.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proto::Body;
use serde_json::json;
use testkit::Script;

use super::Size;
use super::table::{Figure, median, row};
use crate::House;

/// Times that each question is asked.
const TIMES: usize = 9;

/// Rows for `grep` and `glob`; without `rg` there are no floor and no row.
pub fn figures(size: Size) -> Vec<Figure> {
    if Command::new("rg").arg("--version").output().is_err() {
        return Vec::new();
    }
    let mut script = Script::new();
    for _ in 0..TIMES {
        script = script
            .calls(
                "grep",
                &json!({"pattern": "needle_[0-9]+", "output_mode": "files_with_matches"}),
            )
            .calls("glob", &json!({"pattern": "**/*.rs"}));
    }
    let house = House::playing(&script.says("Looked."));
    plant(&house.project(), size.files);
    house.daemon();
    let done = house.reasonix(&["run", "look"]).expect_code(0);
    drop(done);
    let mut own = [Vec::new(), Vec::new()];
    for body in house.logs()[0].bodies() {
        if let Body::ToolFinished(finished) = body {
            let which = usize::from(finished.tool == "glob");
            own[which].push(Duration::from_millis(finished.duration_ms));
        }
    }
    let [grep, glob] = own.map(median);
    let project = house.project();
    let rg = |arguments: &[&str]| {
        let times = (0..TIMES).map(|_| timed(&project, arguments));
        median(times.collect())
    };
    vec![
        row(
            "grep over a large tree (floor: rg)",
            grep,
            rg(&["-l", "needle_[0-9]+"]),
            "1.3 ×",
        ),
        row(
            "glob over a large tree (floor: rg --files -g)",
            glob,
            rg(&["--files", "-g", "**/*.rs"]),
            "1.3 ×",
        ),
    ]
}

fn timed(project: &Path, arguments: &[&str]) -> Duration {
    let mut rg = Command::new("rg");
    rg.args(arguments).arg(".").current_dir(project);
    let begun = Instant::now();
    let status = rg.stdin(Stdio::null()).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "rg finds them");
    begun.elapsed()
}

/// A tree of so many files of some kilobytes, a tenth of them ignored, a hundredth with something to be found.
fn plant(project: &Path, files: usize) {
    fs::create_dir_all(project.join(".git")).expect("a repository, for its ignore files");
    fs::write(project.join(".gitignore"), "*.skip\n").expect("an ignore file");
    let filler: String = (0..60)
        .map(|line| format!("    let value_{line} = compute(value, {line});\n"))
        .collect();
    for number in 0..files {
        let dir = project.join(format!("d{}/e{}", number % 40, number % 7));
        fs::create_dir_all(&dir).expect("a directory");
        let extension = match number % 10 {
            0 => "skip",
            1..=4 => "txt",
            _ => "rs",
        };
        let mut text = filler.clone();
        if number % 100 == 5 {
            text.push_str(&format!("// needle_{number}\n"));
        }
        fs::write(dir.join(format!("f{number}.{extension}")), text).expect("a file");
    }
}
