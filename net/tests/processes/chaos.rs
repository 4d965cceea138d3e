//! Chaos: users swap the value of a register inside the lock, while nodes are killed, stopped and
//! wiped. The histories are linearizable, the fences grow, and all is well again when it heals.
//!
//! `CHAOS_SECONDS=3600 SEED=7 cargo test -p exclusion-net --test processes chaos` asks for more. A
//! node with one precaution left out is caught: see `mutants`.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use stateright::semantics::{ConsistencyTester, LinearizabilityTester, SequentialSpec};

use super::harness::{Cluster, Plan, SplitMix, setting, wait_for};

/// A register that gives back the value before.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Swap(u64);

impl SequentialSpec for Swap {
    type Op = u64;
    type Ret = u64;

    fn invoke(&mut self, value: &u64) -> u64 {
        std::mem::replace(&mut self.0, *value)
    }
}

/// Swaps the register's value for that of the environment, if the fence is the greatest so far.
/// Two that are inside at a time are noticed by the folder.
const SWAP: &str = r#"
    mkdir inside.now || { echo two >> wrong; exit 0; }
    read last old < register
    sleep 0.01
    if [ "$EXCLUSION_FENCE" \> "$last" ]; then
        echo "$EXCLUSION_FENCE $VALUE" > register
        echo $old
    else
        echo "fence $EXCLUSION_FENCE after $last" >> wrong
    fi
    rmdir inside.now
"#;

/// What a user has done, and when.
struct Done {
    user: u32,
    value: u64,
    old: u64,
    began: Instant,
    ended: Instant,
}

/// What users and faults share.
#[derive(Default)]
struct Stage {
    over: AtomicBool,
    all: Mutex<Vec<Done>>,
    /// Of each node: read by every command that it is asked to let in.
    commands: [RwLock<()>; 3],
}

/// Ends the users when it is dropped, also if something fails.
struct Over<'a>(&'a Stage);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.over.store(true, Ordering::SeqCst);
    }
}

/// One user until it is time: swaps as often as it can.
fn swap_until(cluster: &Cluster, user: u32, stage: &Stage) {
    let mut count = 0;
    while !stage.over.load(Ordering::SeqCst) {
        count += 1;
        let (value, began) = (u64::from(user) * 1_000_000 + count, Instant::now());
        // Each user goes from node to node.
        let id = 1 + (user + count as u32) % 3;
        let _runs = stage.commands[id as usize - 1].read().unwrap();
        let mut command = cluster.locking(id, &["--within", "2"], SWAP);
        let output = command.env("VALUE", value.to_string()).output().unwrap();
        let ended = Instant::now();
        match output.status.code() {
            Some(0) => {
                let text = String::from_utf8_lossy(&output.stdout);
                // No word: it was fenced off, or was not alone. Both are in the file.
                if let Ok(old) = text.trim().parse() {
                    stage.all.lock().unwrap().push(Done { user, value, old, began, ended });
                }
            }
            // Not let in: nothing has happened.
            Some(124 | 125) => std::thread::sleep(Duration::from_millis(20)),
            code => panic!("node {id}: {code:?} {output:?}"),
        }
    }
}

/// Whether a history is one of a register.
fn is_linearizable(start: u64, all: &[Done]) -> bool {
    let mut tester = LinearizabilityTester::new(Swap(start));
    let began = all.iter().map(|done| (done.began, false, done));
    let ended = all.iter().map(|done| (done.ended, true, done));
    let mut moments: Vec<_> = began.chain(ended).collect();
    moments.sort_by_key(|moment| (moment.0, moment.1));
    for (_, over, done) in moments {
        let noted = match over {
            false => tester.on_invoke(done.user, done.value).map(|_| ()),
            true => tester.on_return(done.user, done.old).map(|_| ()),
        };
        noted.expect("each user does one thing at a time");
    }
    tester.is_consistent()
}

