//! The command line of the lab.
#![forbid(unsafe_code)]

mod command;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use command::{check, cost, diagram, elect, faults, list, locks, messages, report};

/// Measures the locks of `exclusion` beside their peers, counts messages beside their formulas, and
/// explores both.
#[derive(Parser)]
#[command(
    version,
    after_help = "\
Without a command: a tour of about a minute, and a page with all of it.

Examples:
  cargo lab
  cargo lab list
  cargo lab locks --workloads short
  cargo lab check ricart_agrawala --nodes 3
  cargo lab report --output exclusion.html"
)]
struct Lab {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Every algorithm, lock and broken variant, by name
    List(list::List),
    /// Contention: throughput, fairness and waiting times, ours and our peers' in one run
    Locks(locks::Locks),
    /// Accesses and remote memory references per entry, counted, by the number of threads
    Cost(cost::CostCommand),
    /// Messages per entry of the distributed algorithms, measured beside their formulas
    Messages(messages::Messages),
    /// Elections and spanning trees: who asks whom, who leads, counted beside their formulas
    Elect(elect::ElectCommand),
    /// What a fault does to each algorithm, explored, and whether the layers for it help
    Faults(faults::FaultsCommand),
    /// Explore every reachable state of a distributed algorithm, or of a lock over registers
    Check(check::CheckCommand),
    /// A space-time diagram of a small run, as SVG
    Diagram(diagram::DiagramCommand),
    /// One page with all of it: measured, counted, explored and drawn
    Report(report::ReportCommand),
}

fn main() -> ExitCode {
    let outcome = match Lab::parse().command {
        None => report::tour(),
        Some(Command::List(list)) => list.run(),
        Some(Command::Locks(locks)) => locks.run(),
        Some(Command::Cost(cost)) => cost.run(),
        Some(Command::Messages(messages)) => messages.run(),
        Some(Command::Elect(elect)) => elect.run(),
        Some(Command::Faults(faults)) => faults.run(),
        Some(Command::Check(check)) => check.run(),
        Some(Command::Diagram(diagram)) => diagram.run(),
        Some(Command::Report(report)) => report.run(),
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_example_of_the_help_can_be_parsed() {
        let lab = Lab::command();
        let helps = lab.get_subcommands().chain([&lab]).map(|command| {
            command.get_after_help().expect("every command has examples").to_string()
        });
        let mut parsed = 0;
        for help in helps {
            for example in help.lines().filter(|line| line.starts_with("  ")) {
                let words = example.trim().split(' ').skip_while(|word| *word == "cargo");
                Lab::try_parse_from(words).unwrap_or_else(|error| panic!("{example}: {error}"));
                parsed += 1;
            }
        }
        assert!(parsed > 20, "only {parsed} were found");
    }
}
