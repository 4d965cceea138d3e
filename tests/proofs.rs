//! The steps of the shipped code are steps of the proofs of `proofs/`.
//!
//! The proofs hold for any number of nodes, but of a transition system that was written by hand.
//! Here the checker explores small clusters of the shipped state machines. What they do is written
//! to a file, and `proofs/compare` reads it: with the functions that the solver reasons about, it
//! checks that every state has the invariant, and that every step is one of the proof.
//! `proofs_of_locks.rs` does the same with locks.
//!
//! Of the larger clusters a part is compared, unless `PROOFS_WHOLE` is set:
//!
//! ```sh
//! PROOFS_WHOLE=1 cargo test --release --all-features --test proofs -- --nocapture
//! ```
#![cfg(all(feature = "check", feature = "serde", not(exclusion_loom)))]

mod common;

use std::collections::HashMap;

use common::journal::Journal;
use exclusion::message::check::{Action, Check, Model, State};
use exclusion::message::{
    Exclusive, Lamport, Machine, NodeId, Outbox, Phase, Protocol, Refused, RicartAgrawala,
    SuzukiKasami,
};
use serde::Serialize;
use serde_json::{Value, json};

/// How many states are explored, and from how many of them all steps are compared.
#[derive(Clone, Copy)]
struct Part {
    explored: usize,
    compared: usize,
}

const ALL: Part = Part { explored: usize::MAX, compared: usize::MAX };

/// Of a large cluster, as much as a test may take.
fn part() -> Part {
    let whole = std::env::var_os("PROOFS_WHOLE").is_some();
    if whole { ALL } else { Part { explored: 20_000, compared: 600 } }
}

/// A state of a cluster as the proofs read it.
fn written<P>(state: &State<P>) -> Value
where
    P: Protocol<Message: Serialize> + Serialize,
{
    let in_flight: Vec<_> = state.in_flight().collect();
    json!({ "nodes": state.nodes, "in_flight": in_flight })
}

fn action_of<M: Serialize>(action: &Action<M>) -> Value {
    match action {
        Action::Request(node) => json!({ "request": node }),
        Action::Leave(node) => json!({ "leave": node }),
        Action::Deliver { from, to, message } => json!({ "deliver": [from, to, message] }),
        _ => panic!("a cluster without timers and faults does nothing else"),
    }
}

/// Explores a cluster, and writes down what happens in it.
fn explored<P>(name: &str, proof: &str, check: &Check<P>, part: Part) -> Journal
where
    P: Protocol<Message: Serialize> + Serialize,
{
    let mut found = check.init_states();
    let mut known: HashMap<_, usize> = found.iter().cloned().zip(0..).collect();
    let mut journal = Journal::new(name, proof, found[0].nodes.len());
    let mut numbers = HashMap::from([(0, journal.state(&written(&found[0])))]);
    let mut steps = Vec::new();
    let mut next = 0;
    while next < found.len() {
        let mut actions = Vec::new();
        check.actions(&found[next], &mut actions);
        for action in actions {
            let Some(after) = check.next_state(&found[next], action.clone()) else { continue };
            assert!(after.violation.is_none(), "{:?}", after.violation);
            let index = match known.get(&after) {
                Some(&index) => index,
                None if found.len() >= part.explored => continue,
                None => {
                    known.insert(after.clone(), found.len());
                    found.push(after);
                    found.len() - 1
                }
            };
            steps.push((next, action, index));
        }
        next += 1;
    }
    // Of many states, some of each depth.
    let stride = found.len().div_ceil(part.compared);
    for (from, action, to) in steps.iter().filter(|(from, ..)| from % stride == 0) {
        let mut number_of = |index: usize| {
            *numbers.entry(index).or_insert_with(|| journal.state(&written(&found[index])))
        };
        let (from, to) = (number_of(*from), number_of(*to));
        journal.step(from, action_of(action), to);
    }
    journal
}

#[test]
fn the_steps_of_ricart_agrawala_are_those_of_its_proof() {
    let two = Check::new(RicartAgrawala::cluster(2).unwrap()).requests(2);
    let mut journal = explored("ricart_agrawala_2", "ricart_agrawala", &two, ALL);
    journal.agrees();
    journal.notices("deaf");
    let three = Check::new(RicartAgrawala::cluster(3).unwrap());
    explored("ricart_agrawala_3", "ricart_agrawala", &three, part()).agrees_and_takes_every_step();
}

#[test]
fn the_steps_of_lamports_algorithm_are_those_of_its_proof() {
    let two = Check::new(Lamport::cluster(2).unwrap()).requests(2);
    explored("lamport_2", "lamport", &two, ALL).agrees();
    let three = Check::new(Lamport::cluster(3).unwrap());
    let mut journal = explored("lamport_3", "lamport", &three, part());
    journal.agrees_and_takes_every_step();
    journal.notices("unheard");
}

#[test]
fn the_steps_of_suzuki_kasami_are_those_of_its_proof() {
    let two = Check::new(SuzukiKasami::cluster(2).unwrap()).requests(2);
    let mut journal = explored("suzuki_kasami_2", "suzuki_kasami", &two, ALL);
    journal.agrees();
    journal.notices("kept");
    let three = Check::new(SuzukiKasami::cluster(3).unwrap()).requests(2);
    explored("suzuki_kasami_3", "suzuki_kasami", &three, part()).agrees_and_takes_every_step();
}

/// A node of Ricart's and Agrawala's algorithm that confirms nobody when it leaves.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(transparent)]
struct Forgetful(RicartAgrawala);

impl Machine for Forgetful {
    type Message = <RicartAgrawala as Machine>::Message;

    fn id(&self) -> NodeId {
        self.0.id()
    }

    fn nodes(&self) -> usize {
        self.0.nodes()
    }

    fn request(&mut self, out: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.0.request(out)
    }

    fn release(&mut self, _: &mut Outbox<Self::Message>) -> Result<(), Refused> {
        self.0.release(&mut Outbox::new())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Self::Message,
        out: &mut Outbox<Self::Message>,
    ) -> Result<(), Refused> {
        self.0.receive(from, message, out)
    }
}

impl Protocol for Forgetful {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.0.phase()
    }
}

#[test]
fn a_cluster_that_does_something_else_is_noticed() {
    let nodes = RicartAgrawala::cluster(2).unwrap().into_iter().map(Forgetful).collect();
    explored("forgetful", "ricart_agrawala", &Check::new(nodes), ALL).compare(None).disagrees();
}
