//! A node of a cluster, and the commands that use one.
#![forbid(unsafe_code)]

mod bench;
mod keys;
mod lock;
mod operate;
mod run;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  exclusion-node init --nodes 3 cluster          # keys and cluster.toml, to try it on one machine
  exclusion-node run --config cluster/cluster.toml --me 1
  exclusion-node lock demo --config cluster/cluster.toml --me 1 -- sh -c 'echo $EXCLUSION_FENCE'
  exclusion-node status --config cluster/cluster.toml --me 1

Exit codes of `lock`: that of the command, or 128 and the signal that ended it; 124 if it was not
let in in time; 125 if the node or the cluster failed; 126 or 127 if the command cannot be run.
Everywhere: 2 for wrong usage, 1 for any other failure.";

/// Locks among processes and machines.
#[derive(Parser)]
#[command(name = "exclusion-node", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a secret key, and print the public one.
    Keygen(keys::Keygen),
    /// Make a cluster to try on one machine: keys, and a configuration on loopback.
    Init(keys::Init),
    /// Run a node until it is interrupted.
    Run(run::Run),
    /// Run a command inside a lock, with the fence in its environment.
    Lock(lock::Lock),
    /// Take a node in that has lost its data. Tell each of the other nodes.
    Replace(operate::Replace),
    /// Show how a node is.
    Status(operate::Status),
    /// Measure entries over loopback, beside the same engine that only bounces messages.
    Bench(bench::Bench),
}

/// Which node is meant.
#[derive(Args, Clone, Debug)]
struct Which {
    /// The file that all nodes have in common.
    #[arg(long, default_value = "cluster.toml")]
    config: PathBuf,
    /// The number of the node. Not needed if EXCLUSION_NODE has it.
    #[arg(long)]
    me: Option<u32>,
    /// Its data directory [default: ME.data beside the configuration].
    #[arg(long)]
    data: Option<PathBuf>,
}

impl Which {
    fn me(&self) -> Result<u32, Failure> {
        let told = || std::env::var("EXCLUSION_NODE").ok()?.parse().ok();
        self.me.or_else(told).ok_or_else(|| Failure::usage("say which node with --me NUMBER"))
    }

    fn data(&self) -> Result<PathBuf, Failure> {
        match &self.data {
            Some(data) => Ok(data.clone()),
            None => Ok(self.config.with_file_name(format!("{}.data", self.me()?))),
        }
    }
}

/// Why it ends, and with which code.
#[derive(Debug)]
struct Failure {
    code: u8,
    why: String,
}

impl Failure {
    fn usage(why: impl ToString) -> Self {
        Self { code: 2, why: why.to_string() }
    }

    fn of(why: impl ToString) -> Self {
        Self { code: 1, why: why.to_string() }
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Keygen(keygen) => keygen.run(),
        Command::Init(init) => init.run(),
        Command::Run(run) => run.run(),
        Command::Lock(lock) => lock.run(),
        Command::Replace(replace) => replace.run(),
        Command::Status(status) => status.run(),
        Command::Bench(bench) => bench.run(),
    };
    done.unwrap_or_else(|Failure { code, why }| {
        eprintln!("exclusion-node: {why}");
        ExitCode::from(code)
    })
}

/// A runtime for a command that talks to a node.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::of)
}
