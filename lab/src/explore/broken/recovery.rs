//! Recovery of any lock, as it is shipped, with one rule changed.

use exclusion::message::check::Check;
use exclusion::message::fault::recovery;
use exclusion::message::registry::{Algorithm, Shipped};
use exclusion::message::{
    Channels, Claims, FromRegistry, Input, Machine, NodeId, Notice, Outbox, Output, Phase,
    Protocol, Recovering, Refused, SuzukiKasami, forward_inputs, step_part,
};

/// The rule that is changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rule {
    /// None.
    AsShipped,
    /// A node that was halted goes on with the old lock until the new one is installed.
    NoPromise,
    /// What is said about the lock has no epoch.
    NoEpoch,
    /// A view needs no majority.
    Minority,
}

type Shipping<P> = Recovering<FromRegistry<P>>;

fn suzuki_kasami(nodes: usize, rule: Rule, gated: bool) -> Vec<Altered<SuzukiKasami>> {
    let algorithm = Algorithm::named("suzuki_kasami").expect("there is one");
    let cluster = SuzukiKasami::cluster(nodes).expect("enough nodes");
    let cluster = Shipping::over(algorithm, cluster).expect("it is a cluster").into_iter();
    let altered = |node: Shipping<SuzukiKasami>| {
        let inner = if gated && rule != Rule::Minority { node.gated() } else { node };
        Altered { inner, rule, gated, old: None, goes_on: false, down: 0 }
    };
    cluster.map(altered).collect()
}

fn rule(flawed: bool, flaw: Rule) -> Rule {
    if flawed { flaw } else { Rule::AsShipped }
}

/// A node that has answered `HALT`, and still takes the token that was on its way to it.
pub fn recovery_without_promise(flawed: bool) -> Check<Altered<SuzukiKasami>> {
    let nodes = suzuki_kasami(3, rule(flawed, Rule::NoPromise), false);
    Check::new(nodes).requests_of(NodeId(2), 0).crashes(1).crashes_of([NodeId(2)])
}

/// Messages about the lock that do not tell in which epoch they were sent: a token of the old view
/// arrives in the new one, which has a token of its own.
pub fn recovery_without_epoch(flawed: bool) -> Check<Altered<SuzukiKasami>> {
    let nodes = suzuki_kasami(3, rule(flawed, Rule::NoEpoch), false);
    Check::new(nodes).requests_of(NodeId(2), 0).crashes(1).crashes_of([NodeId(2)])
}

/// A minority that goes on by itself where it is cut off.
pub fn recovery_minority(flawed: bool) -> Check<Altered<SuzukiKasami>> {
    let nodes = suzuki_kasami(3, rule(flawed, Rule::Minority), true);
    let check = Check::new(nodes).requests(0).requests_of(NodeId(1), 1);
    check.cut_later([NodeId(0)]).told_at_once().keeps_its_invariant()
}

/// Recovery where nobody is told that a node is down.
pub fn recovery_untold(flawed: bool) -> Check<Altered<SuzukiKasami>> {
    let check = Check::new(suzuki_kasami(2, Rule::AsShipped, false)).crashes(1).serving_all();
    if flawed { check.untold() } else { check }
}

/// Recovery with a rule changed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Altered<P: Shipped> {
    inner: Shipping<P>,
    rule: Rule,
    gated: bool,
    /// The node before it was halted, where it goes on with that.
    old: Option<Box<Shipping<P>>>,
    /// Whether its user is inside by the old lock.
    goes_on: bool,
    /// How many nodes it was told to be down.
    down: usize,
}

type Said<P> = recovery::Message<<P as Machine>::Message>;

fn forward<M: exclusion::message::Message>(outputs: Vec<Output<M>>, out: &mut Outbox<M>) {
    outputs.into_iter().for_each(|output| out.forward(output, |message| message));
}

impl<P: Shipped> Altered<P> {
    fn give(&mut self, input: Input<Said<P>>, out: &mut Outbox<Said<P>>) -> Result<(), Refused> {
        let was_in = self.inner.view().is_some().then(|| Box::new(self.inner.clone()));
        forward(step_part(&mut self.inner, input)?, out);
        if self.rule == Rule::NoPromise {
            match self.inner.view() {
                Some(_) => self.old = None,
                None => self.old = was_in.or(self.old.take()),
            }
        }
        Ok(())
    }

    /// The flaw: what is older is taken by the old lock.
    fn give_old(
        &mut self,
        input: Input<Said<P>>,
        out: &mut Outbox<Said<P>>,
    ) -> Result<(), Refused> {
        let Some(old) = &mut self.old else { return Ok(()) };
        forward(step_part(old.as_mut(), input)?, out);
        self.goes_on = old.phase().is_inside();
        Ok(())
    }
}

impl<P: Shipped> Machine for Altered<P> {
    type Message = Said<P>;

    const CHANNELS: Channels = P::CHANNELS;
    const RESTS: bool = P::RESTS;

    fn id(&self) -> NodeId {
        self.inner.id()
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    fn start(&mut self, out: &mut Outbox<Said<P>>) {
        self.inner.start(out);
    }

    forward_inputs!(give: request, timeout);

    fn release(&mut self, out: &mut Outbox<Said<P>>) -> Result<(), Refused> {
        if self.goes_on {
            self.give_old(Input::Release, out)
        } else {
            self.give(Input::Release, out)
        }
    }

    fn receive(
        &mut self,
        from: NodeId,
        message: Said<P>,
        out: &mut Outbox<Said<P>>,
    ) -> Result<(), Refused> {
        let message = match (message, self.rule, self.inner.view()) {
            (recovery::Message::Lock { entry, message, .. }, Rule::NoEpoch, Some(view)) => {
                recovery::Message::Lock { epoch: view.epoch, entry, message }
            }
            (message, ..) => message,
        };
        match &message {
            recovery::Message::Lock { epoch, .. } if *epoch < self.inner.promised() => {
                self.give_old(Input::Receive { from, message }, out)
            }
            _ => self.give(Input::Receive { from, message }, out),
        }
    }

    fn notice(&mut self, notice: Notice, out: &mut Outbox<Said<P>>) -> Result<(), Refused> {
        self.down += usize::from(matches!(notice, Notice::Down(_)));
        self.give(Input::Notice(notice), out)
    }
}

impl<P: Shipped> Protocol for Altered<P> {
    type Access = P::Access;

    fn phase(&self) -> Phase {
        if self.goes_on { Phase::Inside } else { self.inner.phase() }
    }
}

impl<P: Shipped> Claims for Altered<P> {
    /// Where a majority is needed, a node that knows that it is in a minority is in no view.
    fn invariant(
        cluster: &[Self],
        _: &[(NodeId, NodeId, &Said<P>)],
    ) -> Option<Result<(), &'static str>> {
        let grants = |node: &Self| {
            node.gated && 2 * node.down >= cluster.len() && node.inner.view().is_some()
        };
        match cluster.iter().any(grants) {
            true => Some(Err("a minority can admit a user")),
            false => Some(Ok(())),
        }
    }
}
