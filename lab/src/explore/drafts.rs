//! The two drafts that chapter 3 of Banta's thesis (1993) goes through on its way to chapter 4.
//! Each is safe, and each loses requests: they are steps towards an algorithm, not algorithms to
//! use. They are [listed](super::broken::BROKEN) among the variants that the checker refutes.
//!
//! | draft | a site asks | saves | loses |
//! |---|---|---|---|
//! | [`FirstDraft`] | all others | | a request that finds no token, or comes second |
//! | [`Basic`] | the last on the token's queue | n-2 messages | a request after the token left |
//!
//! Chapter 4 passes the late request on: [`BantaSimple`].

use std::collections::VecDeque;

use exclusion::message::check::Check;
use exclusion::message::sim::{Delay, Simulation, Workload};
use exclusion::message::{
    BantaSimple, Exclusive, Machine, Message, NodeId, Outbox, Phase, Protocol, Refused,
    SuzukiKasami, Trace,
};

/// What the sites of the first draft say to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FirstMessage {
    /// I want in.
    Request,
    /// The token.
    Token,
}

impl Message for FirstMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Token => "TOKEN",
        }
    }
}

/// The first draft: ask all other sites, and the site that has the token sends it. A site that does
/// not have it ignores a request; one that has it can serve only one of several.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FirstDraft {
    me: NodeId,
    nodes: usize,
    phase: Phase,
    has_token: bool,
    /// The first site that asked while we had the token.
    next: Option<NodeId>,
}

impl FirstDraft {
    /// A cluster. The token rests at site 0.
    pub fn cluster(nodes: usize) -> Vec<Self> {
        let site = |me: NodeId| {
            let has_token = me.index() == 0;
            Self { me, nodes, phase: Phase::Idle, has_token, next: None }
        };
        NodeId::all(nodes).map(site).collect()
    }

    fn hand_over(&mut self, out: &mut Outbox<FirstMessage>) {
        if let Some(next) = self.next.take() {
            self.has_token = false;
            out.send(next, FirstMessage::Token);
        }
    }
}

impl Machine for FirstDraft {
    type Message = FirstMessage;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<FirstMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        if self.has_token {
            self.phase.enter(out);
        } else {
            out.broadcast(self.me.others(self.nodes), FirstMessage::Request);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<FirstMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        self.hand_over(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: FirstMessage,
        out: &mut Outbox<FirstMessage>,
    ) -> Result<(), Refused> {
        match message {
            FirstMessage::Request if self.has_token => {
                self.next.get_or_insert(from);
                if self.phase.is_idle() {
                    self.hand_over(out);
                }
            }
            // The token is elsewhere, or in flight. If it is in flight, the request is lost.
            FirstMessage::Request => {}
            FirstMessage::Token => {
                self.has_token = true;
                // An old request may have called it here.
                if self.phase.is_waiting() {
                    self.phase.enter(out);
                }
            }
        }
        Ok(())
    }
}

impl Protocol for FirstDraft {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

/// What the sites of the basic algorithm say to each other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum BasicMessage {
    /// I want in.
    Request,
    /// This site is the last on the token's queue.
    Update(NodeId),
    /// The token, with the queue of those that it visits.
    Token(VecDeque<NodeId>),
}

impl Message for BasicMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request => "REQUEST",
            Self::Update(_) => "UPDATE",
            Self::Token(_) => "TOKEN",
        }
    }
}

/// The basic algorithm: ask the last on the token's queue, which keeps requests until the token
/// comes, puts them on the queue, and tells all other sites which one is the last now.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Basic {
    me: NodeId,
    nodes: usize,
    phase: Phase,
    /// The site to ask.
    good_site: NodeId,
    /// The requests that have come here.
    kept: VecDeque<NodeId>,
    /// The queue on the token, if it is here.
    token: Option<VecDeque<NodeId>>,
}

impl Basic {
    /// A cluster. The token rests at site 0, and everybody knows.
    pub fn cluster(nodes: usize) -> Vec<Self> {
        let site = |me: NodeId| Self {
            me,
            nodes,
            phase: Phase::Idle,
            good_site: NodeId(0),
            kept: VecDeque::new(),
            token: (me.index() == 0).then(VecDeque::new),
        };
        NodeId::all(nodes).map(site).collect()
    }

    fn hand_over(&mut self, out: &mut Outbox<BasicMessage>) {
        let Some(mut queue) = self.token.take() else { return };
        let news = !self.kept.is_empty();
        queue.append(&mut self.kept);
        let (Some(&first), Some(&last)) = (queue.front(), queue.back()) else {
            self.token = Some(queue);
            return;
        };
        self.good_site = last;
        if news {
            let elsewhere = self.me.others(self.nodes).filter(|site| !queue.contains(site));
            out.broadcast(elsewhere, BasicMessage::Update(last));
        }
        out.send(first, BasicMessage::Token(queue));
    }
}

