//! Unix sockets: those of the session are reached, all others are not.

use std::io::ErrorKind;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;

/// Numbers of names without a file.
static NAMES: AtomicU32 = AtomicU32::new(0);

/// Sockets outside, as services have them.
struct Outside {
    stream: UnixListener,
    datagram: UnixDatagram,
    nameless: UnixListener,
    name: String,
}

impl Outside {
    fn new(room: &SandboxRoom) -> Self {
        // A name each time: a process that another test has just started may still hold the socket before.
        let number = NAMES.fetch_add(1, Ordering::Relaxed);
        let name = format!("walls-{number}-{}", room.at("outside").display());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let all = Self {
            stream: UnixListener::bind(room.at("outside/stream")).unwrap(),
            datagram: UnixDatagram::bind(room.at("outside/datagram")).unwrap(),
            nameless: UnixListener::bind_addr(&address).unwrap(),
            name,
        };
        all.stream.set_nonblocking(true).unwrap();
        all.datagram.set_nonblocking(true).unwrap();
        all.nameless.set_nonblocking(true).unwrap();
        room.give();
        all
    }

    fn was_not_reached(&self) {
        let nothing = |error: std::io::Error| assert_eq!(error.kind(), ErrorKind::WouldBlock);
        nothing(self.stream.accept().map(drop).unwrap_err());
        nothing(self.nameless.accept().map(drop).unwrap_err());
        nothing(self.datagram.recv(&mut [0; 9]).map(drop).unwrap_err());
    }
}

/// Each attempt prints one line.
const ATTEMPTS: &str = "python3 - $base \"$name\" <<'END'
import os, socket, sys
base, name = sys.argv[1:]
def attempt(what, do):
    try:
        do()
        print('reached by', what)
    except OSError as error:
        print('no')
def stream(to, kind=socket.SOCK_STREAM):
    socket.socket(socket.AF_UNIX, kind).connect(to)
def within(directory, to):
    os.chdir(directory)
    try: stream(to)
    finally: os.chdir(base + 'ws')
def linked():
    os.symlink(base + 'outside', 'way')
    stream('way/stream')
def hard():
    os.link(base + 'outside/stream', 'hard')
    stream('hard')
def bound():
    os.rename(base + 'outside/stream', 'moved')
    stream('moved')
def datagram():
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', base + 'outside/datagram')
def raw():
    socket.socket(socket.AF_UNIX, socket.SOCK_RAW).sendto(b'x', base + 'outside/datagram')
def message():
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, base + 'outside/datagram')
def pair():
    socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendmsg([b'x'], [], 0, base + 'outside/datagram')
attempt('its path', lambda: stream(base + 'outside/stream'))
attempt('a relative path', lambda: within(base + 'outside', 'stream'))
attempt('a way up', lambda: stream('../outside/stream'))
attempt('a link', linked)
attempt('a hard link', hard)
attempt('a move', bound)
attempt('the root of a process', lambda: stream('/proc/self/root' + base + 'outside/stream'))
attempt('the root of the helper', lambda: stream('/proc/1/root' + base + 'outside/stream'))
attempt('its directory, open', lambda: stream('/proc/self/fd/%d/stream' % os.open(base + 'outside', os.O_RDONLY)))
attempt('another kind', lambda: stream(base + 'outside/stream', socket.SOCK_SEQPACKET))
attempt('a datagram', datagram)
attempt('a raw datagram', raw)
attempt('a message', message)
attempt('a message of a pair', pair)
attempt('a name without a file', lambda: stream('\\0' + name))
END";

#[tokio::test]
async fn no_unix_socket_outside_is_reached() {
    for mut room in rooms().await {
        for network in [false, true] {
            room.sandbox.network = network;
            let _ = std::fs::remove_dir_all(room.at("outside"));
            let _ = std::fs::remove_file(room.ws("way"));
            std::fs::create_dir(room.at("outside")).unwrap();
            let outside = Outside::new(&room);
            let script = format!("name='{}'\n{ATTEMPTS}", outside.name);
            let done = room.sh(&script).await;
            assert_eq!(done.out, "no\n".repeat(15), "{:?}: {done:?}", room.user);
            outside.was_not_reached();
        }
    }
}

