//! Every decoder, fed with noise and with real bytes that were spoilt.
//!
//! `FUZZ_ROUNDS=1000000 SEED=7 cargo test -p exclusion-net --lib fuzz` asks for more.

use std::collections::VecDeque;

use exclusion::message::registry::{ALGORITHMS, Algorithm, Shipped, Size, Visitor};
use exclusion::message::{Blueprint, FromRegistry, Machine, NodeId};

use crate::control::{Patience, Reply, Request};
use crate::strict::{Digest, Input, Message, Output, Record, Stage, Strict};
use crate::{Configuration, Down, Status, frame};

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Steele's, Lea's and Flood's generator.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn noise(&mut self) -> Vec<u8> {
        (0..self.below(40)).map(|_| self.next() as u8).collect()
    }

    /// Something close to what was there: bytes changed, left out, put in, doubled, cut off.
    fn spoil(&mut self, real: &[u8]) -> Vec<u8> {
        let mut bytes = real.to_vec();
        for _ in 0..=self.below(3) {
            let place = self.below(bytes.len());
            match self.below(6) {
                0 if !bytes.is_empty() => bytes[place] = self.next() as u8,
                1 if !bytes.is_empty() => bytes[place] ^= 1 << self.below(8),
                2 if !bytes.is_empty() => drop(bytes.remove(place)),
                3 => bytes.insert(place, [0, 1, 0x7f, 0x80, 0xff][self.below(5)]),
                4 => bytes.truncate(place),
                _ => bytes.extend_from_within(place..),
            }
        }
        bytes
    }
}

type MessageOf<B> = Message<<<B as Blueprint>::Lock as Machine>::Message>;
type Sent<B> = (NodeId, NodeId, MessageOf<B>);

/// Nodes that talk to each other, without a network.
struct Talk<B: Blueprint> {
    nodes: Vec<Strict<B>>,
    under_way: VecDeque<Sent<B>>,
    /// How each node was before it was given a message, and what the message was.
    moments: Vec<(Strict<B>, NodeId, Vec<u8>)>,
}

impl<P: Shipped> Talk<FromRegistry<P>> {
    fn give(&mut self, at: NodeId, input: Input<P::Message>) {
        let outputs = self.nodes[at.index()].step(input).expect("nothing is wrong");
        for output in outputs {
            match output {
                Output::Send(to, message) => self.under_way.push_back((at, to, message)),
                Output::End(_, why) => panic!("a session ends: {why}"),
                _ => {}
            }
        }
    }

    fn talk(&mut self, most: usize) {
        for _ in 0..most {
            let Some((from, to, message)) = self.under_way.pop_front() else { return };
            let bytes = frame::encode(&message).expect("it can be written");
            self.moments.push((self.nodes[to.index()].clone(), from, bytes));
            self.give(to, Input::Receive(from, message));
        }
    }
}

struct Attack {
    rounds: u64,
    seed: u64,
}

impl Visitor for Attack {
    /// How many of the messages could be read, and how many of these were believed.
    type Output = (u64, u64);

    fn visit<P: Shipped>(self, algorithm: &'static Algorithm, cluster: Vec<P>) -> (u64, u64) {
        let count = cluster.len();
        let blueprint = FromRegistry::of(algorithm, &cluster);
        let node = |me| {
            let blank = Record::blank(count);
            Strict::new(blueprint.clone(), me, Digest([1; 32]), blank, me.index() as u64, 2)
        };
        let nodes = NodeId::all(count).map(node).collect();
        let mut talk = Talk { nodes, under_way: VecDeque::new(), moments: Vec::new() };
        for (one, other) in NodeId::pairs(count) {
            talk.give(one, Input::Up(other));
            talk.give(other, Input::Up(one));
        }
        talk.talk(10 * count * count);
        assert!(matches!(talk.nodes[0].stage(), Stage::Running(1)), "{algorithm}");
        NodeId::all(count).for_each(|me| talk.give(me, Input::Request(0)));
        talk.talk(100);

        let mut random = SplitMix(self.seed);
        let (mut read, mut believed) = (0, 0);
        for _ in 0..self.rounds {
            let (node, from, bytes) = &talk.moments[random.below(talk.moments.len())];
            let bytes = if random.below(10) == 0 { random.noise() } else { random.spoil(bytes) };
            let Ok(message) = frame::decode::<MessageOf<FromRegistry<P>>>(&bytes) else { continue };
            read += 1;
            let mut node = node.clone();
            let before = node.record().clone();
            let outputs = node.step(Input::Receive(*from, message)).expect("a peer is no error");
            let cut_off =
                outputs.iter().any(|it| matches!(it, Output::End(peer, _) if peer == from));
            assert_eq!(cut_off, !node.is_up(*from), "{algorithm}");
            believed += u64::from(!cut_off);
            if cut_off && node.stage() == Stage::Gathering && before == *node.record() {
                let entered = outputs.iter().any(|it| matches!(it, Output::Enter(..)));
                assert!(!entered, "{algorithm}: somebody enters by a message that is refused");
            }
        }
        (read, believed)
    }
}

