//! Nodes in network namespaces of their own: cut off, cut off one way, in part, and slow.
//!
//! A cut is a neighbour entry with an address that nobody has: what is sent is lost in silence.
//! That needs to be root, and no more of the kernel than namespaces, bridges and veth. Where it
//! cannot be, these tests say so and do nothing.

use std::process::Command;
use std::time::Duration;

use super::harness::{Cluster, Plan, wait_for};
use exclusion_net::SecretKey;

/// A network of three, with a bridge between them.
struct Network {
    name: String,
}

const NODES: u32 = 3;

fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split_whitespace()).output();
    let output = output.map_err(|why| format!("ip: {why}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("ip {arguments}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

impl Network {
    fn new() -> Result<Self, String> {
        let name = format!("exn{}", &SecretKey::generate().public().to_string()[..8]);
        let network = Self { name };
        let hub = network.place(0);
        ip(&format!("netns add {hub}"))?;
        ip(&format!("-n {hub} link add br0 type bridge"))?;
        ip(&format!("-n {hub} link set br0 up"))?;
        for id in 1..=NODES {
            let place = network.place(id);
            ip(&format!("netns add {place}"))?;
            ip(&format!("-n {place} link set lo up"))?;
            let mac = mac(id);
            let ends = format!("eth0 netns {place} address {mac}");
            ip(&format!("link add {ends} type veth peer name p{id} netns {hub}"))?;
            ip(&format!("-n {hub} link set p{id} master br0 up"))?;
            ip(&format!("-n {place} addr add {}/24 dev eth0", address(id)))?;
            ip(&format!("-n {place} link set eth0 up"))?;
        }
        for from in 1..=NODES {
            for to in (1..=NODES).filter(|to| *to != from) {
                network.one_way(from, to, false)?;
            }
        }
        Ok(network)
    }

    fn place(&self, id: u32) -> String {
        format!("{}-{id}", self.name)
    }

    fn places(&self) -> Vec<(String, String)> {
        (1..=NODES).map(|id| (self.place(id), address(id))).collect()
    }

    /// Loses what one sends to the other, or heals that.
    fn one_way(&self, from: u32, to: u32, cut: bool) -> Result<(), String> {
        let (place, address) = (self.place(from), address(to));
        let mac = if cut { mac(99) } else { mac(to) };
        ip(&format!("-n {place} neigh replace {address} lladdr {mac} dev eth0 nud permanent"))
    }

    fn both_ways(&self, one: u32, other: u32, cut: bool) {
        self.one_way(one, other, cut).unwrap();
        self.one_way(other, one, cut).unwrap();
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        for id in 0..=NODES {
            let _ = ip(&format!("netns del {}", self.place(id)));
        }
    }
}

fn mac(id: u32) -> String {
    format!("02:00:00:00:00:{id:02}")
}

fn address(id: u32) -> String {
    format!("10.77.0.{id}")
}

/// A cluster in namespaces, if there can be one here.
fn cluster() -> Option<(Network, Cluster)> {
    match Network::new() {
        Ok(network) => {
            let places = Some(network.places());
            let plan = Plan { idle_timeout_ms: 800, places, ..Plan::default() };
            Some((network, Cluster::started(plan)))
        }
        Err(why) => {
            eprintln!("skipped: no network namespaces here ({why}); run it as root");
            None
        }
    }
}

fn no_epoch_at(cluster: &Cluster, ids: &[u32]) {
    for id in ids {
        wait_for("the end of the epoch", || cluster.status(*id).contains("no epoch runs"));
    }
}

#[test]
fn a_cut_stops_everybody_and_all_go_on_when_it_heals() {
    let Some((network, cluster)) = cluster() else { return };
    cluster.must_enter(1);
    // One node cut off from both others.
    network.both_ways(3, 1, true);
    network.both_ways(3, 2, true);
    no_epoch_at(&cluster, &[1, 2, 3]);
    for id in 1..=3 {
        assert_eq!(cluster.enters(id, 1), Some(124), "node {id}");
    }
    network.both_ways(3, 1, false);
    network.both_ways(3, 2, false);
    cluster.must_enter(3);
    // A partial partition: two do not hear each other, and the third hears both.
    network.both_ways(1, 2, true);
    no_epoch_at(&cluster, &[1, 2, 3]);
    assert_eq!(cluster.enters(3, 2), Some(124));
    network.both_ways(1, 2, false);
    cluster.must_enter(3);
}

#[test]
fn a_cut_one_way_stops_everybody_too() {
    let Some((network, cluster)) = cluster() else { return };
    cluster.must_enter(2);
    for (from, to) in [(1, 2), (3, 1)] {
        network.one_way(from, to, true).unwrap();
        no_epoch_at(&cluster, &[1, 2, 3]);
        assert_eq!(cluster.enters(2, 1), Some(124));
        network.one_way(from, to, false).unwrap();
        cluster.must_enter(2);
    }
}

#[test]
fn a_user_that_is_cut_off_inside_keeps_the_others_out() {
    let Some((network, cluster)) = cluster() else { return };
    let script = "touch inside; until [ -e go ]; do sleep 0.05; done";
    let mut inside = cluster.locking(1, &[], script).spawn().unwrap();
    wait_for("an entry", || cluster.path("inside").exists());
    network.both_ways(1, 2, true);
    network.both_ways(1, 3, true);
    no_epoch_at(&cluster, &[1, 2, 3]);
    assert_eq!(cluster.enters(2, 1), Some(124));
    network.both_ways(1, 2, false);
    network.both_ways(1, 3, false);
    wait_for("sessions", || cluster.status(1).contains("all wait for a user of this node"));
    assert_eq!(cluster.enters(2, 2), Some(124));
    std::fs::write(cluster.path("go"), "").unwrap();
    assert!(inside.wait().unwrap().success());
    cluster.must_enter(2);
}

#[test]
fn a_slow_link_is_slow_and_nothing_else() {
    let Some((network, cluster)) = cluster() else { return };
    cluster.must_enter(1);
    let place = network.place(1);
    let netem = ["netns", "exec", &place, "tc", "qdisc", "add", "dev", "eth0", "root", "netem"];
    let slow = Command::new("ip").args(netem).args(["delay", "80ms"]).output();
    let increment = "read n < number; echo $((n + 1)) > number";
    let mut done = 0;
    if slow.is_ok_and(|output| output.status.success()) {
        for round in 0..6 {
            assert!(cluster.lock(1 + round % 3, &[], increment).status.success());
            done += 1;
        }
    } else {
        // What is lost is sent again: without the kernel's delays, a link that is away and back.
        eprintln!("no netem here: the link is away for some moments instead");
        std::thread::scope(|scope| {
            let slow = scope.spawn(|| {
                for _ in 0..12 {
                    network.both_ways(1, 2, true);
                    std::thread::sleep(Duration::from_millis(150));
                    network.both_ways(1, 2, false);
                    std::thread::sleep(Duration::from_millis(150));
                }
            });
            while !slow.is_finished() {
                assert!(cluster.lock(1 + done as u32 % 3, &[], increment).status.success());
                done += 1;
            }
        });
    }
    assert_eq!(cluster.number(), done);
}
