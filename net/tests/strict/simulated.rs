//! The strict mode, simulated: every algorithm of the registry through sessions that end, nodes
//! that are cut off, processes that die and come back; then the world heals, and all are served.

use super::model::{Act, Cluster, World};
use exclusion::message::FromRegistry;
use exclusion::message::check::Model;
use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion_net::strict::Precautions;

/// Steele's, Lea's and Flood's generator: the same seed gives the same walk.
struct SplitMix(u64);

impl SplitMix {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

type Walked<P> = (Cluster<FromRegistry<P>>, World<FromRegistry<P>>);

/// Walks at random, and stops where something is wrong. Faults come once in so many steps.
fn walk<P: Shipped>(
    (cluster, world): &mut Walked<P>,
    random: &mut SplitMix,
    steps: usize,
    until: impl Fn(&World<FromRegistry<P>>) -> bool,
) -> Result<(), String> {
    for _ in 0..steps {
        if until(world) {
            return Ok(());
        }
        let mut acts = Vec::new();
        cluster.actions(world, &mut acts);
        let faulty = random.below(40) == 0;
        let mut wanted: Vec<_> = acts.iter().filter(|act| act.is_fault() == faulty).collect();
        if wanted.is_empty() {
            wanted = acts.iter().filter(|act| !act.is_fault()).collect();
        }
        if wanted.is_empty() {
            return Ok(());
        }
        let act: Act = wanted[random.below(wanted.len())].clone();
        *world = cluster.next_state(world, act).ok_or("no such step")?;
        if let Some(wrong) = world.wrong(cluster) {
            return Err(wrong);
        }
    }
    Ok(())
}

/// A cluster in trouble.
struct Trouble {
    seed: u64,
    precautions: Precautions,
    blanks: u8,
}

impl Visitor for Trouble {
    /// How many entries there were, or what went wrong.
    type Output = Result<u32, String>;

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, nodes: Vec<P>) -> Self::Output {
        let blueprint = FromRegistry::of(algorithm, &nodes);
        let cluster = Cluster {
            precautions: self.precautions,
            requests: 200,
            withdraws: self.seed.is_multiple_of(2),
            cuts: 200,
            crashes: 200,
            orphans: true,
            blanks: self.blanks,
            ..Cluster::of(&blueprint, nodes.len())
        };
        let world = cluster.init_states().swap_remove(0);
        let mut walked = (cluster, world);
        let mut random = SplitMix(self.seed);
        walk(&mut walked, &mut random, 3_000, |_| false)?;
        // A request that comes later than its timers allow may starve.
        let may_starve = algorithm.within_tmax && !algorithm.name.ends_with("hardened");
        if self.blanks == 0 && !may_starve {
            walked.0.withdraws = false;
            walked.1.heal();
            walked.1.ask_again(1);
            walk(&mut walked, &mut random, 40_000, World::is_done)?;
            if !walked.1.is_done() {
                return Err("somebody is not served, although the world has healed".to_owned());
            }
        }
        Ok(walked.1.entries())
    }
}

#[test]
fn every_algorithm_excludes_through_trouble_and_serves_all_after_it() {
    for algorithm in ALGORITHMS {
        let nodes = algorithm.nodes_to_show.max(3);
        for seed in 0..4 {
            let trouble = Trouble { seed, precautions: Precautions::ALL, blanks: 0 };
            let entries = algorithm.build(Size::of(nodes), trouble).expect("it is shown so");
            let entries = entries.unwrap_or_else(|wrong| panic!("{algorithm}, {seed}: {wrong}"));
            assert!(entries > 0, "{algorithm}, seed {seed}: nobody entered");
        }
    }
}

#[test]
fn nobody_that_has_lost_its_memory_puts_two_inside() {
    for name in ["central_coordinator", "suzuki_kasami", "maekawa", "ricart_agrawala"] {
        for seed in 0..10 {
            let algorithm = Algorithm::named(name).expect("it is registered");
            let trouble = Trouble { seed, precautions: Precautions::ALL, blanks: 3 };
            let entries = algorithm.build(Size::of(4), trouble).expect("four will do");
            entries.unwrap_or_else(|wrong| panic!("{name}, seed {seed}: {wrong}"));
        }
    }
}

/// Which seed refutes a cluster with a precaution left out: two are inside, or a fence falls.
fn refuted_by(
    name: &str,
    nodes: usize,
    blanks: u8,
    leave_out: fn(&mut Precautions),
) -> Option<(u64, String)> {
    let mut precautions = Precautions::ALL;
    leave_out(&mut precautions);
    (0..500).find_map(|seed| {
        let algorithm = Algorithm::named(name).expect("it is registered");
        let trouble = Trouble { seed, precautions, blanks };
        let outcome = algorithm.build(Size::of(nodes), trouble).expect("it can be so small");
        outcome.err().filter(|wrong| !wrong.contains("served")).map(|wrong| (seed, wrong))
    })
}

#[test]
fn each_precaution_that_is_left_out_is_missed() {
    for name in ["central_coordinator", "suzuki_kasami"] {
        for (what, found) in [
            ("epochs", refuted_by(name, 2, 0, |it| it.epochs = false)),
            ("outside", refuted_by(name, 2, 0, |it| it.outside = false)),
            ("memory", refuted_by(name, 2, 3, |it| it.memory = false)),
            ("agreement", refuted_by(name, 3, 0, |it| it.agreement = false)),
        ] {
            let (seed, wrong) = found.unwrap_or_else(|| panic!("{name} holds without {what}"));
            println!("{name} without {what}: {wrong}, seed {seed}");
        }
    }
}
