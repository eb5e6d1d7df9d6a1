//! Many sessions that stream at once: does each get its share?

use std::time::{Duration, Instant};

use futures::future::join_all;
use proto::hello::Role;
use proto::methods::SessionCreate;

use super::Size;
use super::endpoint::{Endpoint, Round};
use super::table::{Figure, median, row};
use crate::{House, follow};

/// Twenty tokens a second.
const EVERY: Duration = Duration::from_millis(50);

/// Tokens of an answer: three seconds.
const TOKENS: usize = 60;

/// Sessions of one connection, which may have so many calls open at a time.
const OF_ONE: usize = proto::frame::CALLS_MAX / 2;

/// All rows.
pub fn figures(size: Size) -> Vec<Figure> {
    let endpoint = Endpoint::start();
    let house = House::new();
    house.provider(&format!(
        "name = \"test\"\nkind = \"openai\"\nbase_url = \"{}\"\nmodel = \"test-model\"\nmax_concurrent = {}",
        endpoint.base_url(),
        size.crowd
    ));
    house.daemon();
    let tokens = TOKENS.min(size.tokens / 10);
    let round = Round::Paced {
        tokens,
        every: EVERY,
    };
    endpoint.play(vec![round; size.crowd]);
    let times = house.block_on(async {
        let clients = (0..size.crowd.div_ceil(OF_ONE)).map(|_| house.client("bench", Role::Drive));
        let clients = join_all(clients).await;
        let sessions = (0..size.crowd).map(|number| {
            let client = clients[number / OF_ONE].clone();
            let params = house.create("speak");
            async move {
                let begun = Instant::now();
                let created = client.call::<SessionCreate>(&params).await.expect("create");
                let mut follow = follow::from_the_start(&client, created.pid).await;
                follow::to_end_of_turn(&mut follow).await;
                begun.elapsed()
            }
        });
        join_all(sessions).await
    });
    let slowest = *times.iter().max().expect("sessions");
    vec![row(
        "200 sessions stream at once, each followed: the slowest (floor: the median)",
        slowest,
        median(times),
        "2 ×",
    )]
}