/// Threads exchange the address and the socket while another one connects.
const RACE: &str = "cat > /tmp/race.py <<'END'
import ctypes, os, socket, sys, threading
base = sys.argv[1]
libc = ctypes.CDLL(None, use_errno=True)
good, bad = (b'\\x01\\0' + path.encode() + b'\\0' for path in (base + 'ws/own', base + 'outside/stream'))
address = ctypes.create_string_buffer(110)
own = socket.socket(socket.AF_UNIX)
own.bind('own'); own.listen(4096)
tcp = socket.socket(); tcp.bind(('127.0.0.1', 0)); tcp.listen(4096)
place = os.dup(0)
over = False
def flip():
    while not over:
        ctypes.memmove(address, bad, len(bad))
        ctypes.memmove(address, good, len(good))
def swap():
    while not over:
        with socket.socket(socket.AF_UNIX) as unix, socket.socket() as inet:
            os.dup2(inet.fileno(), place)
            os.dup2(unix.fileno(), place)
threads = [threading.Thread(target=each) for each in (flip, swap)]
for each in threads: each.start()
reached = 0
for _ in range(1500):
    fresh = socket.socket(socket.AF_UNIX)
    for number in (fresh.fileno(), place):
        if libc.connect(number, address, 110) == 0: reached += 1
    fresh.close()
over = True
for each in threads: each.join()
print('reached' if reached else 'none')
END
python3 /tmp/race.py $base";

#[tokio::test]
async fn no_exchange_of_address_or_socket_during_the_call_leads_outside() {
    for room in rooms().await {
        let outside = Outside::new(&room);
        let done = room.sh(RACE).await;
        // Those that named the session's own socket when they were judged.
        assert_eq!(done.out, "reached\n", "{:?}: {done:?}", room.user);
        outside.was_not_reached();
    }
}

/// Programs that talk to each other in one command, in all places that are the session's.
const HONEST: &str = "cat > /tmp/honest.py <<'END'
import array, multiprocessing, os, socket, sys, tempfile, threading
base = sys.argv[1]
def talk(bind, connect=None, kind=socket.SOCK_STREAM, family=socket.AF_UNIX, early=False):
    server = socket.socket(family, kind)
    server.bind(bind); server.listen()
    client = socket.socket(family, kind)
    if early: client.setblocking(False)
    client.connect(connect or server.getsockname())
    taken, _ = server.accept()
    client.send(b'hello')
    assert taken.recv(9) == b'hello'
    taken.send(b'back'); client.setblocking(True)
    assert client.recv(9) == b'back'
    return client
for directory in (base + 'ws', base + 'temp', '/tmp', tempfile.mkdtemp(), '/dev/shm'):
    early = directory == '/tmp'
    talk(directory + ('/early' if early else '/s'), early=early)
talk('relative')
talk('packets', kind=socket.SOCK_SEQPACKET)
os.symlink('linked-to', 'linked'); talk('linked-to', 'linked')
os.mkdir('long' * 30)
held = os.open('long' * 30, os.O_RDONLY)
talk('/proc/self/fd/%d/s' % held)
tried = []
thread = threading.Thread(target=lambda: tried.append(talk('of-a-thread'))); thread.start(); thread.join()
assert tried
talk(('127.0.0.1', 0), family=socket.AF_INET)
assert talk(base + 'ws/uid').getpeername() == base + 'ws/uid'
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); udp.bind(('127.0.0.1', 0))
other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); other.connect(udp.getsockname())
other.send(b'x'); assert udp.recv(9) == b'x'
other.sendmsg([b'y']); assert udp.recv(9) == b'y'
a, b = socket.socketpair()
socket.send_fds(a, [b'f'], [udp.fileno()]); assert socket.recv_fds(b, 1, 1)[0] == b'f'
def refused(to, expected):
    try: socket.socket(socket.AF_UNIX).connect(to)
    except expected: return
    raise SystemExit('%r was not refused' % to)
refused('none', FileNotFoundError)
open('honest', 'w').close(); refused('honest', ConnectionRefusedError)
refused('x' * 107, FileNotFoundError)
def square(n): return n * n
with multiprocessing.Manager() as manager:
    shared = manager.list([1]); shared.append(2); assert list(shared) == [1, 2]
with multiprocessing.Pool(2) as pool: print(sum(pool.map(square, range(10))))
END
python3 /tmp/honest.py $base
python3 - <<'END'
import socket
try: socket.getaddrinfo('localhost', 80)
except socket.gaierror: pass
print('looked up')
END";

#[tokio::test]
async fn programs_of_a_session_talk_by_sockets() {
    for mut room in rooms().await {
        for network in [false, true] {
            room.sandbox.network = network;
            let _ = std::fs::remove_dir_all(room.at("ws"));
            std::fs::create_dir(room.at("ws")).unwrap();
            let _ = std::fs::remove_dir_all(room.at("temp"));
            std::fs::create_dir(room.at("temp")).unwrap();
            room.give();
            let done = room.sh(HONEST).await;
            assert_eq!(done.out, "285\nlooked up\n", "{:?}: {done:?}", room.user);
        }
    }
}

