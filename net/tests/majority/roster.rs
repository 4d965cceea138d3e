//! The agreed state: what holds for all commands, and that leases end in time.

use std::collections::BTreeMap;

use exclusion::message::{Epoch, Fence, NodeId};
use exclusion_net::majority::{Command, Roster, Seat, Stale};
use proptest::prelude::*;
use stateright::{Checker, Model, Property};

fn commands() -> impl Strategy<Value = Command> {
    let node = || (0..4u32).prop_map(NodeId);
    let few = 0..4u64;
    let fence = proptest::option::of((0..12u64, 0..9u64)).prop_map(|fence| {
        fence.map(|(epoch, entry)| Fence { epoch: Epoch::numbered(epoch), entry })
    });
    prop_oneof![
        (node(), few.clone(), 0..9u64).prop_map(|(node, incarnation, beat)| Command::Admit {
            node,
            incarnation,
            beat
        }),
        (node(), few.clone(), 0..9u64, fence).prop_map(|(node, incarnation, beat, fence)| {
            Command::Beat { node, incarnation, beat, fence }
        }),
        (node(), few.clone(), 0..9u64).prop_map(|(node, incarnation, beat)| Command::Exclude {
            node,
            incarnation,
            beat
        }),
        (node(), few).prop_map(|(node, incarnation)| Command::Leave { node, incarnation }),
        prop_oneof![0..20u64, Just(u64::MAX >> 1), Just(u64::MAX)]
            .prop_map(|epoch| Command::Raise { epoch }),
    ]
}

/// Who is in the view, without their beats.
fn lives(roster: &Roster) -> BTreeMap<NodeId, (u64, u64)> {
    roster.members().map(|(node, seat)| (node, (seat.incarnation, seat.since))).collect()
}

proptest! {
    #[test]
    fn a_view_changes_with_its_epoch_only_and_nothing_ever_goes_back(
        commands in proptest::collection::vec(commands(), 0..60),
    ) {
        let mut roster = Roster::new(3);
        for command in commands {
            let before = roster.clone();
            match roster.apply(&command) {
                Err(_) => prop_assert_eq!(&roster, &before),
                Ok(epoch) => prop_assert_eq!(epoch, roster.epoch()),
            }
            prop_assert!(roster.epoch() >= before.epoch());
            prop_assert!(roster.fence() >= before.fence());
            if lives(&roster) != lives(&before) {
                prop_assert!(roster.epoch() > before.epoch());
            }
            for (node, seat) in roster.members() {
                prop_assert!(node.0 < 3 && seat.since <= roster.epoch());
                if let Some(earlier) = before.seat(node) {
                    let order = |seat: Seat| (seat.incarnation, seat.beat);
                    prop_assert!(order(seat) >= order(earlier));
                }
            }
        }
    }
}

/// A member, an observer that may exclude it, and a log that any command in flight may join.
///
/// Time passes in ticks. Both clocks are right, but one may run faster by as much as `patience`
/// allows.
struct Leases {
    lease: u8,
    patience: u8,
    /// Whether an exclusion names the last beat that its proposer has seen.
    names_beat: bool,
}