impl Machine for Basic {
    type Message = BasicMessage;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn request(&mut self, out: &mut Outbox<BasicMessage>) -> Result<(), Refused> {
        self.phase.request()?;
        if self.token.is_some() {
            self.phase.enter(out);
        } else {
            out.send(self.good_site, BasicMessage::Request);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<BasicMessage>) -> Result<(), Refused> {
        self.phase.release()?;
        self.hand_over(out);
        Ok(())
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: BasicMessage,
        out: &mut Outbox<BasicMessage>,
    ) -> Result<(), Refused> {
        match message {
            // If the token has left already, it is kept for ever.
            BasicMessage::Request => {
                self.kept.push_back(from);
                if self.phase.is_idle() {
                    self.hand_over(out);
                }
            }
            BasicMessage::Update(last) => self.good_site = last,
            BasicMessage::Token(mut queue) => {
                queue.pop_front();
                self.good_site = queue.back().copied().unwrap_or(self.me);
                self.token = Some(queue);
                self.phase.enter(out);
            }
        }
        Ok(())
    }
}

impl Protocol for Basic {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

/// The first draft among two sites: to be refuted.
pub fn first_draft() -> Check<FirstDraft> {
    Check::new(FirstDraft::cluster(2))
}

/// The basic algorithm among three sites: to be refuted.
pub fn basic() -> Check<Basic> {
    Check::new(Basic::cluster(3))
}

/// What the first draft lacks: everybody remembers a request, and the token goes to all who have
/// asked.
pub fn remembered() -> Check<SuzukiKasami> {
    Check::new(SuzukiKasami::cluster(2).expect("two are enough"))
}

/// What the basic algorithm lacks: chapter 4 passes the late request on.
pub fn passed_on() -> Check<BantaSimple> {
    Check::new(BantaSimple::cluster(3).expect("three are enough"))
}

/// Site 0 is inside while sites 1 and 2 ask. It can send the token to one of them, and the other
/// waits for ever.
pub fn first_draft_run() -> Trace {
    let script = [(0.0, 0), (0.5, 1), (0.6, 2)].map(|(time, site)| (time, NodeId(site)));
    run(FirstDraft::cluster(3), &script)
}

/// One cycle of the basic algorithm, in the four steps of the thesis's figure: the token is at site
/// 4, which site 7 waits for, and sites 2 and 5 ask site 7.
pub fn one_cycle() -> Trace {
    let script = [(0.0, 0), (0.5, 4), (0.6, 7), (6.0, 2), (6.1, 5)];
    run(Basic::cluster(8), &script.map(|(time, site)| (time, NodeId(site))))
}

fn run<P: Protocol>(cluster: Vec<P>, script: &[(f64, NodeId)]) -> Trace {
    let workload = Workload::Script(script.to_vec());
    let simulation = Simulation::new(cluster).inside(Delay::Constant(4.0)).workload(workload);
    match simulation.traced().run() {
        Ok(report) => report.trace.unwrap_or_default(),
        // A deadlock is what the first one shows.
        Err(error) => error.trace.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use exclusion::message::Happening;
    use exclusion::message::check::{Checker, Model};

    fn entered(trace: &Trace) -> Vec<u32> {
        let enters = trace.events.iter().filter(|event| event.happening == Happening::Enters);
        enters.map(|event| event.node.0).collect()
    }

    /// The messages of a kind that a site sends: to whom, and what.
    fn sent(trace: &Trace, site: u32, wanted: &str) -> Vec<(u32, String)> {
        let sends = trace.events.iter().filter(|event| event.node == NodeId(site));
        let sends = sends.filter_map(|event| match &event.happening {
            Happening::Sends { to, kind, text, .. } if kind == wanted => Some((to.0, text.clone())),
            _ => None,
        });
        sends.collect()
    }

    fn loses_requests<P>(draft: Check<P>)
    where
        P: Protocol<Message: Send + Sync> + Send + Sync + 'static,
    {
        let checker = draft.checker().spawn_bfs().join();
        assert!(checker.discovery("no deadlock").is_some());
        assert!(checker.discovery("mutual exclusion").is_none());
    }

    #[test]
    fn both_drafts_lose_requests_and_are_exclusive() {
        loses_requests(first_draft());
        loses_requests(basic());
    }

    #[test]
    fn the_first_draft_serves_one_of_two() {
        let trace = first_draft_run();
        assert_eq!(entered(&trace), [0, 1]);
        assert_eq!(sent(&trace, 2, "REQUEST").len(), 2, "it asked everybody");
    }

    #[test]
    fn one_cycle_goes_as_in_the_figure() {
        let trace = one_cycle();
        assert_eq!(entered(&trace), [0, 4, 7, 2, 5]);
        // Step 1: both know that site 7 is the last. Step 2: the token goes there, and nobody is
        // told.
        assert_eq!(sent(&trace, 2, "REQUEST"), [(7, "Request".to_owned())]);
        assert_eq!(sent(&trace, 5, "REQUEST"), [(7, "Request".to_owned())]);
        assert_eq!(sent(&trace, 4, "TOKEN"), [(7, "Token([n7])".to_owned())]);
        assert_eq!(sent(&trace, 4, "UPDATE"), []);
        // Steps 3 and 4: its queue is on the token, and all sites that are not on it hear of site
        // 5.
        assert_eq!(sent(&trace, 7, "TOKEN"), [(2, "Token([n2, n5])".to_owned())]);
        let told = [0, 1, 3, 4, 6].map(|site| (site, "Update(n5)".to_owned()));
        assert_eq!(sent(&trace, 7, "UPDATE"), told);
    }
}
