//! How a machine is given an input: the one way, for every runner.

use super::{
    Input, InputError, Machine, Message, NodeId, Notice, Outbox, Phase, Protocol, Refused, Timer,
    Violation,
};

/// Gives a machine an input, and then what it sends to itself. The outputs are in the outbox.
///
/// # Errors
/// If the machine refuses the input, or sends a message to a node that does not exist; or if the
/// outbox still holds something. The outbox is then as it was, or empty. The machine is as it was,
/// unless it refused a message to itself, or sent one to a node that does not exist. Both are
/// mistakes in the machine, which cannot go on.
#[inline]
pub fn step<M: Machine>(
    machine: &mut M,
    input: Input<M::Message>,
    out: &mut Outbox<M::Message>,
) -> Result<(), Violation> {
    let me = machine.id();
    out.address_to(me, machine.nodes())?;
    if let Input::Receive { from, ref message } = input
        && (from == me || from.index() >= machine.nodes())
    {
        let given = Given::Message(from, message.kind());
        let refused = given.refused(me, Refused("no other node of the cluster is called so"));
        return Err(Violation::Unexpected(refused));
    }
    let outcome = give(machine, input, out).and_then(|()| {
        while let Some(message) = out.next_to_itself() {
            give(machine, Input::Receive { from: me, message }, out)?;
        }
        Ok(())
    });
    let outcome = match out.astray() {
        Some(to) if outcome.is_ok() => Err(Violation::NoSuchNode { from: me, to }),
        _ => outcome.map_err(Violation::Unexpected),
    };
    if outcome.is_err() {
        out.clear();
    }
    outcome
}

#[inline]
fn give<M: Machine>(
    machine: &mut M,
    input: Input<M::Message>,
    out: &mut Outbox<M::Message>,
) -> Result<(), InputError> {
    let (given, outcome) = match input {
        Input::Start => {
            machine.start(out);
            return Ok(());
        }
        Input::Elect => (Given::Elect, machine.elect(out)),
        Input::Request => (Given::Request, machine.request(out)),
        Input::Release => (Given::Release, machine.release(out)),
        Input::Withdraw => (Given::Withdraw, machine.withdraw(out)),
        Input::Receive { from, message } => {
            (Given::Message(from, message.kind()), machine.receive(from, message, out))
        }
        Input::Timeout(timer) => (Given::Timeout(timer), machine.timeout(timer, out)),
        Input::Notice(notice) => (Given::Notice(notice), machine.notice(notice, out)),
    };
    outcome.map_err(|refused| given.refused(machine.id(), refused))
}

/// Gives a lock an input, and keeps its user's phase: idle, waiting or inside. The outputs are in
/// the outbox.
///
/// # Errors
/// As [`step`]; or if the user cannot ask or leave now; or if the node lets its user in without a
/// request, or has another phase than its user. In the last two cases the outputs are still in the
/// outbox.
#[inline]
pub fn step_lock<P: Protocol>(
    node: &mut P,
    user: &mut Phase,
    input: Input<P::Message>,
    out: &mut Outbox<P::Message>,
) -> Result<(), Violation> {
    let mut after = *user;
    let may = match input {
        Input::Request => after.request().map_err(|why| Given::Request.refused(node.id(), why)),
        Input::Release => after.release().map_err(|why| Given::Release.refused(node.id(), why)),
        Input::Withdraw => after.withdraw().map_err(|why| Given::Withdraw.refused(node.id(), why)),
        _ => Ok(()),
    };
    may.map_err(Violation::Unexpected)?;
    step(node, input, out)?;
    if out.lets_in() {
        if after != Phase::Waiting {
            return Err(Violation::NotAsked(node.id()));
        }
        after = Phase::Inside;
    }
    if node.phase() != after {
        return Err(Violation::WrongPhase { node: node.id(), phase: node.phase(), user: after });
    }
    *user = after;
    Ok(())
}

/// An input without its contents, for the error that may come of it.
enum Given {
    Elect,
    Request,
    Release,
    Withdraw,
    Message(NodeId, &'static str),
    Timeout(Timer),
    Notice(Notice),
}

impl Given {
    #[cold]
    fn refused(self, node: NodeId, refused: Refused) -> InputError {
        let input = match self {
            Self::Elect => "a call for an election".to_owned(),
            Self::Request => "a request of its user".to_owned(),
            Self::Release => "a release by its user".to_owned(),
            Self::Withdraw => "a withdrawal by its user".to_owned(),
            Self::Message(from, kind) => format!("{kind} from {from}"),
            Self::Timeout(Timer(timer)) => format!("the timeout of timer {timer}"),
            Self::Notice(notice) => format!("the notice {notice:?}"),
        };
        InputError { node, input, why: refused.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{CentralCoordinator, Output, RicartAgrawala};

    #[test]
    fn an_outbox_that_still_holds_something_is_refused_with_nothing_changed() {
        let [mut first, mut second] =
            [0, 1].map(|me| RicartAgrawala::node(NodeId(me), 2).expect("two are enough"));
        let mut out = Outbox::new();
        step(&mut first, Input::Request, &mut out).expect("it is idle");
        for node in [&mut first, &mut second] {
            let untouched = node.clone();
            let violation = step(node, Input::Release, &mut out).unwrap_err();
            let (node_id, owner) = (node.id(), NodeId(0));
            assert_eq!(violation, Violation::OutboxNotEmpty { node: node_id, owner });
            assert_eq!(*node, untouched);
        }
        assert_eq!(out.drain().count(), 1, "what the first sent is still there");
        step(&mut second, Input::Request, &mut out).expect("the outbox is empty now");
    }

    #[test]
    fn what_a_node_sends_to_itself_is_delivered_within_the_step() {
        let mut coordinator = CentralCoordinator::node(NodeId(0), 2).expect("two are enough");
        let mut out = Outbox::new();
        let mut user = Phase::Idle;
        step_lock(&mut coordinator, &mut user, Input::Request, &mut out).expect("it is idle");
        assert_eq!(out.drain().collect::<Vec<_>>(), [Output::Enter]);
        assert_eq!(user, Phase::Inside);
    }

    #[test]
    fn a_user_who_is_inside_cannot_ask() {
        let mut coordinator = CentralCoordinator::node(NodeId(0), 2).expect("two are enough");
        let (mut out, mut user) = (Outbox::new(), Phase::Inside);
        let untouched = coordinator.clone();
        let violation = step_lock(&mut coordinator, &mut user, Input::Request, &mut out);
        assert_eq!(
            violation.unwrap_err().to_string(),
            "n0 cannot take a request of its user: it is inside"
        );
        assert_eq!(coordinator, untouched);
    }
}
