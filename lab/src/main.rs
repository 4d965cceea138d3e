//! The command line of the lab.
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::{Outcome, check, diagram, locks, messages, say};

/// Measures the locks of `exclusion` beside their peers, and counts messages beside their formulas.
#[derive(Parser)]
#[command(version, after_help = "Without a command: a short tour.")]
struct Lab {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Contention: throughput, fairness and waiting times, ours and our peers' in one run
    Locks(locks::Locks),
    /// Messages an entry of the distributed algorithms, measured beside their formulas
    Messages(messages::Messages),
    /// Everything that can happen to a distributed algorithm, explored
    Check(check::CheckCommand),
    /// A space-time diagram of a small run, as SVG
    Diagram(diagram::DiagramCommand),
}

fn main() -> ExitCode {
    let outcome = match Lab::parse().command {
        None => tour(),
        Some(Command::Locks(locks)) => locks.run(),
        Some(Command::Messages(messages)) => messages.run(),
        Some(Command::Check(check)) => check.run(),
        Some(Command::Diagram(diagram)) => diagram.run(),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(wrong) => {
            eprintln!("error: {wrong}");
            ExitCode::from(2)
        }
    }
}

fn tour() -> Outcome {
    say("exclusion: mutual exclusion from reads and writes, and from messages.\n");
    say("A taste of the contention that `locks` measures in full (try `--help`):\n");
    locks::taste()?;
    say("And of the messages that `messages` counts in full:\n");
    let ok = messages::taste()?;
    say("And of what `check` explores in full:\n");
    let holds = check::taste()?;
    say("\nStill to come: pictures.");
    Ok(ok && holds)
}
