use crossterm::event::{MouseEvent, MouseEventKind};
use futures::{FutureExt as _, StreamExt as _, stream};

use super::*;

/// The events for input that waits in the terminal at the same moment, as strings.
fn events(raw: Vec<Raw>) -> Vec<String> {
    let raw = stream::iter(raw.into_iter().map(Ok)).chain(stream::pending());
    drain(&mut Input::of(raw))
}

fn drain<S: Stream<Item = io::Result<Raw>> + Unpin>(input: &mut Input<S>) -> Vec<String> {
    let events = std::iter::from_fn(|| input.next().now_or_never());
    events
        .map(|event| match event {
            Event::Key(key) => format!("{}", key.code),
            other => format!("{other:?}"),
        })
        .collect()
}

fn keys(text: &str) -> Vec<Raw> {
    let key = |character| match character {
        '\n' => KeyCode::Enter,
        character => KeyCode::Char(character),
    };
    let keys = text.chars().map(key);
    keys.map(|code| Raw::Key(code.into())).collect()
}

fn wheel(kind: MouseEventKind) -> Raw {
    Raw::Mouse(MouseEvent {
        kind,
        column: 0,
        row: 0,
        modifiers: KeyModifiers::NONE,
    })
}

#[tokio::test]
async fn keys_that_come_at_once_with_an_enter_in_between_are_a_paste() {
    assert_eq!(events(keys("ls\nrm")), [r#"Paste("ls\nrm")"#]);
    assert_eq!(events(keys("ls\n")), ["l", "s", "Enter"]);
    assert_eq!(events(keys("\ny")), ["Enter", "y"]);
    let mut raw = keys("a\nb");
    raw.push(Raw::Key(KeyCode::Up.into()));
    raw.extend(keys("c"));
    assert_eq!(events(raw), [r#"Paste("a\nb")"#, "Up", "c"]);
}

#[tokio::test]
async fn where_pastes_are_marked_keys_are_keys() {
    let mut raw = vec![Raw::Paste("x\ry\r\nz".to_owned())];
    raw.extend(keys("a\nb"));
    assert_eq!(events(raw), [r#"Paste("x\ny\nz")"#, "a", "Enter", "b"]);
}

#[tokio::test]
async fn meaningless_events_are_dropped_and_repeated_ones_are_merged() {
    let release = KeyEvent::new_with_kind(
        KeyCode::Char('x'),
        KeyModifiers::NONE,
        KeyEventKind::Release,
    );
    let raw = vec![
        Raw::Key(release),
        wheel(MouseEventKind::Moved),
        wheel(MouseEventKind::ScrollUp),
        wheel(MouseEventKind::ScrollUp),
        wheel(MouseEventKind::ScrollDown),
        Raw::Resize(70, 20),
        Raw::Resize(60, 20),
        Raw::FocusLost,
    ];
    assert_eq!(events(raw), ["Wheel(-1)", "Resize(60, 20)", "Focus(false)"]);
}

#[tokio::test]
async fn the_end_of_input_is_a_hang_up_once() {
    let raw = stream::iter(keys("q").into_iter().map(Ok));
    let mut input = Input::of(raw);
    assert_eq!(drain(&mut input), ["q", "Signal(HangUp)"]);
    assert!(input.next().now_or_never().is_none());
    let failed = stream::iter([Err(io::Error::other("gone"))]);
    assert_eq!(drain(&mut Input::of(failed)), ["Signal(HangUp)"]);
}

#[tokio::test]
async fn signals_are_events() {
    let mut signals = Signals::new().unwrap();
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::HUP).unwrap();
    assert_eq!(signals.next().await, Signal::HangUp);
    rustix::process::kill_process(own, rustix::process::Signal::CONT).unwrap();
    assert_eq!(signals.next().await, Signal::Continue);
}

/// Like crossterm: of those who find nothing it wakes the first, and notes no other until then.
#[derive(Default)]
struct WakesTheFirst {
    keys: Vec<Raw>,
    waker: Option<std::task::Waker>,
}

struct SharedTerminal<'a>(&'a std::sync::Mutex<WakesTheFirst>);

impl Stream for SharedTerminal<'_> {
    type Item = io::Result<Raw>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let mut terminal = self.0.lock().unwrap();
        if let Some(key) = terminal.keys.pop() {
            return Poll::Ready(Some(Ok(key)));
        }
        terminal
            .waker
            .get_or_insert_with(|| context.waker().clone());
        Poll::Pending
    }
}

#[tokio::test(start_paused = true)]
async fn look_that_finds_nothing_leaves_the_next_wait_awake() {
    let terminal = std::sync::Mutex::<WakesTheFirst>::default();
    let mut input = Input::of(SharedTerminal(&terminal));
    assert!(input.pending().await.is_none());
    let waits = input.next();
    let types = async {
        let waker = {
            let mut terminal = terminal.lock().unwrap();
            terminal.keys = keys("a");
            terminal.waker.take()
        };
        waker.expect("somebody waits").wake();
        // Nothing but the key may wake the other one: its own timer is later.
        tokio::time::sleep(LOOK / 2).await;
    };
    let begun = tokio::time::Instant::now();
    let (waits, ()) = tokio::join!(async { (waits.await, begun.elapsed()) }, types);
    assert!(matches!(waits.0, Event::Key(_)), "{waits:?}");
    assert!(waits.1 < LOOK / 2, "{waits:?}");
}
