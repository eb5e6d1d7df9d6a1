//! The tree by its properties, and the moments that people notice.

use proptest::prelude::*;

use super::*;

fn tokens(tokens: u64) -> Spent {
    Spent {
        tokens,
        steps: 1,
        ..Spent::default()
    }
}

fn limit(tokens: u64) -> Budget {
    Budget {
        tokens: Some(tokens),
        ..Budget::default()
    }
}

const ROOTS: [&str; 3] = ["/one", "/two", "/two"];

/// A session of which nothing is known but this.
fn join(
    tree: &mut Tree,
    session: SessionId,
    pid: Pid,
    root: &str,
    (limit, spent): (Budget, Spent),
) {
    tree.join(&JoiningSession {
        session,
        pid,
        root,
        limit,
        spent,
        above: None,
        below: &BTreeMap::new(),
    });
}

/// Three sessions of two projects.
fn three() -> (Tree, [SessionId; 3]) {
    let (mut tree, ids) = (Tree::default(), [(); 3].map(|()| SessionId::new()));
    for (number, (id, root)) in ids.iter().zip(ROOTS).enumerate() {
        let pid = Pid(number as u64 + 1);
        join(
            &mut tree,
            *id,
            pid,
            root,
            (Budget::default(), Spent::default()),
        );
    }
    (tree, ids)
}

/// What a session that is there used, with its sub-agents.
fn spent_of(tree: &Tree, session: SessionId) -> Spent {
    tree.sessions[&session].node.spent
}

fn use_up(tree: &mut Tree, session: SessionId, root: &str, spent: &Spent) {
    tree.charge(session, spent);
    tree.add(root, spent);
}

#[test]
fn a_limit_anywhere_on_the_path_refuses_and_a_raise_lets_go_on() {
    let (mut tree, [a, b, c]) = three();
    use_up(&mut tree, b, "/two", &tokens(100));
    tree.bound_session(b, limit(100));
    let refused = tree.take(b, &tokens(1)).unwrap_err();
    assert_eq!(
        (refused.kind, refused.spent, refused.limit),
        (BudgetNodeKind::Session, 100, 100)
    );
    assert_eq!(tree.take(c, &tokens(0)), Ok(()), "it is not c's");
    tree.bound_session(b, limit(101));
    assert_eq!(tree.take(b, &tokens(0)), Ok(()));
    tree.bound(c, Budget::default(), limit(100));
    let refused = tree.take(c, &tokens(1)).unwrap_err();
    assert_eq!(refused.kind, BudgetNodeKind::Project);
    assert_eq!(tree.take(a, &tokens(0)), Ok(()), "another project");
    tree.bound(a, limit(100), Budget::default());
    let refused = tree.take(a, &tokens(1)).unwrap_err();
    assert_eq!(refused.kind, BudgetNodeKind::Day);
    // Another day: all of it is free again, but for a session's own.
    tree.begin_day();
    assert_eq!(tree.take(a, &tokens(0)), Ok(()));
    assert_eq!(tree.take(c, &tokens(0)), Ok(()));
    tree.bound_session(b, limit(100));
    assert!(tree.take(b, &tokens(0)).is_err());
}

#[test]
fn requests_in_flight_count_against_the_limit_until_released() {
    let (mut tree, [a, b, _]) = three();
    let steps = Budget {
        steps: Some(1),
        ..Budget::default()
    };
    tree.bound(a, steps, Budget::default());
    assert_eq!(tree.take(a, &tokens(5)), Ok(()));
    let refused = tree.take(b, &tokens(5)).unwrap_err();
    assert_eq!((refused.spent, refused.under_way), (0, 1));
    tree.give_back(a, "/one", &tokens(5));
    assert_eq!(tree.take(b, &tokens(5)), Ok(()));
}

#[test]
fn nearly_spent_limit_is_reported_once_and_again_after_a_raise() {
    let (mut tree, [a, ..]) = three();
    tree.bound_session(a, limit(100));
    assert_eq!(tree.newly_near(a, &tokens(79)), []);
    let near = tree.newly_near(a, &tokens(80));
    assert_eq!(near.len(), 1);
    assert_eq!((near[0].spent, near[0].limit), (80, 100));
    use_up(&mut tree, a, "/one", &tokens(80));
    assert_eq!(tree.newly_near(a, &tokens(10)), [], "it was reported");
    tree.bound_session(a, limit(110));
    assert_eq!(tree.newly_near(a, &tokens(10)).len(), 1, "of 110");
    assert_eq!(tree.newly_near(a, &tokens(11)), []);
    // It comes back after a restart, with its usage so far.
    join(&mut tree, a, Pid(1), "/one", (limit(110), tokens(95)));
    assert_eq!(tree.newly_near(a, &tokens(1)), [], "it was reported before");
    // A day's limit that is read for the first time in this life.
    tree.add("/one", &tokens(500));
    tree.bound(a, limit(600), Budget::default());
    assert_eq!(tree.newly_near(a, &tokens(1)), []);
    tree.bound(a, limit(700), Budget::default());
    assert_eq!(tree.newly_near(a, &tokens(1)).len(), 1);
}

