//! The day that it is, where the daemon is: from its midnight to the next.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use proto::Stamp;

/// Milliseconds of a day, where its own end is not known.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Today {
    pub start: Stamp,
    /// When the next one begins.
    end: Stamp,
    /// As `2026-08-01`.
    pub name: String,
}

impl Today {
    /// The day of this moment, in the system's time zone.
    pub fn at(now: Stamp) -> Self {
        Self::in_zone(now, TimeZone::system())
    }

    fn in_zone(now: Stamp, zone: TimeZone) -> Self {
        let moment = Timestamp::from_millisecond(now.0).unwrap_or(Timestamp::UNIX_EPOCH);
        let here = moment.to_zoned(zone);
        let start = here.start_of_day();
        let next = here.tomorrow().and_then(|next| next.start_of_day());
        let start = start.map_or(now.0, |start| start.timestamp().as_millisecond());
        Self {
            start: Stamp(start),
            end: Stamp(next.map_or(start + DAY_MS, |next| next.timestamp().as_millisecond())),
            name: here.date().to_string(),
        }
    }

    /// Whether a moment is in it.
    pub fn holds(&self, at: Stamp) -> bool {
        (self.start..self.end).contains(&at)
    }
}

#[cfg(test)]
mod tests {
    //! Days of zones with and without summer time.

    use super::*;

    #[test]
    fn a_day_goes_from_midnight_to_midnight_also_where_it_is_shorter() {
        let berlin = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let hours = |noon: &str| {
            let noon: Timestamp = noon.parse().unwrap();
            let now = Stamp(noon.as_millisecond());
            let today = Today::in_zone(now, berlin.clone());
            assert!(today.holds(now) && today.holds(today.start) && !today.holds(today.end));
            (today.name, (today.end.0 - today.start.0) / 3_600_000)
        };
        assert_eq!(hours("2026-08-01T23:30:00Z"), ("2026-08-02".into(), 24));
        assert_eq!(hours("2026-03-29T12:00:00Z"), ("2026-03-29".into(), 23));
        assert_eq!(hours("2026-10-25T12:00:00Z"), ("2026-10-25".into(), 25));
    }
}
