//! How many message events per second the simulator does, on one core: `cargo bench --bench sim`.
//!
//! All nodes always want in. `constant`: every message takes T. `exponential`: messages overtake
//! each other.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use exclusion::message::sim::{Delay, Report, Simulation, Workload};
use exclusion::message::{CentralCoordinator, Lamport, Maekawa, Protocol, RicartAgrawala};

fn simulate<P: Protocol>(cluster: Vec<P>, delay: Delay, entries: u64) -> Report {
    let wanting = cluster.len();
    Simulation::new(cluster)
        .delay(delay)
        .workload(Workload::Saturated { wanting, entries })
        .run()
        .expect("it runs")
}

fn bench<P: Protocol>(criterion: &mut Criterion, name: &str, cluster: &[P]) {
    let mut group = criterion.benchmark_group(format!("{name}, {} nodes", cluster.len()));
    for (name, delay) in
        [("constant", Delay::Constant(1.0)), ("exponential", Delay::Exponential(1.0))]
    {
        let entries = 2000;
        let messages = simulate(cluster.to_vec(), delay, entries).messages.total();
        group.throughput(Throughput::Elements(messages));
        group.bench_function(name, |bencher| {
            bencher.iter(|| simulate(cluster.to_vec(), delay, entries));
        });
    }
    group.finish();
}

fn sim(criterion: &mut Criterion) {
    bench(criterion, "ricart_agrawala", &RicartAgrawala::cluster(64).expect("64 nodes"));
    bench(criterion, "lamport", &Lamport::cluster(64).expect("64 nodes"));
    bench(criterion, "maekawa", &Maekawa::grid(64).expect("64 nodes"));
    bench(criterion, "central", &CentralCoordinator::cluster(64).expect("64 nodes"));
}

criterion_group!(benches, sim);
criterion_main!(benches);
