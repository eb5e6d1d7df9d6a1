//! A process is not forked while threads of it end. A program of its own: in a test program the second thread, whose end
//! hides all later ones from a list of threads, is one of the runner's.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Threads that end, one after the other.
    const ENDINGS: u32 = 20_000;

    for _ in 0..ENDINGS {
        let has_ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let older = scope.spawn(std::hint::spin_loop);
            let looks = scope.spawn(|| {
                while !has_ended.load(Ordering::Relaxed) {
                    let forked = sandbox::fork(Command::new("unused"), || 0);
                    let error = forked.map(|child| child.id()).unwrap_err();
                    assert!(error.to_string().contains("threads"), "{error}");
                }
            });
            older.join().unwrap();
            has_ended.store(true, Ordering::Relaxed);
            looks.join().unwrap();
        });
    }
}
