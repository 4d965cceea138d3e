//! Two armies: over channels that lose, no exchange of messages makes both sure.
//!
//! Two armies win only if both attack. They send messages in turn, each the answer to the one
//! before, and any of them may be lost. At the end each decides by what it has received. Whatever
//! the rule by which they decide, and however many messages there are, one of these is broken:
//!
//! 1. Never does one attack alone.
//! 2. If no message is lost, they attack.
//! 3. If no message arrives, they do not.
//!
//! The exchange is explored with every loss, and every rule is tried against what can come of it.

use std::collections::{BTreeMap, BTreeSet};

use exclusion::message::check::{Check, Model, Path, trace_of};
use exclusion::message::{Machine, Message, NodeId, Outbox, Refused, Trace, Unattended};

/// An army: how many messages it has received, and how many are sent in all, if none is lost.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Army {
    me: NodeId,
    received: u8,
    messages: u8,
}

/// The number of a message, from 1.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Dispatch(u8);

impl Message for Dispatch {
    fn kind(&self) -> &'static str {
        "DISPATCH"
    }
}

impl Machine for Army {
    type Message = Dispatch;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        2
    }

    fn start(&mut self, out: &mut Outbox<Dispatch>) {
        if self.me == NodeId(0) && self.messages > 0 {
            out.send(NodeId(1), Dispatch(1));
        }
    }

    fn receive(
        &mut self,
        from: NodeId,
        Dispatch(number): Dispatch,
        out: &mut Outbox<Dispatch>,
    ) -> Result<(), Refused> {
        self.received += 1;
        if number < self.messages {
            out.send(from, Dispatch(number + 1));
        }
        Ok(())
    }
}

/// What each army has received when nothing more comes, and a shortest way there.
pub type Ends = BTreeMap<[u8; 2], Trace>;

/// All that can come of an exchange of so many messages, of which so many may be lost.
pub fn ends(messages: u8, losses: u8) -> Ends {
    let army = |me| Army { me, received: 0, messages };
    let nodes = Unattended::all(vec![army(NodeId(0)), army(NodeId(1))]);
    let check = Check::new(nodes).requests(0).losses(losses);
    let mut ends = Ends::new();
    let mut ways: Vec<Vec<_>> = vec![Vec::new()];
    while let Some(way) = ways.pop() {
        let first = check.init_states().swap_remove(0);
        let path = Path::from_actions(&check, first, &way).expect("it is possible");
        let state = path.last_state().clone();
        let mut actions = Vec::new();
        check.actions(&state, &mut actions);
        if actions.is_empty() {
            let received = [state.nodes[0].0.received, state.nodes[1].0.received];
            ends.entry(received).or_insert_with(|| trace_of(&check, path));
        }
        ways.extend(actions.into_iter().map(|action| [&way[..], &[action]].concat()));
    }
    ends
}

/// For each number of messages that an army may have received, whether it attacks then.
pub type Rule = [BTreeSet<u8>; 2];

/// Why a rule does not do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Flaw {
    /// One army attacks alone.
    Alone(Trace),
    /// No message is lost, and yet they do not attack.
    Never(Trace),
    /// No message arrives, and yet they attack.
    Unasked(Trace),
}

/// What is wrong with a rule; none if nothing is.
pub fn flaw(ends: &Ends, rule: &Rule) -> Option<Flaw> {
    let attacks = |received: &[u8; 2]| [0, 1].map(|army| rule[army].contains(&received[army]));
    let all = ends.iter().map(|(received, trace)| (received, attacks(received), trace));
    let mut all = all.collect::<Vec<_>>().into_iter();
    let alone = all.clone().find(|(_, [one, other], _)| one != other);
    if let Some((.., trace)) = alone {
        return Some(Flaw::Alone(trace.clone()));
    }
    let (_, [attack, _], trace) = all.clone().max_by_key(|it| it.0[0] + it.0[1])?;
    if !attack {
        return Some(Flaw::Never(trace.clone()));
    }
    let unasked = all.find(|(received, [attack, _], _)| **received == [0, 0] && *attack);
    unasked.map(|(.., trace)| Flaw::Unasked(trace.clone()))
}

/// Every rule for an exchange of so many messages.
pub fn rules(messages: u8) -> impl Iterator<Item = Rule> {
    // The first army receives the second, fourth, … message, the other the first, third, ….
    let most = [messages / 2, messages.div_ceil(2)];
    let sets = |most: u8| {
        (0..1_u32 << (most + 1))
            .map(move |bits| (0..=most).filter(|it| bits >> it & 1 == 1).collect::<BTreeSet<_>>())
    };
    sets(most[0]).flat_map(move |one| sets(most[1]).map(move |other| [one.clone(), other]))
}

/// How many rules there are for so many messages, and how many of them do, if so many messages may
/// be lost.
pub fn count(messages: u8, losses: u8) -> (usize, usize) {
    let ends = ends(messages, losses);
    let flaws: Vec<_> = rules(messages).map(|rule| flaw(&ends, &rule)).collect();
    (flaws.len(), flaws.iter().filter(|flaw| flaw.is_none()).count())
}

#[cfg(test)]
mod tests {
    use exclusion::message::{Input, step};

    use super::*;

    #[test]
    fn whatever_the_rule_and_however_many_messages_both_are_never_sure() {
        for messages in 0..=7 {
            let (rules, good) = count(messages, messages);
            assert_eq!(good, 0, "{messages} messages, {rules} rules");
            assert_eq!(rules, 1 << (messages + 2), "{messages} messages");
        }
    }

    #[test]
    fn one_loss_is_enough_to_refute_every_rule() {
        for messages in 1..=7 {
            assert_eq!(count(messages, 1).1, 0, "{messages} messages");
        }
    }

    #[test]
    fn if_nothing_is_lost_there_are_rules_that_do() {
        for messages in 1..=7 {
            assert!(count(messages, 0).1 > 0, "{messages} messages");
        }
    }

    #[test]
    fn what_goes_wrong_can_be_read_and_replayed() {
        // Each attacks if it has received all that can come.
        let rule = [BTreeSet::from([1]), BTreeSet::from([2])];
        let Some(Flaw::Alone(trace)) = flaw(&ends(3, 1), &rule) else { panic!("it does") };
        assert!(trace.to_string().contains("n1 misses 3 from n0"), "{trace}");
        let army = |me| Army { me, received: 0, messages: 3 };
        let armies = exclusion::message::replay(vec![army(NodeId(0)), army(NodeId(1))], &trace);
        let received: Vec<_> = armies.expect("as written").iter().map(|it| it.received).collect();
        assert_eq!(received, [1, 1]);
    }

    #[test]
    fn the_last_message_is_answered_by_none() {
        let mut army = Army { me: NodeId(1), received: 0, messages: 1 };
        let mut out = Outbox::new();
        step(&mut army, Input::Receive { from: NodeId(0), message: Dispatch(1) }, &mut out)
            .expect("it may come");
        assert!(out.is_empty());
    }
}
