//! How an epoch begins: all have said hello to all, then all are ready for the same.

use exclusion::message::{Blueprint, NodeId};

use super::{Out, Session, Strict};
use crate::strict::input::{Output, Stage};
use crate::strict::message::{Hello, Message, Record, Why};

impl<B: Blueprint> Strict<B> {
    /// Says hello wherever it has not, if nobody is inside.
    pub(super) fn greet(&mut self, out: &mut Out<B>) {
        if self.is_running() && self.precautions.epochs {
            return;
        }
        // Without epochs there is nothing that a user could outlive.
        if self.precautions.epochs && self.precautions.outside && self.is_occupied() {
            return;
        }
        let Self { digest, round, record: Record { epoch: last, .. }, .. } = *self;
        for (peer, session) in NodeId::all(self.nodes()).zip(&mut self.sessions) {
            if let Some(session) = session.as_mut().filter(|session| !session.greeted) {
                session.greeted = true;
                out.push(Output::Send(peer, Message::Hello(Hello { digest, round, last })));
            }
        }
        self.try_to_agree(out);
    }

    /// Keeps the next epoch and is ready, if all have said hello to all.
    pub(super) fn try_to_agree(&mut self, out: &mut Out<B>) {
        if self.stage != Stage::Gathering {
            return;
        }
        let heard = |session: &Session| session.heard.clone().filter(|_| session.greeted);
        let mut hellos = Vec::new();
        for (node, session) in NodeId::all(self.nodes()).zip(&self.sessions) {
            hellos.push(match session.as_ref().and_then(heard) {
                Some(hello) => hello,
                None if node == self.me => {
                    Hello { digest: self.digest, round: self.round, last: self.record.epoch }
                }
                None => return,
            });
        }
        let last = hellos.iter().map(|hello| hello.last).max().unwrap_or(0);
        let epoch = if self.precautions.epochs { last + 1 } else { 1 };
        let rounds: Vec<_> = hellos.iter().map(|hello| hello.round).collect();
        for node in self.me.others(self.nodes()) {
            self.record.known[node.index()] = Some(rounds[node.index()].life);
        }
        self.record.epoch = epoch;
        self.stage = Stage::Agreed(epoch);
        out.push(Output::Keep(self.record.clone()));
        for peer in self.me.others(self.nodes()) {
            out.push(Output::Send(peer, Message::Ready { epoch, rounds: rounds.clone() }));
        }
        if let Err(why) = self.try_to_begin(out) {
            // All were heard, so whoever disagrees has said so before.
            let disagrees = |session: &Session| {
                session.ready.as_ref().is_some_and(|ready| *ready != (epoch, rounds.clone()))
            };
            let peer = self
                .me
                .others(self.nodes())
                .find(|peer| self.sessions[peer.index()].as_ref().is_some_and(disagrees));
            if let Some(peer) = peer {
                self.cut_off(peer, why, out);
            }
        }
    }

    /// Begins the epoch, if all are ready for it.
    pub(super) fn try_to_begin(&mut self, out: &mut Out<B>) -> Result<(), Why> {
        let Stage::Agreed(epoch) = self.stage else { return Ok(()) };
        let round_of = |(node, session): (NodeId, &Option<Session>)| match session {
            Some(session) => session.heard.as_ref().map(|hello| hello.round),
            None => (node == self.me).then_some(self.round),
        };
        let rounds = NodeId::all(self.nodes()).zip(&self.sessions).filter_map(round_of);
        let mine = (epoch, rounds.collect::<Vec<_>>());
        let sessions = || self.sessions.iter().flatten();
        if self.precautions.agreement && self.precautions.epochs {
            if sessions().filter_map(|session| session.ready.as_ref()).any(|it| *it != mine) {
                return Err(Why::Disagree);
            }
            if sessions().any(|session| session.ready.is_none()) {
                return Ok(());
            }
        }
        self.stage = Stage::Running(epoch);
        out.push(Output::Begun(epoch));
        for resource in 0..self.desks.len() {
            let lock = self.blueprint.build(self.me, self.nodes());
            let opened = self.desks[resource].open(lock, epoch);
            let done = opened.expect("a fresh lock takes a start and a request");
            self.follow(resource, done, out);
        }
        while let Some((from, resource, entry, message)) = self.early.pop_front() {
            if let Err(why) = self.hand_over(from, resource, entry, message, out) {
                self.cut_off(from, why, out);
                break;
            }
        }
        Ok(())
    }
}
