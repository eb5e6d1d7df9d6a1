//! The filter of system calls. Refuses calls that bypass mounts, namespaces and process isolation,
//! and calls with many past kernel bugs. It lists refused calls, because programs must keep
//! working.
//!
//! The filter is written as BPF instructions, because it returns different errors: "not permitted"
//! for refused calls, and "no such call" if libraries then fall back to an older call that can be
//! checked.

use seccompiler::{BpfProgram, sock_filter};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Refused with any arguments.
const REFUSED: &[libc::c_long] = &[
    // Access to other processes.
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // Mounts and namespaces.
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_fsconfig,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_setns,
    // Files by handle, which bypasses directories.
    libc::SYS_open_by_handle_at,
    // The user's keys, which no namespace separates.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // The kernel itself, and its log.
    libc::SYS_syslog,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_kexec_file_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];
/// For debuggers. Refused where processes of others are visible: in a process namespace of its own a
/// command reaches only its own. The helper is there too, but nobody may trace it, and its filter
/// and Landlock domain are others. A tracer cannot lift a filter: that takes a capability.
const TRACING: &[libc::c_long] = &[
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
];
/// Reported as missing: callers have an alternative.
const ABSENT: &[libc::c_long] = &[
    // Its flags are in memory, which a filter cannot read.
    libc::SYS_clone3,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
];
/// Socket families that a network namespace and the sandbox cover. Others reach the machine or
/// ignore namespaces.
const FAMILIES: &[libc::c_int] = &[
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];
/// Socket families that reach only this machine's files.
const FAMILIES_ALONE: &[libc::c_int] = &[libc::AF_UNIX];
/// Execution domains that programs request: Linux, 32 bits, 2.6 version names, no address
/// randomisation, and queries.
const PERSONALITIES: &[u32] = &[0, 8, 0x2_0000, 0x2_0008, 0x4_0000, 0xffff_ffff];

// Constants of classic BPF and of seccomp's data and results.
const LOAD: u16 = 0x20;
const EQUAL: u16 = 0x15;
const ANY_OF: u16 = 0x45;
const AND: u16 = 0x54;
const ANSWER: u16 = 0x06;
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ALLOW: u32 = 0x7fff_0000;
const KILL: u32 = 0x8000_0000;
/// Handed over to the listener.
const HAND_OVER: u32 = 0x7fc0_0000;
const ERROR: u32 = 0x0005_0000;
/// The bit in call numbers of the x32 interface, which has a separate number for every call.
#[cfg(target_arch = "x86_64")]
const X32: u32 = 0x4000_0000;

/// What a filter depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterOptions {
    /// Sockets are restricted by something else, or allowed.
    pub network: bool,
    /// There is a separate process namespace.
    pub processes: bool,
    /// A broker makes the connections.
    pub brokered: bool,
}

/// The filter program.
pub(crate) fn program(around: FilterOptions) -> BpfProgram {
    let mut all = Program::begin();
    for call in ABSENT {
        all.if_equal(number(*call), error(libc::ENOSYS));
    }
    let tracing = if around.processes { &[] } else { TRACING };
    for call in REFUSED.iter().chain(tracing) {
        all.if_equal(number(*call), error(libc::EPERM));
    }
    let user = libc::CLONE_NEWUSER.unsigned_abs();
    all.of(libc::SYS_unshare, 0, |part| {
        part.if_any(user, error(libc::EPERM))
    });
    all.of(libc::SYS_clone, 0, |part| {
        part.if_any(user, error(libc::EPERM))
    });
    all.of(libc::SYS_ioctl, 1, |part| {
        // Typing into a terminal for the user.
        part.if_equal(0x5412, error(libc::EPERM));
        part.if_equal(0x541c, error(libc::EPERM));
    });
    all.of(libc::SYS_personality, 0, |part| {
        for known in PERSONALITIES {
            part.if_equal(*known, ALLOW);
        }
        part.answer(error(libc::EPERM));
    });
    sockets(&mut all, around);
    all.answer(ALLOW);
    all.0
}

/// A filter that lets everything through.
pub(crate) fn nothing() -> BpfProgram {
    let mut all = Program(Vec::new());
    all.answer(ALLOW);
    all.0
}

/// A filter that only hands connections over.
pub(crate) fn only_handing_over() -> BpfProgram {
    let mut all = Program::begin();
    all.if_equal(number(libc::SYS_connect), HAND_OVER);
    all.answer(ALLOW);
    all.0
}

