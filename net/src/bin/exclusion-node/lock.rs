//! `lock`: a command inside a lock.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;

use clap::Args;
use exclusion_net::control::{Client, ClientError, Entered, Patience};
use exclusion_net::{Down, Fence};

use super::{Failure, Which, runtime};

/// Not let in in time.
const TIMED_OUT: u8 = 124;
/// The node or the cluster failed.
const FAILED: u8 = 125;
/// The command is there, and cannot be run.
const CANNOT_RUN: u8 = 126;
/// There is no such command.
const NO_COMMAND: u8 = 127;

#[derive(Args)]
pub struct Lock {
    /// The name of the resource.
    name: String,
    #[command(flatten)]
    which: Which,
    /// Wait for so many seconds at most.
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["unless_incomplete", "now"])]
    within: Option<f64>,
    /// Fail if nodes are missing, instead of waiting for them.
    #[arg(long)]
    unless_incomplete: bool,
    /// Fail if somebody is inside or waits.
    #[arg(long = "try", conflicts_with = "unless_incomplete")]
    now: bool,
    /// The command. Its children are inside too, until the last one has ended. It finds
    /// EXCLUSION_FENCE (greater for every later entry, as a text too), EXCLUSION_EPOCH,
    /// EXCLUSION_ENTRY and EXCLUSION_RESOURCE in its environment.
    #[arg(required = true, last = true)]
    command: Vec<String>,
}

impl Lock {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let patience = match (self.within, self.unless_incomplete, self.now) {
            (Some(seconds), ..) => {
                Patience::Within(Duration::try_from_secs_f64(seconds).map_err(Failure::usage)?)
            }
            (None, true, _) => Patience::UnlessIncomplete,
            (None, false, true) => Patience::Try,
            (None, false, false) => Patience::Endless,
        };
        let data = self.which.data()?;
        runtime()?.block_on(async {
            let client = Client::connect(&data).await.map_err(|why| failed(&why))?;
            let entered = client.lock(&self.name, patience).await.map_err(|why| failed(&why))?;
            run_inside(entered, &self.name, &self.command).await
        })
    }
}

async fn run_inside(entered: Entered, name: &str, command: &[String]) -> Result<ExitCode, Failure> {
    let Fence { epoch, entry } = entered.fence;
    let child = Command::new(&command[0])
        .args(&command[1..])
        .env("EXCLUSION_FENCE", format!("{:020}.{entry:020}", epoch.number))
        .env("EXCLUSION_EPOCH", epoch.number.to_string())
        .env("EXCLUSION_ENTRY", entry.to_string())
        .env("EXCLUSION_RESOURCE", name)
        .spawn();
    let code = match child {
        // It has the locked file now, and is inside whatever becomes of this process.
        Ok(mut child) => code_of(child.wait().map_err(Failure::of)?),
        Err(why) => {
            eprintln!("exclusion-node: {}: {why}", command[0]);
            if why.kind() == io::ErrorKind::NotFound { NO_COMMAND } else { CANNOT_RUN }
        }
    };
    match entered.release().await {
        Ok(false) => {}
        Ok(true) => eprintln!("exclusion-node: something that the command started is still inside"),
        Err(why) => eprintln!("exclusion-node: {why}; it learns that the command is done later"),
    }
    Ok(ExitCode::from(code))
}

fn code_of(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED)
}

fn failed(why: &ClientError) -> Failure {
    let code = match why {
        ClientError::Down(Down::TimedOut | Down::Busy) => TIMED_OUT,
        ClientError::Refused(_) => 2,
        _ => FAILED,
    };
    Failure { code, why: why.to_string() }
}
