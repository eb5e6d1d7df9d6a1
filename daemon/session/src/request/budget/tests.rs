//! Earlier usage and charges made meanwhile come to one sum, and a permit is given back once.

use contract::Permit;

use super::*;
use crate::tests::world::World;

fn spent(tokens: u64) -> Spent {
    Spent {
        tokens,
        steps: 1,
        ..Spent::default()
    }
}

fn inner() -> Inner {
    Inner {
        tree: Tree::default(),
        today: Today::at(Stamp::now()),
        known: false,
        recent: VecDeque::new(),
        keeps_all: false,
    }
}

fn charge(inner: &mut Inner, session: SessionId, seq: u64, at: Stamp, tokens: u64) {
    inner.charge(Charge {
        session,
        root: "/one".to_owned(),
        seq: Seq(seq),
        at,
        spent: spent(tokens),
    });
}

fn of_the_day(inner: &Inner, session: SessionId) -> u64 {
    inner.tree.show(session)[0].spent.tokens
}

#[test]
fn usage_charged_while_the_ledger_is_read_counts_once() {
    let (mut inner, now) = (inner(), Stamp::now());
    let (one, two, gone) = (SessionId::new(), SessionId::new(), SessionId::new());
    for session in [one, two] {
        let none = Budget::default();
        inner.tree.join(&JoiningSession {
            session,
            pid: Pid(1),
            root: "/one",
            limit: none,
            spent: Spent::default(),
            above: None,
            below: &BTreeMap::new(),
        });
    }
    charge(&mut inner, one, 10, now, 1);
    charge(&mut inner, one, 20, now, 2);
    charge(&mut inner, two, 5, now, 4);
    charge(&mut inner, gone, 7, now, 8);
    // One was counted up to its first charge, two not at all yet, the third is in the usage ledger.
    let past = Past {
        used: HashMap::from([("/one".to_owned(), spent(1000 + 1 + 8))]),
        counted: HashMap::from([(one, Seq(10)), (gone, Seq(u64::MAX))]),
    };
    let since = inner.today.start;
    inner.count(&past, Stamp(since.0 - 1));
    assert_eq!(of_the_day(&inner, one), 15, "it was read for another day");
    inner.count(&past, since);
    assert_eq!(of_the_day(&inner, one), 1015);
    charge(&mut inner, two, 6, now, 16);
    assert_eq!(of_the_day(&inner, one), 1031);
    // The next day has nothing, also where a charge of this one comes late.
    let tomorrow = Stamp(now.0 + 2 * 24 * 60 * 60 * 1000);
    inner.roll(tomorrow);
    assert!(!inner.known);
    assert_eq!(of_the_day(&inner, one), 0);
}

#[tokio::test]
async fn request_permit_is_taken_and_given_back_once() {
    let world = World::new(r#"{"text": "hi"}"#);
    let ledger = Arc::clone(&world.supervisor.services.ledger);
    let budget_member = BudgetMember {
        above: None,
        noted: Arc::default(),
        ledger,
        session: SessionId::new(),
        root: "/elsewhere".to_owned(),
        cwd: PathBuf::from("/elsewhere"),
    };
    let one = Budget {
        steps: Some(1),
        ..Budget::default()
    };
    budget_member.join(Pid(7), one, Spent::default(), &BTreeMap::new());
    let leave = || RequestPermit::new(budget_member.clone(), spent(5), 0);
    let (first, second) = (leave(), leave());
    assert!(first.take().is_ok() && first.take().is_ok());
    let refused = second.take().unwrap_err();
    assert_eq!(refused.kind, contract::provider::ErrorKind::Budget);
    assert!(
        refused.hint.contains("reasonix budget 7 --steps 2"),
        "{refused:?}"
    );
    first.give_back();
    first.give_back();
    assert!(second.take().is_ok() && first.take().is_err());
    drop(second);
    assert!(first.take().is_ok());
    first.close();
    assert!(first.take().is_err(), "it is over");
    assert!(leave().take().is_ok());
}
