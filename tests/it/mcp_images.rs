//! Images that tools of MCP servers return: over each wire, across a restart and a fork, and in place of them a note if
//! the model takes none.

use std::fs;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use proto::item::ImageFormat;
use serde_json::{Value, json};
use testkit::model::{Answer, Model, Wire};
use tests::House;

use crate::mcp::{faulty, servers};
use crate::scripted::{FAST_RETRIES, run};

/// The image of the faulty server: 3x2 pixels.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAC0lEQVR4nGNgwAQAABQAAX3+Hu4AAAAASUVORK5CYII=";
const ALLOWED: [&str; 2] = ["--allow", "mcp__s"];

fn house(model: &Model, wire: Wire, vision: &str) -> House {
    let house = House::new();
    house.settings(FAST_RETRIES);
    house.provider(&format!("{}{vision}", model.entry_of(wire, "model", None)));
    servers(&house, &json!({"s": faulty(&["ok"])}));
    house.daemon();
    house
}

fn shoot(arguments: Value) -> Answer {
    Answer::call("mcp__s__picture", arguments)
}

/// How often the image is in each request.
fn images_in(model: &Model) -> Vec<usize> {
    let requests = model.requests();
    let bodies = requests.iter();
    bodies
        .map(|request| String::from_utf8_lossy(&request.body).matches(PNG).count())
        .collect()
}

/// The directory of the first session.
fn session_dir(house: &House) -> PathBuf {
    let session = house.logs()[0].created().session;
    house.home().join("sessions").join(session.to_string())
}

/// Its blobs.
fn blobs(house: &House) -> Vec<PathBuf> {
    let entries = fs::read_dir(session_dir(house).join("blobs")).expect("the blobs");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

#[test]
fn an_image_of_a_server_reaches_the_model_over_each_wire_and_stays() {
    for wire in [Wire::Chat, Wire::Messages, Wire::Responses] {
        let model = Model::start([
            shoot(json!({}))
                .and_call("mcp__s__add", json!({"a": 1, "b": 1}))
                .and_call("mcp__s__picture", json!({"failed": true})),
            Answer::text("I see."),
            Answer::text("Still."),
            Answer::text("In the fork too."),
        ]);
        let house = house(&model, wire, "vision = true\n");
        let first = run(&house, &ALLOWED, "Look.").expect(0, "completed");
        let shown: Vec<_> = first
            .all("tool.finished")
            .iter()
            .map(|finished| finished["display"]["text"].clone())
            .collect();
        let line = "Look. [image 3x2 png]";
        assert_eq!(shown, [line, "2", line], "{wire:?}");
        house.kill_daemon_and_parent();
        house.daemon();
        run(&house, &["-s", &first.pid()], "And now?").expect(0, "completed");
        model.assert_prefix();
        assert_eq!(images_in(&model), [0, 2, 2], "{wire:?}");
        let log = &house.logs()[0];
        log.check();
        let results = log.results();
        let image = &results[0].images[0];
        assert_eq!(
            (image.format, image.width, image.height),
            (ImageFormat::Png, 3, 2),
            "its own bytes count, not what the server calls it"
        );
        assert_eq!(results[1].images, []);
        assert_eq!(results[2].images[0], *image);
        let blobs = blobs(&house);
        assert_eq!(blobs.len(), 1);
        assert!(blobs[0].ends_with(&image.sha256));
        assert_eq!(STANDARD.encode(fs::read(&blobs[0]).expect("read")), PNG);
        let pid = first.pid();
        let text = fs::read_to_string(session_dir(&house).join("log.jsonl"));
        assert!(!text.expect("read the log").contains(PNG), "not in the log");
        run(&house, &["-s", &pid, "--fork"], "In a fork?").expect(0, "completed");
        assert_eq!(images_in(&model), [0, 2, 2, 2], "{wire:?}");
        model.assert_strict();
    }
}

#[test]
fn a_model_that_takes_no_images_gets_a_note_and_so_does_one_of_which_that_is_not_known() {
    for (wire, vision, why) in [
        (Wire::Chat, "vision = false\n", "does not accept images"),
        (Wire::Chat, "", "not known whether"),
        (Wire::Messages, "", "not known whether"),
        (
            Wire::Responses,
            "vision = false\n",
            "does not accept images",
        ),
    ] {
        let model = Model::start([shoot(json!({})), Answer::text("I see nothing.")]);
        let house = house(&model, wire, vision);
        run(&house, &ALLOWED, "Look.").expect(0, "completed");
        assert_eq!(images_in(&model), [0, 0]);
        let (_, result) = model.requests()[1].results()[0].clone();
        assert!(
            result.starts_with("Look.\n[image 3x2 png]\n[The image is not shown to you: "),
            "{result}"
        );
        assert!(result.contains(why), "{result}");
        model.assert_prefix();
    }
}

#[test]
fn switch_to_a_model_without_images_reports_omitted_content() {
    let looks = shoot(json!({})).reasoning("Let me look.");
    let model = Model::start([looks, Answer::text("I see.")]);
    let house = house(&model, Wire::Messages, "vision = true\n");
    let pid = run(&house, &ALLOWED, "Look.").expect(0, "completed").pid();
    let other = Model::start([Answer::text("I see nothing.")]);
    house.provider(&other.entry("blind", None));
    let switch = ["model", &pid, "blind"];
    let asked = house.reasonix(&switch).expect_code(1).err;
    let words = "The new model will not receive the reasoning of earlier answers (1) and images in tool results (1).";
    assert!(asked.contains(words), "{asked}");
    let mut chinese = house.command(&switch);
    let asked = tests::Running::start(chinese.env("LANG", "zh_CN.UTF-8")).done();
    assert!(
        asked
            .err
            .contains("新模型不会收到：先前回答的推理（1 个回答）和工具结果中的图片（1 张）"),
        "{asked:?}"
    );
    let _ = house
        .reasonix(&["model", &pid, "blind", "--yes"])
        .expect_code(0);
    run(&house, &["-s", &pid], "And now?").expect(0, "completed");
    assert_eq!(images_in(&other), [0]);
    other.assert_strict();
}

#[test]
fn invalid_damaged_and_deleted_images_become_notes_for_the_model() {
    let model = Model::start([
        shoot(json!({"data": STANDARD.encode("<svg/>")})),
        shoot(json!({"data": &PNG[..80]})),
        shoot(json!({})),
        Answer::text("I see one."),
        Answer::text("And now none."),
    ]);
    let house = house(&model, Wire::Messages, "vision = true\n");
    let first = run(&house, &ALLOWED, "Look.").expect(0, "completed");
    let requests = model.requests();
    let results = requests.last().expect("requests").results();
    for (result, why) in results
        .iter()
        .zip(["it is not a PNG", "damaged or incomplete png"])
    {
        assert!(result.1.contains(why), "{result:?}");
    }
    assert_eq!(images_in(&model), [0, 0, 0, 1]);
    fs::remove_file(&blobs(&house)[0]).expect("remove");
    run(&house, &["-s", &first.pid()], "And now?").expect(0, "completed");
    assert_eq!(images_in(&model), [0, 0, 0, 1, 0]);
    let requests = model.requests();
    let results = requests.last().expect("requests").results();
    assert!(
        results[2].1.contains("gone from the session's files"),
        "{results:?}"
    );
    model.assert_strict();
}
