//! The link, as it is shipped, with one rule changed.

use std::collections::BTreeMap;

use exclusion::message::check::Check;
use exclusion::message::fault::link;
use exclusion::message::registry::Algorithm;
use exclusion::message::{
    CentralCoordinator, Channels, Claims, FromRegistry, Input, Link, Machine, NodeId, Outbox,
    Output, Phase, Protocol, Recovering, Refused, SuzukiKasami, forward_inputs, step_part,
};

/// The rule that is changed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Rule {
    /// None.
    AsShipped,
    /// What has come before is taken once more.
    NoFilter,
    /// Messages do not tell the lives of their senders and receivers.
    NoLives,
}

/// A link that does not drop what has come before: a grant that comes twice admits twice.
pub fn link_without_filter(flawed: bool) -> Check<Altered<CentralCoordinator>> {
    let cluster = CentralCoordinator::cluster(3).expect("three are enough");
    let nodes = Altered::cluster(cluster, flawed, Rule::NoFilter);
    Check::new(nodes).requests_of(NodeId(0), 0).requests_of(NodeId(1), 2).duplicates(1)
}

/// A link whose messages do not tell the lives of their nodes: what a node says after a restart is
/// taken for what it has said before.
pub fn link_without_lives(flawed: bool) -> Check<Altered<Recovering<FromRegistry<SuzukiKasami>>>> {
    let algorithm = Algorithm::named("suzuki_kasami").expect("there is one");
    let cluster = SuzukiKasami::cluster(2).expect("two are enough");
    let cluster = Recovering::over(algorithm, cluster).expect("it is a cluster");
    let nodes = Altered::cluster(cluster, flawed, Rule::NoLives);
    let check = Check::new(nodes).requests_of(NodeId(0), 0).requests_of(NodeId(1), 2);
    check.crashes(1).crashes_of([NodeId(1)]).recoveries(1).untold().serving_all()
}

/// A link with a rule changed.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Altered<P: Protocol> {
    inner: Link<P>,
    rule: Rule,
    /// How many messages have come from each node, and one more than the greatest of their numbers.
    come: BTreeMap<NodeId, (u64, u64)>,
}

type Said<P> = link::Message<<P as Machine>::Message>;

impl<P: Protocol> Altered<P> {
    fn cluster(nodes: Vec<P>, flawed: bool, flaw: Rule) -> Vec<Self> {
        let rule = if flawed { flaw } else { Rule::AsShipped };
        let altered = |inner| Self { inner, rule, come: BTreeMap::new() };
        Link::over(nodes).into_iter().map(altered).collect()
    }

    fn give(&mut self, input: Input<Said<P>>, out: &mut Outbox<Said<P>>) -> Result<(), Refused> {
        for output in step_part(&mut self.inner, input)? {
            let Output::Send { to, mut message } = output else {
                out.forward(output, |message| message);
                continue;
            };
            if let link::Message::Data { life, to_life, .. }
            | link::Message::Receipt { life, to_life, .. } = &mut message
                && self.rule == Rule::NoLives
            {
                (*life, *to_life) = (0, 0);
            }
            if let link::Message::Receipt { through, .. } = &mut message
                && self.rule == Rule::NoFilter
            {
                *through = self.come.get(&to).map_or(0, |(_, through)| *through);
            }
            out.send(to, message);
        }
        Ok(())
    }
}

impl<P: Protocol> Machine for Altered<P> {
    type Message = Said<P>;

    const CHANNELS: Channels = Link::<P>::CHANNELS;
    const RESTS: bool = P::RESTS;

    fn id(&self) -> NodeId {
        self.inner.id()
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    forward_inputs!(give: start, request, release, timeout, notice);

    fn receive(
        &mut self,
        from: NodeId,
        mut message: Said<P>,
        out: &mut Outbox<Said<P>>,
    ) -> Result<(), Refused> {
        match (self.rule, &mut message) {
            // Each is taken for the next one.
            (Rule::NoFilter, link::Message::Data { number, .. }) => {
                let (come, through) = self.come.entry(from).or_default();
                *through = (*through).max(*number + 1);
                *number = *come;
                *come += 1;
            }
            // Each is taken for one to this life.
            (
                Rule::NoLives,
                link::Message::Data { to_life, .. } | link::Message::Receipt { to_life, .. },
            ) => *to_life = self.inner.life(),
            _ => {}
        }
        self.give(Input::Receive { from, message }, out)
    }
}

impl<P: Protocol> Protocol for Altered<P> {
    type Access = P::Access;

    fn phase(&self) -> Phase {
        self.inner.phase()
    }
}

impl<P: Protocol> Claims for Altered<P> {}