/// Connections are handed over. An address can also be in a message, where no filter sees it, but
/// only a datagram socket sends to it: so there are no datagram sockets of Unix.
fn sockets(all: &mut Program, around: FilterOptions) {
    let families = if around.network {
        FAMILIES
    } else {
        FAMILIES_ALONE
    };
    let refusal = if around.network {
        libc::EAFNOSUPPORT
    } else {
        libc::EPERM
    };
    let connected = |part: &mut Program| {
        part.load_argument(1);
        part.and(0xf);
        part.if_equal(libc::SOCK_STREAM.unsigned_abs(), ALLOW);
        part.if_equal(libc::SOCK_SEQPACKET.unsigned_abs(), ALLOW);
        part.answer(error(libc::EPERM));
    };
    all.of(libc::SYS_socket, 0, |part| {
        for family in families {
            if !around.brokered || *family != libc::AF_UNIX {
                part.if_equal(family.unsigned_abs(), ALLOW);
            }
        }
        part.unless_equal(libc::AF_UNIX.unsigned_abs(), error(refusal));
        if around.brokered {
            connected(part);
        }
    });
    if around.brokered {
        all.of(libc::SYS_socketpair, 0, connected);
        all.if_equal(number(libc::SYS_connect), HAND_OVER);
    }
}

fn error(number: libc::c_int) -> u32 {
    ERROR | number.unsigned_abs()
}

/// System call numbers are small.
fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).unwrap_or(u32::MAX)
}

struct Program(Vec<sock_filter>);

impl Program {
    /// Refuses system calls with other numbers than ours.
    fn begin() -> Self {
        let mut all = Self(Vec::new());
        all.load(ARCH);
        all.unless_equal(ARCHITECTURE, KILL);
        all.load(NUMBER);
        #[cfg(target_arch = "x86_64")]
        all.if_any(X32, error(libc::ENOSYS));
        all
    }

    fn push(&mut self, code: u16, k: u32, jt: u8, jf: u8) {
        self.0.push(sock_filter { code, jt, jf, k });
    }

    fn load(&mut self, offset: u32) {
        self.push(LOAD, offset, 0, 0);
    }

    /// The lower half of an argument.
    fn load_argument(&mut self, argument: u32) {
        // The arguments begin at offset 16, with eight bytes each, the lower half first.
        self.load(16 + 8 * argument);
    }

    fn and(&mut self, bits: u32) {
        self.push(AND, bits, 0, 0);
    }

    fn answer(&mut self, answer: u32) {
        self.push(ANSWER, answer, 0, 0);
    }

    fn if_equal(&mut self, value: u32, answer: u32) {
        self.push(EQUAL, value, 0, 1);
        self.answer(answer);
    }

    fn unless_equal(&mut self, value: u32, answer: u32) {
        self.push(EQUAL, value, 1, 0);
        self.answer(answer);
    }

    fn if_any(&mut self, bits: u32, answer: u32) {
        self.push(ANY_OF, bits, 0, 1);
        self.answer(answer);
    }