const SERVER: &str = "python3 -c 'import socket
s = socket.socket(socket.AF_UNIX); s.bind(\"served\"); s.listen(); print(\"ready\", flush=True)
while True:
    c, _ = s.accept(); c.send(b\"hello\"); c.close()'";
const CLIENT: &str = "python3 -c 'import socket
s = socket.socket(socket.AF_UNIX); s.connect(\"served\"); print(s.recv(9).decode())'";

#[tokio::test]
async fn a_socket_in_the_workspace_serves_other_commands() {
    for room in rooms().await {
        let done = match room.user {
            User::Own => {
                let procs = Procs::start(room.options()).unwrap();
                let mut server = procs.spawn(SESSION, room.command(SERVER)).await.unwrap();
                line(&mut server).await;
                finish(procs.spawn(SESSION, room.command(CLIENT)).await.unwrap()).await
            }
            User::Ordinary => room.sh_twice(SERVER, CLIENT),
        };
        assert!(done.out.ends_with("hello\n"), "{:?}: {done:?}", room.user);
    }
}

#[tokio::test]
async fn sockets_that_the_user_opened_are_reached() {
    for mut room in rooms().await {
        let opened = UnixListener::bind(room.at("outside/opened")).unwrap();
        let closed = UnixListener::bind(room.at("outside/closed")).unwrap();
        closed.set_nonblocking(true).unwrap();
        room.give();
        room.sandbox.sockets.push(room.at("outside/opened"));
        let script = "python3 -c 'import socket, sys
for name in \"opened\", \"closed\":
    try: socket.socket(socket.AF_UNIX).connect(sys.argv[1] + \"outside/\" + name); print(name)
    except OSError: print(\"no\")' $base";
        let done = room.sh(script).await;
        assert_eq!(done.out, "opened\nno\n", "{:?}: {done:?}", room.user);
        opened.accept().unwrap();
        assert!(closed.accept().is_err());
    }
}

/// The user's own cache, asked by the real git.
#[tokio::test]
async fn the_credential_cache_of_git_tells_nothing() {
    for room in rooms().await {
        std::fs::create_dir_all(room.at("outside/git")).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(room.at("outside/git"), mode).unwrap();
        room.give();
        let socket = room.at("outside/git/socket");
        let cache = format!("git credential-cache --socket '{}'", socket.display());
        let login = "protocol=https\nhost=example.org\nusername=ann\n";
        let store = format!("printf '{login}password=secret-word\n' | {cache} store");
        let get = format!("printf '{login}' | {cache} get");
        let outside = |script: &str| {
            let id = if room.user == User::Own { "0" } else { "65534" };
            let mut shell = std::process::Command::new("sh");
            if room.user == User::Ordinary {
                shell = std::process::Command::new("setpriv");
                shell.args(["--reuid", id, "--regid", id, "--clear-groups", "--", "sh"]);
            }
            shell.args(["-c", script]).env("HOME", room.at("outside"));
            shell.output().unwrap()
        };
        outside(&store);
        let told = outside(&get);
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert!(told.contains("secret-word"), "{told:?}");
        let done = room.sh(&format!("{get}; echo done")).await;
        outside(&format!("{cache} exit"));
        assert_eq!(done.out, "done\n", "{:?}: {done:?}", room.user);
        // In `/tmp` it is not even visible.
        let is_visible = !socket.starts_with("/tmp");
        assert_eq!(
            is_visible,
            done.err.contains("ermission denied"),
            "{done:?}"
        );
    }
}

/// What a broker costs, as figures.
#[tokio::test]
async fn connections_are_made_without_delay() {
    let script = "cat > /tmp/many.py <<'END'
import os, socket, threading, time
server = socket.socket(socket.AF_UNIX); server.bind('many'); server.listen(2000)
begun = time.monotonic()
for _ in range(1000):
    with socket.socket(socket.AF_UNIX) as client: client.connect('many')
print(int((time.monotonic() - begun) * 1e6))
END
python3 /tmp/many.py";
    for room in rooms().await {
        let done = room.sh(script).await;
        let micros: u64 = done.out.trim().parse().unwrap();
        say(&format!("{:?}: 1,000 connections: {micros} µs", room.user));
        // It only detects a wait.
        assert!(micros < 5_000_000, "{done:?}");
    }
}
