//! Capabilities: those that root keeps, and how the others are dropped.

use rustix::io::Errno;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};

/// Files of any user, other users' ids, its own children. None that reaches the kernel, its
/// devices, its mounts or processes of others.
pub(crate) const KEPT: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SETPCAP);

/// Drops all other capabilities of the calling thread permanently, also for its children.
pub(crate) fn keep_only(kept: CapabilitySet) -> rustix::io::Result<()> {
    set_no_new_privs(true)?;
    // Fails if the kernel does not know the set. It is then empty.
    let _ = clear_ambient_capability_set();
    for bit in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << bit);
        if kept.contains(one) {
            continue;
        }
        match remove_capability_from_bounding_set(one) {
            // Not permitted, or past the last one. Capabilities removed below cannot come back.
            Ok(()) | Err(Errno::PERM | Errno::INVAL) => {}
            Err(error) => return Err(error),
        }
    }
    let had = capabilities(None)?;
    set_capabilities(
        None,
        CapabilitySets {
            effective: had.effective & kept,
            permitted: had.permitted & kept,
            inheritable: CapabilitySet::empty(),
        },
    )
}
