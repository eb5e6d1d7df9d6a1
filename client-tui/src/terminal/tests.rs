use futures::FutureExt as _;

use super::*;
use crate::messages::Language;
use crate::screen::Depth;
use crate::theme::Theme;

/// Surroundings of variables written `NAME=value NAME=value`.
fn of(variables: &str) -> TerminalEnvironment {
    TerminalEnvironment::of(|name| {
        let mut all = variables.split(' ').filter_map(|one| one.split_once('='));
        all.find(|(known, _)| *known == name)
            .map(|(_, value)| value.to_owned())
    })
}

#[test]
fn the_environment_determines_the_colour_depth() {
    for (variables, depth) in [
        ("TERM=xterm-256color COLORTERM=truecolor", Depth::True),
        ("TERM=xterm-256color", Depth::Ansi256),
        ("TERM=xterm-kitty", Depth::True),
        ("TERM=xterm-256color TERM_PROGRAM=WezTerm", Depth::True),
        ("TERM=xterm", Depth::Ansi16),
        ("TERM=linux COLORTERM=truecolor", Depth::Ansi16),
        ("TERM=screen.xterm COLORTERM=truecolor", Depth::Ansi256),
        ("TERM=screen-256color TMUX=/x COLORTERM=24bit", Depth::True),
        ("TERM=dumb COLORTERM=truecolor", Depth::None),
        ("TERM=xterm-kitty NO_COLOR=1", Depth::None),
        ("TERM=xterm-kitty NO_COLOR=", Depth::True),
    ] {
        assert_eq!(of(variables).colours, depth, "{variables}");
    }
}

#[test]
fn a_light_background_makes_a_light_theme() {
    assert_eq!(of("TERM=foot").theme, Theme::Dark);
    assert_eq!(of("TERM=foot COLORFGBG=0;15").theme, Theme::Light);
    assert_eq!(of("TERM=foot COLORFGBG=0;default;15").theme, Theme::Light);
    assert_eq!(of("TERM=foot COLORFGBG=15;0").theme, Theme::Dark);
    assert_eq!(of("TERM=foot COLORFGBG=15;default").theme, Theme::Dark);
    assert_eq!(of("TERM=xterm COLORFGBG=0;15").theme, Theme::Sixteen);
    assert_eq!(of("TERM=foot NO_COLOR=1").theme, Theme::None);
}

#[test]
fn the_language_is_ours_or_that_of_the_locale() {
    for (variables, language) in [
        ("", Language::English),
        ("LANG=zh_CN.UTF-8", Language::Chinese),
        ("LANG=zh_CN.UTF-8 LC_MESSAGES=C", Language::English),
        ("LC_ALL=fr_FR.UTF-8 LANG=zh_CN.UTF-8", Language::English),
        ("REASONIX_LANG=zh LC_ALL=C", Language::Chinese),
        ("REASONIX_LANG=tlh LANG=zh_CN", Language::Chinese),
    ] {
        assert_eq!(of(variables).language, language, "{variables}");
    }
}

#[test]
fn multiplexers_and_remote_shells_are_detected() {
    assert!(of("TERM=xterm-256color").links);
    assert!(!of("TERM=screen").links && !of("TERM=linux").links);
    assert!(of("TERM=screen TMUX=/x").links && of("TERM=screen TMUX=/x").tmux);
    assert!(of("TERM=xterm VTE_VERSION=7600").reflows && of("TERM=tmux").reflows);
    // Inside of GNU screen what the terminal around it does does not count.
    assert!(!of("TERM=xterm").reflows && !of("TERM=screen VTE_VERSION=7600").reflows);
    assert!(of("TERM=linux").plain && !of("TERM=xterm").plain);
}

#[test]
fn nothing_in_a_title_or_a_notification_is_obeyed() {
    assert_eq!(title("a\u{7}\u{1b}]0;x\u{7}b\nc"), "\x1b]2;ab c\x07");
    assert_eq!(notify("done\u{9c}", false), "\x1b]9;done\x07");
    assert_eq!(notify("4;1;50", false), "\x1b]9; 4;1;50\x07");
    assert_eq!(notify("done", true), "\x1bPtmux;\x1b\x1b]9;done\x07\x1b\\");
    assert_eq!(title(&"长".repeat(900)).chars().count(), 205);
}

#[test]
fn restore_switches_off_every_terminal_mode_that_enter_set() {
    for wheel in [false, true] {
        for plain in [false, true] {
            let options = Options { wheel, plain };
            let restored = bytes::restore(options, false);
            for mode in bytes::enter(options, false).split('\u{1b}').skip(1) {
                let off = match mode {
                    ">1u" => "<1u".to_owned(),
                    "[22;0t" => "[23;0t".to_owned(),
                    "[6 q" => "[0 q".to_owned(),
                    mode => mode.replace('h', "l").replace('>', "<"),
                };
                assert!(restored.contains(&off), "{mode} of {options:?}");
            }
            // A second time, the saved modes are not saved again.
            let again = bytes::enter(options, true);
            assert!(!again.contains("[>") && !again.contains("[22"));
        }
    }
    let covered = bytes::restore(Options::default(), true);
    assert_eq!(covered.matches(KEYS_OFF).count(), 2);
    assert!(covered.starts_with("\x1b[<1u\x1b[?1049l"));
}

#[test]
fn a_terminal_whose_other_end_is_closed_is_gone() {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    assert!(!hung_up(&ours));
    drop(theirs);
    assert!(hung_up(&ours));
}

#[test]
fn only_a_continue_signal_soon_after_our_own_suspend_is_ours() {
    let now = Instant::now();
    let state = State {
        options: Options::default(),
        entered: AtomicBool::new(false),
        covered: Arc::new(AtomicBool::new(false)),
        suspended: Mutex::new(None),
    };
    assert!(!state.is_own(now));
    *lock(&state.suspended) = Some(now);
    assert!(state.is_own(now));
    assert!(!state.is_own(now), "the next one is another's");
    // Nothing had stopped us: the first that comes is another's too.
    *lock(&state.suspended) = Some(now);
    assert!(!state.is_own(now + Duration::from_secs(60)));
}

#[test]
fn a_panic_on_any_thread_is_known() {
    hook();
    assert!(thread::spawn(|| panic!("on purpose")).join().is_err());
    assert!(panicked().now_or_never().is_some());
}
