//! `status` and `replace`.

use std::process::ExitCode;

use clap::Args;
use exclusion_net::control::{Client, ClientError};
use exclusion_net::replace_while_down;

use super::{Failure, Which, run, runtime};

#[derive(Args)]
pub struct Status {
    #[command(flatten)]
    which: Which,
}

impl Status {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let data = self.which.data()?;
        let status = runtime()?.block_on(async { Client::connect(&data).await?.status().await });
        print!("{}", status.map_err(Failure::of)?);
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Args)]
pub struct Replace {
    /// The number of the node that has lost its data. **Nothing of it may be running anywhere**: if
    /// something is, two may be inside.
    id: u32,
    #[command(flatten)]
    which: Which,
}

impl Replace {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Self { id, which } = self;
        let data = which.data()?;
        let told = runtime()?.block_on(async { Client::connect(&data).await?.replace(id).await });
        match told {
            Ok(()) => {}
            // The node does not run: its record can be changed.
            Err(ClientError::NoNode(..)) => {
                let settings = run::settings(&which, None)?;
                replace_while_down(&settings, id).map_err(Failure::of)?;
            }
            Err(why) => return Err(Failure::of(why)),
        }
        println!("node {} forgets the earlier lives of node {id}", which.me()?);
        Ok(ExitCode::SUCCESS)
    }
}
