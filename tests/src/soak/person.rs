//! A person of a soak: opens a session in the interface, reads, types, pulls the window, and closes it somehow.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Shared;
use crate::terminal::Terminal;
use crate::wait::pace;
use crate::{Chance, terminal::keys};

/// The longest pause between two keys, in milliseconds.
const PAUSE: u64 = 300;
/// Keys of a visit at most.
const KEYS: u64 = 60;
/// What is pressed: ways through the transcript, the lists, help, questions, and what stops a turn.
const PRESSED: [&str; 16] = [
    "up", "down", "pageup", "pagedown", "home", "end", "esc", "ctrl-p", "enter", "tab", "?", "y",
    "n", "ctrl-r", "ctrl-b", "ctrl-c",
];

/// Until the soak stops.
pub(super) fn live(shared: &Shared, mut chance: Chance) {
    while !shared.stop.load(Ordering::SeqCst) {
        let session = super::client::some_session(shared, &mut chance);
        let view = ["attach", "--fullscreen"];
        let mut arguments = view[..1 + chance.index(2)].to_vec();
        arguments.push(&session);
        visit(shared, &mut chance, &arguments);
        pace(Instant::now() + Duration::from_millis(chance.below(PAUSE)));
    }
}

/// One visit. The interface may be killed by others, and its session may end, at any time.
fn visit(shared: &Shared, chance: &mut Chance, arguments: &[&str]) {
    let mut terminal = Terminal::reasonix(shared.house, arguments, 100, 30);
    for _ in 0..chance.below(KEYS) {
        pace(Instant::now() + Duration::from_millis(chance.below(PAUSE)));
        if terminal.closed() || shared.stop.load(Ordering::SeqCst) {
            break;
        }
        match chance.below(12) {
            0 => terminal.resize(
                u16::try_from(20 + chance.below(140)).unwrap_or(80),
                u16::try_from(6 + chance.below(50)).unwrap_or(24),
            ),
            1 => {
                let _ = terminal.offer("some words 你好".as_bytes());
            }
            _ => {
                let key = PRESSED[chance.index(PRESSED.len())];
                let bytes =
                    keys::bytes(key, false).unwrap_or_else(|| panic!("unknown key `{key}`"));
                let _ = terminal.offer(&bytes);
            }
        }
    }
    shared.visits.fetch_add(1, Ordering::SeqCst);
    match chance.below(3) {
        0 => terminal.hang_up(),
        1 => {
            let _ = terminal.offer(b"\x04");
        }
        _ if terminal.closed() => {}
        // It may have ended just now.
        _ => terminal.try_kill(Signal::KILL),
    }
}
