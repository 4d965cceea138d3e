//! A protocol of one's own, under every runner:
//! `cargo run --example own_protocol --features check`.
//!
//! A library with one book. Node 0 keeps it. A node that wants to read asks for it, and brings it
//! back. Everything from here to the end of `impl Protocol` is what a user has to write.

use std::collections::VecDeque;

use exclusion::message::actor::Cluster;
use exclusion::message::sim::{Delay, Simulation, Workload};
use exclusion::message::{
    Exclusive, Machine, Message, NodeId, Outbox, Phase, Protocol, Refused, replay,
};

const LIBRARIAN: NodeId = NodeId(0);

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Note {
    Please,
    Book,
    Returned,
}

impl Message for Note {
    fn kind(&self) -> &'static str {
        match self {
            Self::Please => "PLEASE",
            Self::Book => "BOOK",
            Self::Returned => "RETURNED",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Reader {
    me: NodeId,
    readers: usize,
    phase: Phase,
    /// At the librarian: the reader that has the book, and those that wait for it.
    lent_to: Option<NodeId>,
    queue: VecDeque<NodeId>,
}

impl Machine for Reader {
    type Message = Note;

    fn id(&self) -> NodeId {
        self.me
    }

    fn nodes(&self) -> usize {
        self.readers
    }

    fn request(&mut self, out: &mut Outbox<Note>) -> Result<(), Refused> {
        self.phase.request()?;
        out.send(LIBRARIAN, Note::Please);
        Ok(())
    }

    fn release(&mut self, out: &mut Outbox<Note>) -> Result<(), Refused> {
        self.phase.release()?;
        out.send(LIBRARIAN, Note::Returned);
        Ok(())
    }

    fn receive(&mut self, from: NodeId, note: Note, out: &mut Outbox<Note>) -> Result<(), Refused> {
        if from.index() >= self.readers || self.me != LIBRARIAN && note != Note::Book {
            return Err(Refused("that cannot have been sent"));
        }
        match note {
            // What cannot be is an error, and changes nothing.
            Note::Please if self.queue.contains(&from) => {
                return Err(Refused("it is in the queue"));
            }
            Note::Returned if self.lent_to != Some(from) => return Err(Refused("it has no book")),
            Note::Book if !self.phase.is_waiting() => return Err(Refused("it wants no book")),
            Note::Please => self.queue.push_back(from),
            Note::Returned => self.lent_to = None,
            Note::Book => self.phase.enter(out),
        }
        if self.lent_to.is_none()
            && let Some(next) = self.queue.pop_front()
        {
            self.lent_to = Some(next);
            out.send(next, Note::Book);
        }
        Ok(())
    }
}

impl Protocol for Reader {
    type Access = Exclusive;

    fn phase(&self) -> Phase {
        self.phase
    }
}

fn library(readers: usize) -> Vec<Reader> {
    let reader =
        |me| Reader { me, readers, phase: Phase::Idle, lent_to: None, queue: VecDeque::new() };
    NodeId::all(readers).map(reader).collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("Simulated, 5 readers that always want the book, messages in any order:");
    let report = Simulation::new(library(5))
        .delay(Delay::Exponential(1.0))
        .workload(Workload::Saturated { wanting: 5, entries: 1000 })
        .seed(1)
        .run()?;
    println!("{report}");

    #[cfg(feature = "check")]
    {
        use exclusion::message::check::{Check, Checker, Model};
        let checker = Check::new(library(3)).checker().spawn_bfs().join();
        checker.assert_properties();
        println!(
            "Explored, 3 readers that each want it once: {} states\n",
            checker.unique_state_count()
        );
    }

    println!("A small run, event by event, and replayed:");
    let report = Simulation::new(library(2)).traced().run()?;
    let trace = report.trace.expect("it was asked for");
    print!("{trace}");
    replay(library(2), &trace)?;

    let cluster = Cluster::start(library(4), 0)?;
    std::thread::scope(|scope| {
        for mut reader in cluster.handles() {
            scope.spawn(move || {
                for _ in 0..1000 {
                    *reader.lock().expect("nobody dies") += 1;
                }
            });
        }
    });
    let read = *cluster.handle(LIBRARIAN)?.lock()?;
    println!("\nAs actors, 4 threads: read {read} times, {}", cluster.shutdown().messages);
    assert_eq!(read, 4000);
    Ok(())
}
