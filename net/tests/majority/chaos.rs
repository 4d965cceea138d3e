//! Faults at random, by seed, while all nodes add to a fenced number.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use exclusion::message::{Fence, Fenced, NodeId};
use exclusion_net::majority::Node;
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use crate::support::{Cluster, LEASE, RESOURCE, within};

/// A number to which one is added.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Number(u64);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Add;

impl SequentialSpec for Number {
    type Op = Add;
    type Ret = u64;

    fn invoke(&mut self, _: &Add) -> u64 {
        self.0 += 1;
        self.0
    }
}

/// What happens to an addition.
#[derive(Clone, Copy)]
enum Event {
    Begins,
    /// It counts, and has made the number this.
    Ends(u64),
}

/// What is protected.
struct Register {
    value: u64,
    fences: Fenced<()>,
    /// Every addition, by its number, in the order in which it happened.
    history: Vec<(u64, Event)>,
}

/// What is protected, and what has happened to it.
struct Protected {
    register: Mutex<Register>,
    given: Mutex<Vec<Fence>>,
    /// Whether fences are checked.
    fenced: bool,
    /// How many reads and writes were refused.
    refused: AtomicU64,
    additions: AtomicU64,
    /// The node that was last let in.
    holder: AtomicUsize,
    done: AtomicBool,
}

impl Protected {
    fn new(fenced: bool) -> Arc<Self> {
        let register = Register { value: 0, fences: Fenced::new(()), history: Vec::new() };
        Arc::new(Self {
            register: Mutex::new(register),
            given: Mutex::default(),
            fenced,
            refused: AtomicU64::new(0),
            additions: AtomicU64::new(0),
            holder: AtomicUsize::new(0),
            done: AtomicBool::new(false),
        })
    }

