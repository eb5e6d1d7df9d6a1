use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// The pids in their order, each with its depth. Pairs: a pid, and that of its parent.
fn check(sessions: &[(u64, u64)]) -> Vec<(usize, u64)> {
    let of = |(pid, parent): &(u64, u64)| (Pid(*pid), Pid(*parent));
    let ordered = by_parent(sessions.iter().copied(), of);
    ordered
        .into_iter()
        .map(|(depth, (pid, _))| (depth, pid))
        .collect()
}

#[test]
fn sub_agents_follow_the_session_that_started_them() {
    let sessions = [(1, 0), (2, 0), (3, 1), (4, 2), (5, 3), (6, 1)];
    let tree = [(0, 1), (1, 3), (2, 5), (1, 6), (0, 2), (1, 4)];
    assert_eq!(check(&sessions), tree);
    // The newest first, as `ps` lists them.
    let newest = [(6, 1), (5, 3), (4, 2), (3, 1), (2, 0), (1, 0)];
    let tree = [(0, 2), (1, 4), (0, 1), (1, 6), (1, 3), (2, 5)];
    assert_eq!(check(&newest), tree);
    // One whose parent is not listed stands alone.
    assert_eq!(check(&[(5, 3), (6, 5)]), [(0, 5), (1, 6)]);
}

#[test]
fn a_branch_is_as_deep_as_its_session() {
    assert_eq!([branch(0), branch(1), branch(3)], ["", "└ ", "    └ "]);
}

proptest! {
    #[test]
    fn each_session_is_in_the_tree_once_and_below_its_parent(
        parents in vec(0_u64..12, 0..12),
        listed in vec(any::<bool>(), 12),
    ) {
        // Parents that are absent, younger, or the session itself come from damaged lists only; none may lose a session.
        let sessions: Vec<(u64, u64)> = (1..).zip(parents).filter(|(pid, _)| listed[*pid as usize - 1]).collect();
        let tree = check(&sessions);
        let mut pids: Vec<u64> = tree.iter().map(|(_, pid)| *pid).collect();
        let mut above: Vec<u64> = Vec::new();
        for (depth, pid) in &tree {
            above.truncate(*depth);
            let parent = sessions.iter().find(|(one, _)| one == pid).map(|(_, parent)| *parent);
            if *depth > 0 {
                prop_assert_eq!(above.last().copied(), parent);
            }
            above.push(*pid);
        }
        pids.sort_unstable();
        prop_assert_eq!(pids, sessions.iter().map(|(pid, _)| *pid).collect::<Vec<_>>());
    }
}
