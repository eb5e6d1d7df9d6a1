//! The sandbox with only Landlock and seccomp, as on machines without namespaces.
#![cfg(target_os = "linux")]

mod stage;

pub const BACKEND: procs::BackendChoice = procs::BackendChoice::Landlock;
/// The argument of `procs-probe` that runs commands this way.
pub const HOST: &str = "host-off";

use contract::SandboxStrength;
use stage::room::{SandboxRoom, User, everywhere};
use stage::*;

/// Rooms for all users, or none if Landlock does not work.
async fn rooms() -> Vec<SandboxRoom> {
    let procs = Procs::start(options()).unwrap();
    let works = procs.settled().await == SandboxStrength::Partial;
    if testkit::skip::unless(works, &format!("Landlock ({})", procs.mechanism())) {
        return Vec::new();
    }
    everywhere()
}

async fn all_fail(scripts: &[&str]) {
    for room in rooms().await {
        for script in scripts {
            let script = format!("{{ {script}\n}} >/dev/null 2>&1 && echo yes || echo no");
            let done = room.sh(&script).await;
            assert_eq!(done.out, "no\n", "{:?}: {script}: {done:?}", room.user);
        }
        assert_eq!(room.text("outside/file"), "outside");
        assert_eq!(room.text("secrets/key"), "secret");
    }
}

#[tokio::test]
async fn nothing_outside_is_written_and_nothing_masked_is_read() {
    all_fail(&[
        "echo x > $base/outside/file",
        "echo x > $base/outside/new",
        "rm $base/outside/file",
        "mv $base/outside/file moved",
        "ln $base/outside/file linked",
        "echo x > /proc/self/root$base/outside/file",
        "grep secret $base/secrets/key",
        "grep secret /proc/self/root$base/secrets/key",
        "ln -s $base/secrets/key k && grep secret k",
        "unshare -Ur true",
        "unshare -m true",
        "mount -t tmpfs none sub",
        "chroot / true",
        "mknod -m 666 disk b 254 0",
        "python3 -c 'import socket; socket.socket(socket.AF_INET)'",
        "python3 -c 'import ctypes, os; exit(ctypes.CDLL(None).ptrace(16, os.getppid(), 0, 0) != 0)'",
    ])
    .await;
}

#[tokio::test]
async fn the_daemon_is_not_signalled() {
    for room in rooms()
        .await
        .into_iter()
        .filter(|room| room.user == User::Own)
    {
        let own = std::process::id();
        let done = room
            .sh(&format!("kill -0 {own} 2>/dev/null || echo no"))
            .await;
        // Landlock blocks signals from its sixth ABI on.
        let holds = done.out == "no\n";
        let old = !sandbox::ProcessRestrictions::layers()
            .iter()
            .any(|layer| layer.ends_with('7'));
        assert!(holds || old, "{done:?}");
    }
}

#[tokio::test]
async fn honest_programs_work() {
    let script = "set -e; echo new > made; mkdir -p a/b; mv made a/b/; cat a/b/made; echo x > $TMPDIR/t; ls / >/dev/null
        git init -q new; cd new; echo y > y; git add y; git -c user.name=a -c user.email=a@b commit -qm in; git log --format=%s
        python3 -c 'import subprocess, socket; a, b = socket.socketpair(); print(subprocess.run([\"true\"]).returncode)'";
    for room in rooms().await {
        let temp = room.at("temp");
        let script = format!("export TMPDIR='{}' HOME='{0}'\n{script}", temp.display());
        let done = room.sh(&script).await;
        assert_eq!(done.out, "new\nin\n0\n", "{:?}: {done:?}", room.user);
    }
}

#[tokio::test]
async fn with_network_access_local_ports_are_reachable() {
    for mut room in rooms().await {
        room.sandbox.network = true;
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let script = format!(
            "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {port}), 5); print(1)'"
        );
        let done = room.sh(&script).await;
        assert_eq!(done.out, "1\n", "{:?}: {done:?}", room.user);
    }
}

#[tokio::test]
async fn no_unix_socket_outside_is_reached() {
    let script = "python3 - $base <<'END'
import os, socket, sys
base = sys.argv[1]
def attempt(to, kind=socket.SOCK_STREAM):
    try: socket.socket(socket.AF_UNIX, kind).connect(to); print('reached')
    except OSError as error: print('no')
os.symlink(base + 'outside/socket', 'way')
for to in base + 'outside/socket', 'way', '/proc/self/root' + base + 'outside/socket': attempt(to)
attempt(base + 'secrets/socket')
attempt('masked')
attempt(base + 'outside/socket', socket.SOCK_DGRAM)
for place in 'own', base + 'temp/own':
    server = socket.socket(socket.AF_UNIX); server.bind(place); server.listen()
    attempt(place)
END";
    for mut room in rooms().await {
        let places = ["outside/socket", "secrets/socket", "ws/masked"].map(|name| room.at(name));
        let outside = places.map(|place| std::os::unix::net::UnixListener::bind(place).unwrap());
        room.sandbox.masked.push(room.ws("masked"));
        room.give();
        let done = room.sh(script).await;
        let expected = format!("{}reached\nreached\n", "no\n".repeat(6));
        assert_eq!(done.out, expected, "{:?}: {done:?}", room.user);
        for listener in outside {
            listener.set_nonblocking(true).unwrap();
            assert!(listener.accept().is_err());
        }
    }
}

#[tokio::test]
async fn only_named_exceptions_of_a_masked_directory_are_readable() {
    for mut room in rooms().await {
        std::fs::create_dir(room.at("secrets/own")).unwrap();
        std::fs::write(room.at("secrets/own/out"), "spilled").unwrap();
        room.sandbox.readable = vec![room.at("secrets/own")];
        room.give();
        let done = room
            .sh("cat $base/secrets/own/out; cat $base/secrets/key || echo no")
            .await;
        assert_eq!(done.out, "spilledno\n", "{:?}: {done:?}", room.user);
    }
}