    /// Does something to the register, if the fence is the latest.
    fn with<T>(&self, fence: Fence, act: impl FnOnce(&mut Register) -> T) -> Option<T> {
        let mut register = self.register.lock().expect("nobody panics with it");
        if register.fences.admit(fence).is_err() && self.fenced {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(act(&mut register))
    }

    /// Adds one, as a holder does that reads, thinks and writes. Says whether it counts.
    async fn add(&self, fence: Fence, thinks: impl Future<Output = ()>) -> bool {
        self.given.lock().expect("nobody panics with it").push(fence);
        let addition = self.additions.fetch_add(1, Ordering::Relaxed);
        let read = self.with(fence, |register| {
            register.history.push((addition, Event::Begins));
            register.value
        });
        let Some(value) = read else { return false };
        thinks.await;
        let written = self.with(fence, |register| {
            register.value = value + 1;
            register.history.push((addition, Event::Ends(value + 1)));
        });
        written.is_some()
    }

    /// How many additions count, and whether they could have been done one by one. An addition that
    /// was refused has done nothing.
    fn check(&self) -> (usize, bool) {
        let mut given = self.given.lock().expect("nobody panics with it").clone();
        given.sort();
        assert!(given.is_sorted_by(|one, other| one < other), "each entry has its own fence");
        let register = self.register.lock().expect("nobody panics with it");
        let ended = |it: &&(u64, Event)| matches!(it.1, Event::Ends(_));
        let counts: BTreeSet<_> = register.history.iter().filter(ended).map(|it| it.0).collect();
        let mut tester = LinearizabilityTester::new(Number(0));
        for &(addition, event) in register.history.iter().filter(|it| counts.contains(&it.0)) {
            match event {
                Event::Begins => tester.on_invoke(addition, Add).map(drop),
                Event::Ends(value) => tester.on_return(addition, value).map(drop),
            }
            .expect("each addition begins and ends once");
        }
        (counts.len(), tester.is_consistent())
    }
}

/// Adds, until it is done or its node is down.
async fn work(me: usize, node: Node, protected: Arc<Protected>, seed: u64) {
    let mut random = Random(seed);
    while !protected.done.load(Ordering::Relaxed) {
        let Ok(guard) = node.lock(RESOURCE).await else { return };
        protected.holder.store(me, Ordering::Relaxed);
        // Some think for longer than it takes to overtake them, and do not look at their guard.
        let thinks = match random.below(200) {
            0 => 4 * LEASE,
            _ => Duration::from_millis(random.below(4)),
        };
        protected.add(guard.fence(), tokio::time::sleep(thinks)).await;
        drop(guard);
        tokio::time::sleep(Duration::from_millis(random.below(5))).await;
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Faults for a while; then the world heals, and everybody must get in once more.
async fn chaos(nodes: usize, seed: u64, faults: usize) -> Arc<Protected> {
    println!("seed {seed}");
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut cluster = Cluster::start(nodes, seed).await;
    let protected = Protected::new(true);
    let start = |me: usize, node: &Node, seed| {
        tokio::spawn(work(me, node.clone(), Arc::clone(&protected), seed | 1));
    };
    for me in 0..nodes {
        start(me, cluster.node(me), seed + me as u64);
    }
    // Who is cut off or down. Now and then that is a majority, and nothing happens until it heals.
    let mut impaired = BTreeSet::new();
    for _ in 0..faults {
        // Half of the faults are aimed at the holder.
        let anybody = usize::try_from(random.below(nodes as u64)).expect("few");
        let holder = protected.holder.load(Ordering::Relaxed);
        let victim = if random.below(2) == 0 { holder } else { anybody };
        impaired.insert(victim);
        let few = 2 * impaired.len() < nodes || random.below(8) == 0;
        match random.below(6) {
            0 | 1 if few && cluster.nodes[victim].is_some() => cluster.kill(victim).await,
            2 | 3 if few => cluster.wires.cut_off(&[NodeId::at(victim)], nodes),
            4 if few => {
                let other = NodeId::at((victim + 1) % nodes);
                cluster.wires.cut_one_way(NodeId::at(victim), other);
            }
            5 => cluster.wires.disturb(u32::try_from(random.below(50)).expect("few"), LEASE / 50),
            _ => {
                cluster.wires.heal();
                impaired.clear();
                for me in 0..nodes {
                    if cluster.nodes[me].is_none() {
                        let node = cluster.revive(me).expect("its disk is whole");
                        start(me, &node, random.below(u64::MAX));
                    }
                }
            }
        }
        let leases = u32::try_from(1 + random.below(5)).expect("few");
        tokio::time::sleep(leases * LEASE).await;
    }
    cluster.wires.heal();
    cluster.wires.disturb(0, Duration::ZERO);
    protected.done.store(true, Ordering::Relaxed);
    for me in 0..nodes {
        if cluster.nodes[me].is_none() {
            cluster.revive(me).expect("its disk is whole");
        }
    }
    for me in 0..nodes {
        let counts = within(async {
            loop {
                let guard = cluster.lock(me).await;
                if protected.add(guard.fence(), async {}).await {
                    break;
                }
            }
        });
        counts.await;
    }
    cluster.stop().await;
    protected
}

fn number(name: &str, or: u64) -> u64 {
    std::env::var(name).map_or(or, |value| value.parse().expect("it is a number"))
}

/// `CHAOS_SEED` chooses the faults, `CHAOS_FAULTS` how many there are.
#[tokio::test(flavor = "multi_thread")]
async fn a_fenced_number_survives_faults_at_random() {
    let (seed, faults) = (number("CHAOS_SEED", 1), number("CHAOS_FAULTS", 10));
    let faults = usize::try_from(faults).expect("few");
    let nodes = if seed % 2 == 0 { 3 } else { 5 };
    let protected = chaos(nodes, seed, faults).await;
    let (additions, is_consistent) = protected.check();
    let refused = protected.refused.load(Ordering::Relaxed);
    println!("{additions} additions, {refused} reads and writes refused");
    assert!(is_consistent, "additions were lost");
    let value = protected.register.lock().expect("nobody panics with it").value;
    assert_eq!(additions as u64, value);
}

/// A holder reads, is cut off, thinks until it has been overtaken, and writes. Says whether the
/// history of the number is consistent.
async fn overtaken(fenced: bool) -> bool {
    let cluster = Cluster::start(3, 1).await;
    let protected = Protected::new(fenced);
    let old = cluster.lock(0).await;
    let thinks = async {
        cluster.wires.cut_off(&[NodeId(0)], 3);
        let new = cluster.lock(1).await;
        assert!(protected.add(new.fence(), async {}).await, "it is the latest");
    };
    let counts = protected.add(old.fence(), thinks).await;
    assert_eq!(counts, !fenced, "a fence that is checked is refused");
    cluster.stop().await;
    protected.check().1
}

#[tokio::test(flavor = "multi_thread")]
async fn an_addition_is_lost_where_fences_are_not_checked_and_only_there() {
    assert!(overtaken(true).await);
    assert!(!overtaken(false).await, "this is what the fence is for");
}
