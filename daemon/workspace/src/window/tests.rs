use proptest::prelude::*;

use super::*;
use crate::workspace::tests::Scene;

const WIDE: LineWindow = LineWindow {
    first: 1,
    lines_max: 1000,
    line_bytes_max: 1000,
    bytes_max: 1 << 20,
};

fn lines(kept: &WindowContent) -> Vec<String> {
    kept.lines
        .iter()
        .map(|line| String::from_utf8_lossy(&line.bytes).into_owned())
        .collect()
}

#[test]
fn a_window_far_into_a_million_lines() {
    let scene = Scene::new();
    let content: String = (1..=1_000_000)
        .map(|number| format!("line {number}\n"))
        .collect();
    scene.put("f", &content);
    let at = scene.reading("f");
    let kept = scene
        .workspace
        .window(
            &at,
            LineWindow {
                first: 999_999,
                lines_max: 5,
                ..WIDE
            },
        )
        .unwrap();
    assert_eq!(
        (lines(&kept), kept.total),
        (vec!["line 999999".into(), "line 1000000".into()], 1_000_000)
    );
    let kept = scene
        .workspace
        .window(
            &at,
            LineWindow {
                first: 500_000,
                lines_max: 1,
                ..WIDE
            },
        )
        .unwrap();
    assert_eq!(lines(&kept), ["line 500000"]);
    assert!(
        kept.stamp
            .same_content(&scene.workspace.read(&at).unwrap().stamp)
    );
}

#[test]
fn long_lines_keep_their_beginning() {
    let scene = Scene::new();
    scene.put("f", format!("{}\nend", "x".repeat(300_000)));
    let kept = scene.workspace.window(&scene.reading("f"), WIDE).unwrap();
    assert_eq!(
        (
            kept.lines[0].bytes.len(),
            kept.lines[0].left_out,
            kept.total
        ),
        (1000, 299_000, 2)
    );
    assert_eq!(kept.lines[1].bytes, b"end");
}

#[test]
fn a_full_window_stops_at_its_bytes_and_still_counts() {
    let scene = Scene::new();
    scene.put("f", "0123456789\n".repeat(100));
    let kept = scene
        .workspace
        .window(
            &scene.reading("f"),
            LineWindow {
                bytes_max: 50,
                ..WIDE
            },
        )
        .unwrap();
    assert_eq!((kept.lines.len(), kept.total), (5, 100));
}

proptest! {
    /// Equals splitting the whole content, whatever the chunk sizes.
    #[test]
    fn a_window_equals_a_slice_of_the_split_text(content in "[ab\n\r]{0,60}", first in 1_u64..12, lines_max in 1_u64..8, chunk in 1_usize..7) {
        let window = LineWindow { first, lines_max, ..WIDE };
        let mut taker = WindowReader::new(window);
        for part in content.as_bytes().chunks(chunk) {
            taker.take(part);
        }
        let (lines, total) = taker.finish();
        let mut whole: Vec<&str> = content.split('\n').collect();
        if content.is_empty() || content.ends_with('\n') { whole.pop(); }
        prop_assert_eq!(total, whole.len() as u64);
        let wanted: Vec<Vec<u8>> = whole.iter().skip(first as usize - 1).take(lines_max as usize)
            .map(|line| line.strip_suffix('\r').unwrap_or(line).as_bytes().to_owned()).collect();
        let lines: Vec<Vec<u8>> = lines.into_iter().map(|line| line.bytes).collect();
        prop_assert_eq!(lines, wanted);
    }
}