    /// Checks the lower half of one argument of a call. The kernel reads no more of any argument
    /// checked here.
    fn of(&mut self, call: libc::c_long, argument: u32, part: impl FnOnce(&mut Self)) {
        let mut inner = Self(Vec::new());
        inner.load_argument(argument);
        part(&mut inner);
        inner.load(NUMBER);
        let length = u8::try_from(inner.0.len()).unwrap_or(u8::MAX);
        self.push(EQUAL, number(call), 0, length);
        self.0.extend(inner.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs the program on a call, as the kernel would.
    fn run(program: &[sock_filter], arch: u32, call: u32, arguments: &[u32]) -> u32 {
        let (mut at, mut value) = (0, 0);
        loop {
            let now = &program[at];
            at += 1;
            match now.code {
                LOAD => {
                    value = match now.k {
                        NUMBER => call,
                        ARCH => arch,
                        offset => arguments[(offset as usize - 16) / 8],
                    };
                }
                AND => value &= now.k,
                ANSWER => return now.k,
                EQUAL | ANY_OF => {
                    let holds = match now.code {
                        EQUAL => value == now.k,
                        _ => value & now.k != 0,
                    };
                    at += usize::from(if holds { now.jt } else { now.jf });
                }
                code => panic!("{code}"),
            }
        }
    }

    fn around(network: bool) -> FilterOptions {
        FilterOptions {
            network,
            processes: false,
            brokered: false,
        }
    }

    fn answer(network: bool, arch: u32, call: u32, arguments: &[u32]) -> u32 {
        run(&program(around(network)), arch, call, arguments)
    }

    fn native(network: bool, call: libc::c_long, arguments: &[u32]) -> u32 {
        answer(network, ARCHITECTURE, number(call), arguments)
    }

    #[test]
    fn connections_are_handed_over_and_no_unix_socket_sends_to_an_address() {
        for network in [true, false] {
            let around = FilterOptions {
                network,
                processes: true,
                brokered: true,
            };
            let program = program(around);
            let call =
                |call, arguments: &[u32]| run(&program, ARCHITECTURE, number(call), arguments);
            let refused = error(libc::EPERM);
            assert_eq!(call(libc::SYS_connect, &[0; 6]), HAND_OVER);
            for made in [libc::SYS_socket, libc::SYS_socketpair] {
                // With flags that do not count: close on exec, do not block.
                for flags in [0, 0o2_000_000, 0o2_004_000] {
                    assert_eq!(call(made, &[1, 1 | flags]), ALLOW);
                    assert_eq!(call(made, &[1, 5 | flags]), ALLOW);
                    assert_eq!(call(made, &[1, 2 | flags]), refused);
                    // The old name of the same.
                    assert_eq!(call(made, &[1, 3 | flags]), refused);
                }
            }
            let datagrams = call(libc::SYS_socket, &[2, 2]);
            assert_eq!(datagrams, if network { ALLOW } else { refused });
            assert_eq!(call(libc::SYS_sendto, &[0; 6]), ALLOW);
            assert_eq!(call(libc::SYS_ptrace, &[0; 6]), ALLOW);
        }
        let handing = only_handing_over();
        let call = |call| run(&handing, ARCHITECTURE, number(call), &[0; 6]);
        assert_eq!(call(libc::SYS_connect), HAND_OVER);
        assert_eq!(call(libc::SYS_socket), ALLOW);
    }

    #[test]
    fn system_calls_that_bypass_the_sandbox_are_refused_and_others_are_not() {
        for call in REFUSED.iter().chain(TRACING) {
            assert_eq!(native(true, *call, &[0; 6]), error(libc::EPERM));
        }
        for call in ABSENT {
            assert_eq!(native(true, *call, &[0; 6]), error(libc::ENOSYS));
        }
        for call in [
            libc::SYS_read,
            libc::SYS_openat,
            libc::SYS_execve,
            libc::SYS_kill,
        ] {
            assert_eq!(native(true, call, &[0; 6]), ALLOW);
        }
    }

    #[test]
    fn some_system_calls_are_judged_by_their_arguments() {
        let user = 0x1000_0000;
        assert_eq!(
            native(true, libc::SYS_clone, &[user | 17]),
            error(libc::EPERM)
        );
        assert_eq!(native(true, libc::SYS_clone, &[17]), ALLOW);
        assert_eq!(native(true, libc::SYS_unshare, &[user]), error(libc::EPERM));
        assert_eq!(
            native(true, libc::SYS_ioctl, &[0, 0x5412]),
            error(libc::EPERM)
        );
        assert_eq!(native(true, libc::SYS_ioctl, &[0, 0x5401]), ALLOW);
        assert_eq!(native(true, libc::SYS_personality, &[0x4_0000]), ALLOW);
        assert_eq!(
            native(true, libc::SYS_personality, &[0x40_0000]),
            error(libc::EPERM)
        );
        let vsock = native(true, libc::SYS_socket, &[40]);
        assert_eq!(vsock, error(libc::EAFNOSUPPORT));
        assert_eq!(native(true, libc::SYS_socket, &[2]), ALLOW);
        assert_eq!(native(false, libc::SYS_socket, &[2]), error(libc::EPERM));
        assert_eq!(native(false, libc::SYS_socket, &[1]), ALLOW);
    }

    #[test]
    fn system_calls_of_other_architectures_are_refused() {
        assert_eq!(answer(true, 0x4000_0003, 26, &[0; 6]), KILL);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(
            answer(true, ARCHITECTURE, X32 | 521, &[0; 6]),
            error(libc::ENOSYS)
        );
    }
}