/// What may happen to a tree.
#[derive(Clone, Debug)]
enum Move {
    /// A session asks; if it may, its request comes back with this.
    Request {
        session: usize,
        estimate: u64,
        used: u64,
    },
    Limit {
        session: usize,
        tokens: u64,
    },
    Day(u64),
    Midnight,
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let request =
        (0..3_usize, 0..50_u64, 0..50_u64).prop_map(|(session, estimate, used)| Move::Request {
            session,
            estimate,
            used,
        });
    let limit =
        (0..3_usize, 0..300_u64).prop_map(|(session, tokens)| Move::Limit { session, tokens });
    let day = (0..600_u64).prop_map(Move::Day);
    prop::collection::vec(
        prop_oneof![6 => request, 1 => limit, 1 => day, 1 => Just(Move::Midnight)],
        0..60,
    )
}

proptest! {
    /// Children never come to more than their parents, and a request goes out exactly where every limit above it has
    /// room: no limit is passed by more than one answer.
    #[test]
    fn sums_hold_and_no_limit_is_passed_by_more_than_an_answer(moves in moves()) {
        let (mut tree, ids) = three();
        let mut today = [0_u64; 3];
        for step in moves {
            match step {
                Move::Request { session, estimate, used } => {
                    let id = ids[session];
                    let room = tree.show(id).iter().all(|node| {
                        let limit = node.limit.limit(Dimension::Tokens);
                        limit.is_none_or(|limit| node.spent.tokens < limit)
                    });
                    let estimate = tokens(estimate);
                    let taken = tree.take(id, &estimate).is_ok();
                    prop_assert_eq!(taken, room);
                    if taken {
                        use_up(&mut tree, id, ROOTS[session], &tokens(used));
                        tree.give_back(id, ROOTS[session], &estimate);
                        today[session] += used;
                    }
                }
                Move::Limit { session, tokens } => tree.bound_session(ids[session], limit(tokens)),
                Move::Day(tokens) => tree.bound(ids[0], limit(tokens), Budget::default()),
                Move::Midnight => {
                    tree.begin_day();
                    today = [0; 3];
                }
            }
            for (number, id) in ids.iter().enumerate() {
                let nodes = tree.show(*id);
                let spent: Vec<_> = nodes.iter().map(|node| node.spent.tokens).collect();
                let same = |other: &usize| ROOTS[*other] == ROOTS[number];
                let project: u64 = (0..3).filter(same).map(|other| today[other]).sum();
                prop_assert_eq!(spent[0], today.iter().sum::<u64>());
                prop_assert_eq!(spent[1], project);
                prop_assert!(spent[1] <= spent[0] && today[number] <= spent[1]);
                prop_assert!(spent[2] >= today[number], "a session's is of its whole life");
            }
        }
    }
}

#[test]
fn sub_agent_usage_counts_against_its_parents_limit() {
    let mut tree = Tree::default();
    let [top, child, grandchild] = [(); 3].map(|()| SessionId::new());
    let join = |tree: &mut Tree, (session, above): (SessionId, Option<SessionId>), below: &_| {
        tree.join(&JoiningSession {
            session,
            pid: Pid(1),
            root: "/one",
            limit: Budget::default(),
            spent: Spent::default(),
            above,
            below,
        });
    };
    let none = BTreeMap::new();
    join(&mut tree, (top, None), &none);
    join(&mut tree, (child, Some(top)), &none);
    join(&mut tree, (grandchild, Some(child)), &none);
    tree.bound_session(top, limit(100));
    use_up(&mut tree, top, "/one", &tokens(10));
    use_up(&mut tree, child, "/one", &tokens(20));
    use_up(&mut tree, grandchild, "/one", &tokens(30));
    assert_eq!(spent_of(&tree, top).tokens, 60);
    assert_eq!(spent_of(&tree, child).tokens, 50);
    // Requests under way below count above.
    assert_eq!(tree.take(grandchild, &tokens(40)), Ok(()));
    let refused = tree.take(child, &tokens(1)).unwrap_err();
    assert_eq!(
        (refused.kind, refused.limit),
        (BudgetNodeKind::Session, 100)
    );
    tree.give_back(grandchild, "/one", &tokens(40));
    // One that comes again is counted once, also where its end is known.
    let of_child = spent_of(&tree, child);
    let spent = BTreeMap::from([(child, of_child)]);
    assert_eq!(tree.spent_by_agent(top, child), Some(of_child));
    assert_eq!(
        tree.day.spent.tokens, 60,
        "the day counts each request once"
    );
    tree.leave(child);
    assert_eq!(spent_of(&tree, top).tokens, 60);
    // Its parent still knows.
    assert_eq!(tree.spent_by_agent(top, child), Some(of_child));
    assert_eq!(
        tree.spent_by_agent(top, grandchild)
            .map(|spent| spent.tokens),
        Some(30)
    );
    assert_eq!(tree.spent_by_agent(top, SessionId::new()), None);
    join(&mut tree, (top, None), &spent);
    assert_eq!(spent_of(&tree, top).tokens, 50);
    // Whoever comes first: a parent finds what its agents have used.
    let mut tree = Tree::default();
    join(&mut tree, (grandchild, Some(child)), &none);
    use_up(&mut tree, grandchild, "/one", &tokens(30));
    join(&mut tree, (child, Some(top)), &none);
    join(&mut tree, (top, None), &none);
    assert_eq!(spent_of(&tree, top).tokens, 30);
}