/// What befalls a node, which is all right afterwards.
fn befall(cluster: &Cluster, random: &mut SplitMix, stage: &Stage) -> String {
    let id = 1 + random.below(3) as u32;
    let pause = Duration::from_millis(random.below(1500));
    match random.below(4) {
        0 => {
            cluster.kill(id);
            std::thread::sleep(pause / 4);
            cluster.start(id);
            format!("node {id} is killed")
        }
        1 => {
            cluster.signal(id, Signal::STOP);
            std::thread::sleep(pause);
            cluster.signal(id, Signal::CONT);
            format!("node {id} is stopped for {pause:?}")
        }
        2 => {
            std::thread::sleep(pause);
            "nothing".to_owned()
        }
        _ => {
            cluster.kill(id);
            fs::remove_dir_all(cluster.path(&format!("{id}.data"))).unwrap();
            cluster.start(id);
            std::thread::sleep(Duration::from_millis(300) + pause);
            // The operator takes it in when nothing of it runs any more, and before any other
            // loses its memory.
            let nothing_runs = stage.commands[id as usize - 1].write().unwrap();
            for other in (1..=3).filter(|other| *other != id) {
                // A node that has not noticed yet that it is gone does not listen.
                let id = id.to_string();
                let told = || cluster.do_at(other, &["replace", &id]).status.success();
                wait_for("the word of the operator", told);
            }
            drop(nothing_runs);
            cluster.must_enter(id);
            format!("node {id} is wiped")
        }
    }
}

/// Chaos for so long. Says how many swaps there were, or what went wrong.
fn chaos(plan: Plan, seed: u64, length: Duration) -> Result<usize, String> {
    let cluster = Cluster::started(plan);
    fs::write(cluster.path("register"), "0 0\n").unwrap();
    let mut random = SplitMix(seed);
    let (since, mut swaps, mut start) = (Instant::now(), 0, 0);
    // In turns, each of which ends with all users done: long histories are costly to judge.
    while since.elapsed() < length {
        let stage = Stage::default();
        std::thread::scope(|scope| {
            let (cluster, stage) = (&cluster, &stage);
            for user in 1..=3 {
                scope.spawn(move || swap_until(cluster, user, stage));
            }
            let _over = Over(stage);
            for _ in 0..3 {
                println!("{:?}: {}", since.elapsed(), befall(cluster, &mut random, stage));
            }
        });
        let all = stage.all.into_inner().unwrap();
        if let Ok(wrong) = fs::read_to_string(cluster.path("wrong")) {
            return Err(wrong);
        }
        if !is_linearizable(start, &all) {
            return Err("the history is of no register".to_owned());
        }
        swaps += all.len();
        let register = fs::read_to_string(cluster.path("register")).unwrap();
        start = register.split_whitespace().last().unwrap().parse().unwrap();
    }
    // It has healed, and goes on.
    for id in 1..=3 {
        cluster.must_enter(id);
    }
    Ok(swaps)
}

#[test]
fn chaos_leaves_a_register_linearizable_and_its_fences_growing() {
    let (seconds, seed) = (setting("CHAOS_SECONDS", 8), setting("SEED", 1));
    println!("{seconds} seconds, seed {seed}");
    let plan = Plan { idle_timeout_ms: 600, algorithm: "suzuki_kasami", ..Plan::default() };
    let swaps = chaos(plan, seed, Duration::from_secs(seconds)).unwrap();
    println!("{swaps} swaps");
    assert!(swaps > 0);
}

#[test]
fn a_history_that_is_of_no_register_is_noticed() {
    let at = |moment| Instant::now() + Duration::from_millis(moment);
    let done = |user, value, old, began, ended| {
        let (began, ended) = (at(began), at(ended));
        Done { user, value, old, began, ended }
    };
    let first = || done(1, 10, 0, 0, 50);
    assert!(is_linearizable(0, &[first(), done(2, 20, 10, 40, 90)]));
    assert!(!is_linearizable(0, &[first(), done(2, 20, 0, 40, 90)]), "a lost swap");
    assert!(!is_linearizable(0, &[first(), done(2, 20, 30, 40, 90)]), "from nowhere");
}
