use super::*;

fn lines(count: usize) -> Vec<Line<'static>> {
    vec![Line::default(); count]
}

#[test]
fn lines_made_for_another_width_or_session_are_dropped() {
    let (mut cache, mut look) = (Cache::default(), ViewOptions::default());
    let mut draw = |generation: u64, look: &ViewOptions| {
        cache.prepare(generation, look);
        let made = RenderInputs::of(look, usize::from(look.columns), 0);
        for entry in 0..3 {
            cache.lines((generation, entry, 0), made, || lines(2));
            cache.count((generation, entry, 0), made, |_| 2);
        }
        (cache.kept.len(), cache.lines, cache.counts.len())
    };
    assert_eq!(draw(0, &look), (3, 6, 3));
    assert_eq!(draw(0, &look), (3, 6, 3));
    look.columns = 33;
    assert_eq!(draw(0, &look), (3, 6, 3));
    assert_eq!(draw(1, &look), (3, 6, 3));
    look.theme = Theme::Light;
    assert_eq!(draw(1, &look), (3, 6, 3));
}

#[test]
fn lines_are_counted_not_parts_and_those_of_the_same_part_once() {
    let mut cache = Cache::default();
    for version in 0..100 {
        let made = RenderInputs::of(&ViewOptions::default(), 80, version);
        cache.lines((0, 0, 0), made, || lines(1_000));
    }
    assert_eq!((cache.kept.len(), cache.lines), (1, 1_000));
    for entry in 0..200 {
        let made = RenderInputs::of(&ViewOptions::default(), 80, 0);
        cache.lines((0, entry, 0), made, || lines(1_000));
        assert!(cache.lines <= KEPT_MAX + 1_000, "{}", cache.lines);
        let kept: usize = cache.kept.values().map(|kept| kept.1.len()).sum();
        assert_eq!(kept, cache.lines);
    }
}
