//! `run`: a node until it is interrupted.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use exclusion_net::{Configuration, Node, SecretKey, Settings, control};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::prelude::*;

use super::{Failure, Which};

/// How long the commands that are inside may take to leave when the node is to end.
const GRACE: Duration = Duration::from_secs(2);

#[derive(Args)]
pub struct Run {
    #[command(flatten)]
    which: Which,
    /// Its secret key [default: ME.key beside the configuration].
    #[arg(long)]
    key: Option<PathBuf>,
    /// How much to tell on stderr: error, warn, info, debug or trace.
    #[arg(long, default_value = "info")]
    log: LevelFilter,
}

/// All that a node is started with.
pub fn settings(which: &Which, key: Option<PathBuf>) -> Result<Settings, Failure> {
    let me = which.me()?;
    let configuration = Configuration::read(&which.config).map_err(Failure::usage)?;
    let key = key.unwrap_or_else(|| which.config.with_file_name(format!("{me}.key")));
    let secret = SecretKey::read(&key).map_err(Failure::usage)?;
    Ok(Settings { configuration, me, secret, data: which.data()? })
}

impl Run {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let settings = settings(&self.which, self.key)?;
        let of_engine = self.log.min(LevelFilter::WARN);
        let targets = Targets::new().with_default(of_engine);
        let targets = targets.with_target("exclusion_net", self.log);
        let told = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal());
        tracing_subscriber::registry().with(told.with_filter(targets)).init();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        runtime.map_err(Failure::of)?.block_on(serve(settings))
    }
}

async fn serve(settings: Settings) -> Result<ExitCode, Failure> {
    let mut terminated = signal(SignalKind::terminate()).map_err(Failure::of)?;
    let node = Arc::new(Node::start(settings).await.map_err(Failure::of)?);
    let mut commands = Box::pin(control::serve(node.clone()).map_err(Failure::of)?);
    println!("the node is up");
    let ended = tokio::select! {
        () = &mut commands => Ok(()),
        _ = tokio::signal::ctrl_c() => Ok(()),
        _ = terminated.recv() => Ok(()),
        down = node.over() => Err(Failure::of(down)),
    };
    if tokio::time::timeout(GRACE, node.shutdown()).await.is_err() {
        tracing::warn!("commands are still inside: the node waits for them when it comes back");
    }
    drop(commands);
    // Nothing is dropped: a guard that is would tell the others that its user has left.
    match ended {
        Ok(()) => std::process::exit(0),
        Err(Failure { code, why }) => {
            eprintln!("exclusion-node: {why}");
            std::process::exit(code.into())
        }
    }
}
