//! Pieces that are read together are what each is alone.

use proptest::prelude::*;

use super::*;

/// A log of so many bytes at least, all on disk.
fn written(bytes: u64) -> Writing {
    let mut writing = Writing::new();
    while writing.index.end() < bytes {
        writing.commit(64, 40).expect("an append");
    }
    writing
}

fn disk(offset: u64, len: usize) -> Where {
    Where::Disk { offset, len }
}

fn together(writing: &Writing, places: &[Where]) -> Vec<Vec<u8>> {
    let gathered = writing.log.gather(places).expect("they are there");
    gathered.iter().map(<[u8]>::to_vec).collect()
}

fn alone(writing: &Writing, places: &[Where]) -> Vec<Vec<u8>> {
    let fetch = |at| writing.log.fetch(at).expect("it is there").into_owned();
    places.iter().map(fetch).collect()
}

#[test]
fn of_nothing_nothing_is_read() {
    assert_eq!(together(&Writing::new(), &[]), Vec::<Vec<u8>>::new());
}

#[test]
fn a_piece_that_is_not_there_is_an_error() {
    let writing = written(1_000);
    let end = writing.index.end();
    assert!(writing.log.gather(&[disk(0, 5), disk(end, 1)]).is_err());
}

proptest! {
    #[test]
    fn pieces_read_together_are_what_each_is_alone(
        mut asked in prop::collection::vec((0_u64..600_000, 0_usize..3_000, any::<bool>()), 0..60),
        in_order in any::<bool>(),
        close in any::<bool>(),
    ) {
        thread_local!(static LOG: Writing = written(700_000));
        if in_order {
            asked.sort();
        }
        let places: Vec<_> = asked.into_iter().map(|(offset, len, memory)| match memory {
            true => Where::Memory { line: vec![7; len + 2].into(), range: 1..len + 1 },
            // Neighbours, or pieces all over the file.
            false => disk(if close { offset / 100 } else { offset }, len),
        }).collect();
        let (together, alone) = LOG.with(|log| (together(log, &places), alone(log, &places)));
        prop_assert_eq!(together, alone);
    }
}
