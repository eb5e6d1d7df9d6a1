//! Does it take longer to start with much history? A home with many stored sessions beside one with few.

use std::fs;
use std::path::Path;
use std::time::Duration;

use proto::hello::Role;
use proto::methods::DaemonStatus;
use proto::params::Empty;
use proto::{Pid, SessionId};

use super::endpoint::Endpoint;
use super::{Size, hello, median};
use crate::House;
use crate::wait::until;

/// A home whose daemon has seen `count` stored sessions, and does not run.
pub fn stored(count: usize, endpoint: &Endpoint) -> House {
    let house = House::new();
    house.provider_config(&endpoint.base_url());
    hello(&house, endpoint);
    house.stop_daemon();
    let sample = house.log(Pid(1));
    let text = fs::read_to_string(&sample.path).expect("the sample");
    let sample_id = sample.created().session.to_string();
    for number in 1..count {
        copy(&house.home(), &text, &sample_id, number as u64 + 1);
    }
    fs::write(house.home_file("pid.next"), format!("{}", count + 1)).expect("the next pid");
    // The catalog is made from the logs; that is done before anything is measured.
    fs::remove_file(house.home_file("reasonix.db")).expect("an old catalog");
    house.daemon();
    until("the catalog to have all sessions", || {
        let stored = house.block_on(async {
            let client = house.client("bench", Role::Watch).await;
            let status = client.call::<DaemonStatus>(&Empty {}).await;
            status.map_or(0, |status| status.sessions.stored)
        });
        (stored == count as u64).then_some(())
    });
    house.stop_daemon();
    house
}

/// A stored session like the sample, with another id and number.
fn copy(home: &Path, sample: &str, sample_id: &str, pid: u64) {
    let id = SessionId::new().to_string();
    let directory = home.join("sessions").join(&id);
    fs::create_dir(&directory).expect("a session's directory");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
    fs::set_permissions(&directory, mode).expect("close it");
    let mut log = String::with_capacity(sample.len());
    for line in sample.lines() {
        let (head, _) = line.rsplit_once(",\"crc\":").expect("a line with a crc");
        let head =
            head.replace(sample_id, &id)
                .replacen("\"pid\":1,", &format!("\"pid\":{pid},"), 1);
        let crc = crc32c::crc32c(head.as_bytes());
        log.push_str(&format!("{head},\"crc\":\"{crc:08x}\"}}\n"));
    }
    fs::write(directory.join("log.jsonl"), log).expect("a log");
}

/// Medians of process start → request without a running daemon: with much history, and with ten sessions.
pub fn cold_starts(size: Size, endpoint: &Endpoint) -> (Duration, Duration) {
    let (many, few) = (stored(size.stored, endpoint), stored(10, endpoint));
    let (mut with_many, mut with_few) = (Vec::new(), Vec::new());
    // In turn, so that whatever else the machine does falls on both.
    for _ in 0..size.starts.min(9) {
        for (house, times) in [(&many, &mut with_many), (&few, &mut with_few)] {
            times.push(hello(house, endpoint).0);
            house.stop_daemon();
        }
    }
    (median(with_many), median(with_few))
}
