//! `fork` refuses a process with several threads, also while one of them exits. This needs a program of its own: only the
//! exit of the second thread hides the later ones from a listing, and in a usual test program that is a runner's thread.

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    use std::process::Command;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// Number of threads that exit, one after the other.
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
