use client::queue::Queue;
use proto::PromptId;

use super::*;
use crate::model::transcript::tests::scene::{output, started};
use crate::update::scene::busy;

#[test]
fn a_running_command_is_named_above_its_output_however_little_room_there_is() {
    let mut model = busy();
    (model.look.columns, model.look.rows) = (80, 24);
    let waiting = ["one", "two", "three", "four"].map(|text| {
        let queued = serde_json::json!({"prompt_id": PromptId::new(), "text": text, "steer": false, "by": "ann"});
        serde_json::from_value(queued).unwrap()
    });
    let session = model.session.as_mut().unwrap();
    session.queue = Queue::new(proto::Seq(1), waiting.to_vec());
    model.transcript.fold(&started(1, "c", "bash", "make -j"));
    model.transcript.fold(&output("c", 0, "1\n2\n3\n4\n5\n6"));
    let panel = draw(
        &model,
        &transcript::Printed::default(),
        &mut Cache::default(),
        20,
    );
    let rows: Vec<_> = panel.rows.iter().map(ToString::to_string).collect();
    assert!(rows[0].contains("bash make -j"), "{rows:#?}");
    assert!(rows[3].contains("6"), "{rows:#?}");
}
