//! `bench`: what an entry costs over loopback.

use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use exclusion::message::registry::{ALGORITHMS, Algorithm, Size};
use exclusion_net::bench::{Figures, measure};

use super::Failure;

#[derive(Args)]
pub struct Bench {
    /// Which algorithms; all that there are for so many nodes, if none is named.
    algorithms: Vec<String>,
    /// How many nodes.
    #[arg(long, default_value_t = 3)]
    nodes: usize,
    /// How many entries of each kind.
    #[arg(long, default_value_t = 2000)]
    entries: usize,
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn show(figures: &Figures) {
    let Figures { algorithm, messages, saturated, messages_saturated, .. } = figures;
    let alone = micros(figures.alone);
    let (floor, ratio) = match figures.floor.map(micros) {
        Some(floor) => (format!("{floor:.0} µs"), format!("{:.2}", floor / alone)),
        None => ("-".to_owned(), "-".to_owned()),
    };
    println!(
        "| `{algorithm}` | {messages:.1} | {alone:.0} µs | {floor} | {ratio} | {saturated:.0} | \
         {messages_saturated:.1} |"
    );
}

impl Bench {
    pub fn run(self) -> Result<ExitCode, Failure> {
        if self.entries == 0 {
            return Err(Failure::usage("measure some entries"));
        }
        let named = self.algorithms.iter().map(|name| Algorithm::named(name));
        let mut algorithms = named.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
        if algorithms.is_empty() {
            let fits = |it: &&Algorithm| it.arrangement.is_none() && !it.several_entries;
            algorithms = ALGORITHMS.iter().filter(fits).collect();
        }
        for algorithm in &algorithms {
            algorithm.check(Size::of(self.nodes)).map_err(Failure::usage)?;
        }
        let folder = std::env::temp_dir().join(format!("exclusion-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(Failure::of)?;
        println!(
            "| algorithm | messages, alone | alone | floor | floor / alone | entries/s, all | messages, all |"
        );
        println!("|---|---|---|---|---|---|---|");
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let done = runtime.map_err(Failure::of)?.block_on(async {
            for algorithm in algorithms {
                let measured = measure(algorithm, self.nodes, self.entries, &folder).await;
                show(&measured.map_err(Failure::of)?);
            }
            Ok(ExitCode::SUCCESS)
        });
        let _ = std::fs::remove_dir_all(&folder);
        done
    }
}
