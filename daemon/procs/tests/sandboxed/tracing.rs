//! Debuggers: a command traces its own processes, and no others.

use super::*;

const TRACE: &str = "cat > /tmp/trace.py <<'END'
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long] * 4
ATTACH, DETACH, PEEK, OPTIONS = 16, 17, 1, 0x4200
own = ctypes.c_long(42)
child = os.fork()
if child == 0:
    while True: signal.pause()
print('attach', libc.ptrace(ATTACH, child, 0, 0))
os.waitpid(child, 0)
print('peek', libc.ptrace(PEEK, child, ctypes.addressof(own), 0))
print('no filter', libc.ptrace(OPTIONS, child, 0, 1 << 21))
print('detach', libc.ptrace(DETACH, child, 0, 0))
os.kill(child, 9); os.waitpid(child, 0)
print('helper', libc.ptrace(ATTACH, 1, 0, 0))
try: open('/proc/1/mem', 'rb'); print('memory')
except OSError: print('no memory')
print('traced by the parent', libc.ptrace(0, 0, 0, 0))
END
python3 /tmp/trace.py";

#[tokio::test]
async fn a_command_traces_its_own_processes_only() {
    for room in rooms().await {
        let done = room.sh(TRACE).await;
        let expected = "attach 0\npeek 42\nno filter -1\ndetach 0\nhelper -1\nno memory\n\
                        traced by the parent 0\n";
        assert_eq!(done.out, expected, "{:?}: {done:?}", room.user);
    }
}

/// The check of a sanitizer traces the threads of its process.
#[tokio::test]
async fn a_leak_is_found_by_the_sanitizer() {
    let script = "cat > leak.c <<'END'
#include <stdlib.h>
int main(void) { void *volatile lost = malloc(99); lost = 0; return lost != 0; }
END
cc -fsanitize=address -o leak leak.c && ./leak 2>&1 | grep -o 'detected memory leaks'";
    for room in rooms().await {
        let done = room.sh(script).await;
        assert_eq!(
            done.out, "detected memory leaks\n",
            "{:?}: {done:?}",
            room.user
        );
    }
}

/// A tracer does not change what a broker is asked for: the call waits with what it was made with.
#[tokio::test]
async fn a_tracer_reaches_no_socket_that_its_child_may_not() {
    let script = "cat > connect.py <<'END'
import socket, sys
try: socket.socket(socket.AF_UNIX).connect(sys.argv[1]); print('reached')
except OSError: print('no')
END
command -v strace > /dev/null && trace='strace -f -o /dev/null' || trace=
$trace python3 connect.py $base/outside/socket";
    for room in rooms().await {
        let outside = std::os::unix::net::UnixListener::bind(room.at("outside/socket")).unwrap();
        room.give();
        outside.set_nonblocking(true).unwrap();
        let done = room.sh(script).await;
        assert_eq!(done.out, "no\n", "{:?}: {done:?}", room.user);
        assert!(outside.accept().is_err());
    }
}
