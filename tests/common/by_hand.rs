//! A cluster whose messages are delivered by hand, in any order that a test can think of.

use std::collections::VecDeque;
use std::fmt::Debug;

use exclusion::message::{
    Input, NodeId, Outbox, Output, Phase, Protocol, Timer, Violation, step_lock,
};

#[derive(Clone)]
pub struct ByHand<P: Protocol> {
    pub nodes: Vec<P>,
    pub users: Vec<Phase>,
    /// From whom, to whom, what: as they were sent.
    pub in_flight: VecDeque<(NodeId, NodeId, P::Message)>,
    pub timers: Vec<(NodeId, Timer)>,
    /// Who entered, in order.
    pub entered: Vec<NodeId>,
}

impl<P: Protocol> ByHand<P> {
    pub fn new(nodes: Vec<P>) -> Self {
        Self {
            users: vec![Phase::Idle; nodes.len()],
            nodes,
            in_flight: VecDeque::new(),
            timers: Vec::new(),
            entered: Vec::new(),
        }
    }

    pub fn give(&mut self, node: u32, input: Input<P::Message>) -> Result<(), Violation> {
        let node = NodeId(node);
        let mut out = Outbox::new();
        let (machine, user) = (&mut self.nodes[node.index()], &mut self.users[node.index()]);
        step_lock(machine, user, input, &mut out)?;
        self.take(node, &mut out);
        Ok(())
    }

    /// Takes what a node has put into its outbox.
    pub fn take(&mut self, node: NodeId, out: &mut Outbox<P::Message>) {
        for output in out.drain() {
            match output {
                Output::Send { to, message } => self.in_flight.push_back((node, to, message)),
                Output::SetTimer { timer, .. } => self.timers.push((node, timer)),
                Output::Enter => self.entered.push(node),
                // It is in the node's state.
                Output::Leader(_) => {}
                other => panic!("nothing is done here with {other:?}"),
            }
        }
    }

    pub fn request(&mut self, node: u32) {
        self.give(node, Input::Request).expect("it is idle");
    }

    pub fn release(&mut self, node: u32) {
        self.give(node, Input::Release).expect("it is inside");
    }

    /// Delivers the first message to the node that the test has in mind.
    pub fn deliver(&mut self, to: u32, wanted: impl Fn(&P::Message) -> bool)
    where
        P::Message: Debug,
    {
        let is_it = |(_, node, message): &(NodeId, NodeId, P::Message)| {
            *node == NodeId(to) && wanted(message)
        };
        let Some(position) = self.in_flight.iter().position(is_it) else {
            panic!("no such message to n{to} among {:?}", self.in_flight);
        };
        let (from, _, message) = self.in_flight.remove(position).expect("it is there");
        self.give(to, Input::Receive { from, message }).expect("it can occur");
    }

    /// Delivers everything that is in flight, and what comes of it.
    pub fn deliver_all(&mut self) {
        while let Some((from, to, message)) = self.in_flight.pop_front() {
            self.give(to.0, Input::Receive { from, message }).expect("it can occur");
        }
    }

    /// Lets the node's timer run out.
    pub fn time_out(&mut self, node: u32) {
        let set = self.timers.iter().position(|&(at, _)| at == NodeId(node)).expect("it was set");
        let (_, timer) = self.timers.remove(set);
        self.give(node, Input::Timeout(timer)).expect("it was set");
    }

    pub fn entries_of(&self, node: u32) -> usize {
        self.entered.iter().filter(|&&entered| entered == NodeId(node)).count()
    }
}