const MEMBER: NodeId = NodeId(0);

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct State {
    now: u8,
    /// What both have applied.
    base: Roster,
    /// What has been agreed on since.
    log: Vec<Command>,
    flying: Vec<Command>,
    /// When each beat was sent.
    sent: Vec<u8>,
    /// How much of the log the member and the observer have applied.
    applied: [usize; 2],
    /// What the observer has seen of the member, and when.
    seen: Option<(Seat, u8)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Action {
    Tick,
    Beat,
    Commit(usize),
    Apply(usize),
    Exclude,
}

impl State {
    fn roster(&self, applied: usize) -> Roster {
        let mut roster = self.base.clone();
        for command in &self.log[..applied] {
            let _: Result<u64, Stale> = roster.apply(command);
        }
        roster
    }

    /// Forgets what both have applied.
    fn shorten(&mut self) {
        let both = self.applied[0].min(self.applied[1]);
        self.base = self.roster(both);
        self.log.drain(..both);
        self.applied.iter_mut().for_each(|applied| *applied -= both);
    }
}

impl Leases {
    fn has_lease(&self, state: &State) -> bool {
        let seat = state.roster(state.applied[0]).seat(MEMBER);
        seat.is_some_and(|seat| {
            let beat = usize::try_from(seat.beat).expect("beats are few");
            state.now < state.sent[beat] + self.lease
        })
    }
}

impl Model for Leases {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let flying = vec![Command::Admit { node: MEMBER, incarnation: 1, beat: 0 }];
        let (log, sent) = (Vec::new(), vec![0]);
        let base = Roster::new(2);
        vec![State { now: 0, base, log, flying, sent, applied: [0, 0], seen: None }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        actions.extend([Action::Tick, Action::Beat, Action::Exclude]);
        actions.extend((0..state.flying.len()).map(Action::Commit));
        actions.extend((0..2).map(Action::Apply));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut next = last.clone();
        match action {
            Action::Tick if last.now < 5 => next.now += 1,
            Action::Beat if last.sent.len() < 3 => {
                let (node, incarnation, beat) = (MEMBER, 1, last.sent.len() as u64);
                next.sent.push(last.now);
                next.flying.push(match last.roster(last.applied[0]).seat(MEMBER) {
                    Some(_) => Command::Beat { node, incarnation, beat, fence: None },
                    None => Command::Admit { node, incarnation, beat },
                });
            }
            Action::Commit(which) if last.log.len() < 2 => {
                let command = next.flying.remove(which);
                next.log.push(command);
            }
            Action::Apply(who) if last.applied[who] < last.log.len() => {
                next.applied[who] += 1;
                if who == 1 {
                    let seat = next.roster(next.applied[1]).seat(MEMBER);
                    let known = last.seen.map(|(seat, _)| seat);
                    if seat != known {
                        next.seen = seat.map(|seat| (seat, last.now));
                    }
                }
            }
            Action::Exclude if last.flying.len() < 3 => {
                let (seat, since) = last.seen.filter(|(_, at)| last.now - at >= self.patience)?;
                let beat = match self.names_beat {
                    true => seat.beat,
                    // As if there were no such check: it names whatever is agreed on.
                    false => last.roster(last.log.len()).seat(MEMBER)?.beat,
                };
                let command = Command::Exclude { node: MEMBER, incarnation: 1, beat };
                if since > last.now || last.flying.contains(&command) {
                    return None;
                }
                next.flying.push(command);
            }
            _ => return None,
        }
        next.shorten();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(
                "a member that has a lease is a member",
                |model: &Self, state: &State| {
                    let head = state.roster(state.log.len()).seat(MEMBER);
                    let known = state.roster(state.applied[0]).seat(MEMBER);
                    !model.has_lease(state) || head.map(|it| it.since) == known.map(|it| it.since)
                },
            ),
            Property::sometimes("a member is excluded", |_, state: &State| {
                let head = state.roster(state.log.len());
                head.epoch() > 1 && head.seat(MEMBER).is_none()
            }),
            Property::sometimes("a member comes back", |model: &Self, state: &State| {
                model.has_lease(state) && state.roster(state.applied[0]).epoch() > 2
            }),
        ]
    }
}

#[test]
fn a_lease_has_ended_when_its_member_is_excluded() {
    let model = Leases { lease: 2, patience: 2, names_beat: true };
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!("{} states", checker.unique_state_count());
    checker.assert_properties();
}

#[test]
fn with_less_patience_than_a_lease_a_member_is_excluded_too_early() {
    let model = Leases { lease: 3, patience: 2, names_beat: true };
    let checker = model.checker().threads(2).spawn_bfs().join();
    checker.assert_any_discovery("a member that has a lease is a member");
}

#[test]
fn an_exclusion_that_does_not_name_the_beat_comes_too_early() {
    let model = Leases { lease: 2, patience: 2, names_beat: false };
    let checker = model.checker().threads(2).spawn_bfs().join();
    checker.assert_any_discovery("a member that has a lease is a member");
}