#[test]
fn messages_of_all_algorithms_that_were_spoilt_do_no_harm() {
    let (rounds, seed) = (setting("FUZZ_ROUNDS", 1000), setting("SEED", 1));
    println!("{rounds} rounds for each algorithm, seed {seed}");
    let (mut read, mut believed) = (0, 0);
    for algorithm in ALGORITHMS {
        let size = Size::of(algorithm.nodes_to_show);
        let counted = algorithm.build(size, Attack { rounds, seed }).expect("it is shown so");
        read += counted.0;
        believed += counted.1;
    }
    println!("{read} could be read, {believed} were believed");
    assert!(read > 0 && believed > 0 && believed < read);
}

#[test]
fn what_commands_and_nodes_say_to_each_other_can_be_anything() {
    let (rounds, seed) = (setting("FUZZ_ROUNDS", 1000) * 10, setting("SEED", 1));
    let mut random = SplitMix(seed);
    let resource = || crate::ResourceStatus { name: "one".to_owned(), inside: None, waiting: 3 };
    let status = Status {
        me: 1,
        algorithm: "lamport".to_owned(),
        incarnation: 3,
        epoch: Some(7),
        last_epoch: 7,
        is_awaited: false,
        messages_sent: 9,
        peers: Vec::new(),
        resources: vec![resource(), resource()],
    };
    let requests = [
        Request::Lock { name: "one".to_owned(), patience: Patience::Try },
        Request::Held,
        Request::Replace(7),
    ];
    let replies = [
        Reply::Place("/a/path".to_owned()),
        Reply::Refused(Down::Incomplete { missing: vec![1, 2] }),
        Reply::Status(status),
    ];
    let real: Vec<_> = (requests.iter().map(|it| frame::encode(it).unwrap()))
        .chain(replies.iter().map(|it| frame::encode(it).unwrap()))
        .collect();
    for _ in 0..rounds {
        let bytes = random.spoil(&real[random.0 as usize % real.len()]);
        // What can be read can be written again.
        if let Ok(request) = frame::decode::<Request>(&bytes) {
            assert_eq!(
                frame::decode::<Request>(&frame::encode(&request).unwrap()).unwrap(),
                request
            );
        }
        if let Ok(reply) = frame::decode::<Reply>(&bytes) {
            assert_eq!(frame::decode::<Reply>(&frame::encode(&reply).unwrap()).unwrap(), reply);
        }
    }
}

#[tokio::test]
async fn frames_can_be_anything() {
    let (rounds, seed) = (setting("FUZZ_ROUNDS", 1000) * 10, setting("SEED", 1));
    let mut random = SplitMix(seed);
    let mut real = Vec::new();
    frame::push(&mut real, b"one").unwrap();
    frame::push(&mut real, &[7; 300]).unwrap();
    for round in 0..rounds {
        let bytes = if round % 4 == 0 { random.noise() } else { random.spoil(&real) };
        let mut source = &bytes[..];
        let mut length = 0;
        while let Ok(Some(frame)) = frame::read(&mut source).await {
            length += 4 + frame.len();
        }
        assert!(length <= bytes.len(), "more came out than went in");
    }
}

#[test]
fn configurations_can_be_anything() {
    let (rounds, seed) = (setting("FUZZ_ROUNDS", 1000) * 2, setting("SEED", 1));
    let mut random = SplitMix(seed);
    let (real, _) = crate::membership::tests::cluster(3, "lamport");
    let (mut good, mut bad) = (0, 0);
    for _ in 0..rounds {
        let bytes = random.spoil(real.as_bytes());
        let Ok(text) = String::from_utf8(bytes) else { continue };
        match text.parse::<Configuration>() {
            Ok(configuration) => {
                good += 1;
                configuration.digest();
            }
            Err(why) => {
                bad += 1;
                assert!(!why.to_string().is_empty());
            }
        }
    }
    assert!(good > 0 && bad > 0);
}
