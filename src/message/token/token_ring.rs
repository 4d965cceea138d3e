//! Le Lann 1977: the token goes round.
//!
//! The nodes stand in a ring, and the token goes from each to the next. A node that wants in waits
//! until it comes by.
//!
//! | message | when | to |
//! |---|---|---|
//! | `TOKEN` | the user leaves, or does not want in | the next in the ring |
//!
//! Cost: 1 message an entry when everybody always wants in, and **no bound** when nobody does: an
//! idle ring never rests. A node that does not want in keeps the token for a hop delay of so many
//! periods, so that an idle ring need not be a busy one. Between two entries T, and for each idle
//! node in between T and the hop delay.

use crate::message::{
    Bypass, Claims, ClusterError, Cost, Exclusive, Machine, NodeId, Outbox, Phase, Protocol,
    Refused, Timer, TokenClaim,
};

/// The token, which has nothing to say.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Token;

impl crate::message::Message for Token {
    fn kind(&self) -> &'static str {
        "TOKEN"
    }
}

/// A node of the token ring. See the [module](self).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TokenRing {
    me: NodeId,
    nodes: usize,
    before: NodeId,
    next: NodeId,
    hop_delay: u32,
    phase: Phase,
    has_token: bool,
    /// Whether a timer is running. One that was set on an earlier visit may serve for this one.
    pausing: bool,
}

impl TokenRing {
    const PAUSE: Timer = Timer(0);

    /// A ring whose idle nodes pass the token on after a period. Node 0 has it first.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn cluster(nodes: usize) -> Result<Vec<Self>, ClusterError> {
        Self::with_hop_delay(1, nodes)
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`cluster`](Self::cluster), and if there is no such node.
    pub fn node(me: NodeId, nodes: usize) -> Result<Self, ClusterError> {
        Self::node_with_hop_delay(me, 1, nodes)
    }

    /// A ring whose idle nodes keep the token for at most so many periods; 0 passes it on at once,
    /// which keeps a cluster of actors busy with nothing else.
    ///
    /// # Errors
    /// Fewer than two nodes.
    pub fn with_hop_delay(periods: u32, nodes: usize) -> Result<Vec<Self>, ClusterError> {
        ClusterError::all_nodes(nodes, |me| Self::node_with_hop_delay(me, periods, nodes))
    }

    /// One node of such a cluster.
    ///
    /// # Errors
    /// As [`with_hop_delay`](Self::with_hop_delay), and if there is no such node.
    pub fn node_with_hop_delay(
        me: NodeId,
        periods: u32,
        nodes: usize,
    ) -> Result<Self, ClusterError> {
        ClusterError::check_member(me, nodes)?;
        Ok(Self {
            me,
            nodes,
            before: NodeId::at((me.index() + nodes - 1) % nodes),
            next: NodeId::at((me.index() + 1) % nodes),
            hop_delay: periods,
            phase: Phase::Idle,
            has_token: me.index() == 0,
            pausing: false,
        })
    }

    pub(in crate::message) fn before(&self) -> NodeId {
        self.before
    }

    pub(in crate::message) fn next(&self) -> NodeId {
        self.next
    }

    /// The ring has lost nodes: this one is before us now.
    pub(in crate::message) fn set_before(&mut self, node: NodeId) {
        self.before = node;
    }

    /// The ring has lost nodes: this one is next now.
    pub(in crate::message) fn set_next(&mut self, node: NodeId) {
        self.next = node;
    }

    /// The ring has lost the token: makes another here.
    pub(in crate::message) fn make_token(&mut self, out: &mut Outbox<Token>) {
        self.has_token = true;
        self.dispose(out);
    }

    /// The token is here: uses it, keeps it for a while, or passes it on.
    fn dispose(&mut self, out: &mut Outbox<Token>) {
        match self.phase {
            Phase::Waiting => self.phase.enter(out),
            Phase::Inside => {}
            Phase::Idle if self.hop_delay == 0 => self.pass_on(out),
            Phase::Idle if self.pausing => {}
            Phase::Idle => {
                self.pausing = true;
                out.set_timer(Self::PAUSE, self.hop_delay);
            }
        }
    }

    fn pass_on(&mut self, out: &mut Outbox<Token>) {
        self.has_token = false;
        out.send(self.next, Token);
    }
}

impl Machine for TokenRing {
    type Message = Token;

    const RESTS: bool = false;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn start(&mut self, out: &mut Outbox<Token>) {
        if self.has_token {
            self.dispose(out);
        }
    }

    fn request(&mut self, out: &mut Outbox<Token>) -> Result<(), Refused> {
        self.phase.request()?;
        if self.has_token {
            self.dispose(out);
        }
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Token>) -> Result<(), Refused> {
        self.phase.release()?;
        self.pass_on(out);
        Ok(())
    }

    /// The token will pass by.
    fn withdraw(&mut self, _: &mut Outbox<Token>) -> Result<(), Refused> {
        self.phase.withdraw()
    }

    fn receive(&mut self, from: NodeId, _: Token, out: &mut Outbox<Token>) -> Result<(), Refused> {
        if from != self.before {
            return Err(Refused("the token comes from the node before"));
        }
        if self.has_token {
            return Err(Refused("there is only one token"));
        }
        self.has_token = true;
        self.dispose(out);
        Ok(())
    }

    fn timeout(&mut self, timer: Timer, out: &mut Outbox<Token>) -> Result<(), Refused> {
        if !self.pausing || timer != Self::PAUSE {
            return Err(Refused("it set no timer"));
        }
        self.pausing = false;
        if self.has_token && self.phase.is_idle() {
            self.pass_on(out);
        }
        Ok(())
    }
}

impl Protocol for TokenRing {
    type Access = Exclusive;

    const WITHDRAWS: bool = true;

    fn phase(&self) -> Phase {
        self.phase
    }
}

impl Claims for TokenRing {
    fn bypass(cluster: &[Self]) -> Bypass {
        Bypass::once(cluster.len())
    }

    fn cost(cluster: &[Self]) -> Option<Cost> {
        // One after the other, each finds the token on its way to it. But the first has sent it
        // away at once if it does not pause, and waits until it has come round.
        let most = if cluster[0].hop_delay == 0 { 1 + cluster.len() } else { 1 };
        Some(Cost {
            formula: "1 saturated, unbounded idle",
            alone: 1.0..=most as f64,
            contended: 1.0..=f64::INFINITY,
        })
    }

    fn token() -> Option<TokenClaim<Self>> {
        Some(TokenClaim { has: |node| node.has_token, is: |_| true })
    }
}
