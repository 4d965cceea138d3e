//! Remedies of single algorithms, as they are shipped, in each of which one rule is left out.

use exclusion::message::check::Check;
use exclusion::message::fault::remedy::{
    Regenerating, Succession, Surviving, regenerating, succession,
};
use exclusion::message::{
    BullyHalt, CarvalhoRoucairol, Channels, Input, Machine, Majority, NodeId, Notice, Outbox,
    Output, Phase, Protocol, Refused, SuzukiKasami, forward_inputs, step_part,
};

/// Carvalho's and Roucairol's algorithm, where a node takes the permission of a peer for its own
/// without having been told that the peer is down.
pub fn carvalho_roucairol_unnoticed(flawed: bool) -> Check<Spoilt<Surviving<CarvalhoRoucairol>>> {
    let cluster = CarvalhoRoucairol::cluster(2).expect("two are enough");
    Check::new(Spoilt::cluster(Surviving::cluster(cluster), flawed)).crashes(1).serving_all()
}

/// Votes of a majority, where arbiters keep the vote of a candidate that is down.
pub fn majority_dead_votes(flawed: bool) -> Check<Spoilt<Surviving<Majority>>> {
    let cluster = Majority::cluster(3).expect("three are enough");
    Check::new(Spoilt::cluster(Surviving::cluster(cluster), flawed))
        .requests_of(NodeId(2), 0)
        .crashes(1)
        .serving_all()
}

/// A coordinator that is elected in the place of one that is down, and begins with an empty desk.
pub fn succession_empty_desk(flawed: bool) -> Check<Spoilt<Succession<BullyHalt>>> {
    let cluster = BullyHalt::cluster(3).expect("three are enough");
    Check::new(Spoilt::cluster(Succession::cluster(cluster), flawed))
        .requests_of(NodeId(2), 0)
        .crashes(1)
        .serving_all()
}

/// Suzuki's and Kasami's token, made anew by a node that does not wait for what the others report.
pub fn suzuki_kasami_made_early(flawed: bool) -> Check<Spoilt<Regenerating<SuzukiKasami>>> {
    let cluster = Regenerating::cluster(3).expect("three are enough");
    Check::new(Spoilt::cluster(cluster, flawed)).crashes(1).serving_all()
}

/// What is left out of a remedy.
pub trait Spoils: Protocol {
    /// What really comes in.
    fn inputs(&self, input: Input<Self::Message>) -> Vec<Input<Self::Message>> {
        vec![input]
    }

    /// What really goes out.
    fn outputs(
        &mut self,
        output: Output<Self::Message>,
    ) -> Result<Vec<Output<Self::Message>>, Refused> {
        Ok(vec![output])
    }
}

impl Spoils for Surviving<CarvalhoRoucairol> {
    fn inputs(&self, input: Input<Self::Message>) -> Vec<Input<Self::Message>> {
        if input != Input::Request {
            return vec![input];
        }
        let others = self.id().others(self.nodes());
        let notices = others.map(|peer| Input::Notice(Notice::Down(peer)));
        [input].into_iter().chain(notices).collect()
    }
}

impl Spoils for Surviving<Majority> {
    fn inputs(&self, input: Input<Self::Message>) -> Vec<Input<Self::Message>> {
        if matches!(input, Input::Notice(_)) { Vec::new() } else { vec![input] }
    }
}

impl Spoils for Succession<BullyHalt> {
    fn outputs(
        &mut self,
        output: Output<Self::Message>,
    ) -> Result<Vec<Output<Self::Message>>, Refused> {
        use succession::{Message, Note};
        Ok(match output {
            Output::Send { to, message: Message::Lock(epoch, Note::State(_)) } => {
                let message = Message::Lock(epoch, Note::State(Phase::Idle));
                vec![Output::Send { to, message }]
            }
            other => vec![other],
        })
    }
}

impl Spoils for Regenerating<SuzukiKasami> {
    fn outputs(
        &mut self,
        output: Output<Self::Message>,
    ) -> Result<Vec<Output<Self::Message>>, Refused> {
        let Output::Send { to, message: message @ regenerating::Message::Census(_) } = output
        else {
            return Ok(vec![output]);
        };
        // As if the other had never seen the token.
        let mut fresh = Self::node(to, self.nodes()).expect("it is one already");
        let regenerating::Message::Census(dead) = &message else { unreachable!("it is one") };
        for peer in dead.iter() {
            step_part(&mut fresh, Input::Notice(Notice::Down(peer)))?;
        }
        let reports = step_part(&mut fresh, Input::Receive { from: self.id(), message })?;
        let mut outputs = Vec::new();
        for report in reports {
            if let Output::Send { message, .. } = report {
                outputs.extend(step_part(self, Input::Receive { from: to, message })?);
            }
        }
        Ok(outputs)
    }
}

/// A shipped remedy, perhaps spoilt.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Spoilt<P> {
    inner: P,
    flawed: bool,
}

impl<P: Spoils> Spoilt<P> {
    fn cluster(nodes: Vec<P>, flawed: bool) -> Vec<Self> {
        nodes.into_iter().map(|inner| Self { inner, flawed }).collect()
    }

    fn give(
        &mut self,
        input: Input<P::Message>,
        out: &mut Outbox<P::Message>,
    ) -> Result<(), Refused> {
        let inputs = if self.flawed { self.inner.inputs(input) } else { vec![input] };
        for input in inputs {
            for output in step_part(&mut self.inner, input)? {
                let outputs = if self.flawed { self.inner.outputs(output)? } else { vec![output] };
                outputs.into_iter().for_each(|output| out.forward(output, |message| message));
            }
        }
        Ok(())
    }
}

impl<P: Spoils> Machine for Spoilt<P> {
    type Message = P::Message;

    const CHANNELS: Channels = P::CHANNELS;

    fn id(&self) -> NodeId {
        self.inner.id()
    }

    fn nodes(&self) -> usize {
        self.inner.nodes()
    }

    forward_inputs!(give: start, request, release, receive, timeout, notice);
}

impl<P: Spoils> Protocol for Spoilt<P> {
    type Access = P::Access;

    fn phase(&self) -> Phase {
        self.inner.phase()
    }
}
