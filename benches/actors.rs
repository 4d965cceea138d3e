//! Entries per second of clusters of actors, beside the floor: `cargo bench --bench actors`.
//!
//! The goal is half of the floor, alone, for the central coordinator and Ricart and Agrawala at 4
//! nodes. The floor bounces as many messages through the same channels, with no protocol and no
//! users. `alone`: one node wants in, and the floor has one player. `all`: all nodes always want
//! in; beside the floor of one player (entries one after the other, as exclusion demands) and of
//! all (nobody excludes anybody). Clusters and floors take turns; the figures are medians over the
//! rounds.

use exclusion::message::actor::DataOf;
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use lab::measure::actors::{Timing, time_of_bouncing, time_of_entries};
use lab::measure::contention::median;

struct Compare {
    rounds: usize,
    entries: u64,
}

impl Visitor for Compare {
    type Output = ();

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>)
    where
        DataOf<P, ()>: Send + Sync,
    {
        if !P::RESTS {
            // A token that circles waits for its timer at each hop.
            return;
        }
        let name = algorithm.name;
        let Self { rounds, entries } = self;
        let nodes = cluster.len();
        let mut rates = [(); 5].map(|()| Vec::new());
        for _ in 0..rounds {
            let alone = time_of_entries(cluster.clone(), 1, entries);
            let all = time_of_entries(cluster.clone(), nodes, entries);
            let of_floor = |timing: &Timing, players| {
                // A node that need not ask anybody stands on no floor.
                let messages = timing.per_entry().round() as usize;
                if messages < 2 {
                    return f64::NAN;
                }
                timing.rate() / time_of_bouncing(nodes, players, entries, messages).rate()
            };
            let round = [
                alone.rate(),
                of_floor(&alone, 1),
                all.rate(),
                of_floor(&all, 1),
                of_floor(&all, nodes),
            ];
            rates.iter_mut().zip(round).for_each(|(rates, rate)| rates.push(rate));
        }
        let ratio =
            |ratio: f64| if ratio.is_nan() { "-".to_owned() } else { format!("{ratio:.2}") };
        let [alone, of_floor, all, of_one, of_all] = rates.map(|rates| median(rates.into_iter()));
        let [of_floor, of_one, of_all] = [of_floor, of_one, of_all].map(ratio);
        println!("{name:22}{nodes:>4}{alone:>12.0}{of_floor:>9}{all:>12.0}{of_one:>9}{of_all:>9}");
    }
}

fn main() {
    // Cargo's own way of asking only whether it runs.
    let quick = std::env::args().any(|argument| argument == "--test");
    let (sizes, rounds, entries) =
        if quick { (&[4][..], 1, 100) } else { (&[2, 4, 16][..], 5, 3000) };
    println!("{:20}{:>6}{:>12}{:>9}{:>12}{:>18}", "", "", "alone", "", "all", "");
    println!(
        "{:20}{:>6}{:>12}{:>9}{:>12}{:>9}{:>9}",
        "algorithm", "nodes", "entries/s", "x floor", "entries/s", "x one", "x all"
    );
    for &nodes in sizes {
        // Where an arrangement does not exist, there is no cluster.
        // Those that wait for timers would measure the timers.
        let timeless = |it: &&Algorithm| !it.within_tmax;
        for algorithm in ALGORITHMS.iter().filter(timeless) {
            let _ = algorithm.build(Size::of(nodes), Compare { rounds, entries });
        }
        println!();
    }
}
