use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};

use super::*;

/// Looks only when it is let, and counts.
struct Slow {
    looks: AtomicUsize,
    let_go: Mutex<mpsc::Receiver<()>>,
}

impl ToolMemory for Slow {
    fn describe_external_changes(&self) -> Option<ExternalChanges> {
        let number = self.looks.fetch_add(1, Ordering::SeqCst);
        self.let_go.lock().unwrap().recv().unwrap();
        Some(ExternalChanges {
            text: format!("look {number}"),
            files: Vec::new(),
        })
    }
}

#[tokio::test]
async fn concurrent_calls_share_one_change_check_and_the_next_checks_again() {
    let (go, let_go) = mpsc::channel();
    let slow = Arc::new(Slow {
        looks: AtomicUsize::new(0),
        let_go: Mutex::new(let_go),
    });
    let notes = Notes::new(slow.clone());
    let first = notes.of_others();
    let more = futures::future::join_all([notes.of_others(), notes.of_others(), notes.of_others()]);
    let after = async {
        // Polled last: by now all of the others wait.
        go.send(()).unwrap();
    };
    let (first, more, ()) = tokio::join!(biased; first, more, after);
    assert!(first.is_some_and(|note| note.text.contains("look 0")));
    assert_eq!(more, [None, None, None]);
    assert_eq!(slow.looks.load(Ordering::SeqCst), 1);
    go.send(()).unwrap();
    let next = notes.of_others().await;
    assert!(next.is_some_and(|note| note.text.contains("look 1")));
}
