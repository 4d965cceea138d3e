//! `keygen` and `init`.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use exclusion_net::{Configuration, SecretKey};

use super::Failure;

#[derive(Args)]
pub struct Keygen {
    /// The file for the secret key. It must not be there yet.
    file: PathBuf,
}

impl Keygen {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let key = SecretKey::generate();
        key.write_new(&self.file).map_err(Failure::of)?;
        println!("{}", key.public());
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Args)]
pub struct Init {
    /// The folder to make.
    folder: PathBuf,
    /// How many nodes.
    #[arg(long, default_value_t = 3)]
    nodes: u16,
    /// Which algorithm.
    #[arg(long, default_value = "ricart_agrawala")]
    algorithm: String,
    /// The names of the resources.
    #[arg(long, value_delimiter = ',', default_value = "demo")]
    resources: Vec<String>,
    /// The port of node 1. The others have the next ones.
    #[arg(long, default_value_t = 7101)]
    port: u16,
}

impl Init {
    pub fn run(self) -> Result<ExitCode, Failure> {
        let Self { folder, nodes, algorithm, resources, port } = self;
        let path = folder.join("cluster.toml");
        if path.exists() {
            return Err(Failure::usage(format!("{} is there already", path.display())));
        }
        let mut text = format!("algorithm = {algorithm:?}\nresources = {resources:?}\n");
        let keys: Vec<_> = (0..nodes).map(|_| SecretKey::generate()).collect();
        for (key, id) in keys.iter().zip(1_u16..) {
            let port = port.checked_add(id - 1).ok_or_else(|| Failure::usage("the ports end"))?;
            let (key, address) = (key.public(), format!("127.0.0.1:{port}"));
            let member = format!("id = {id}\nkey = \"{key}\"\naddress = \"{address}\"\n");
            write!(text, "\n[[member]]\n{member}").map_err(Failure::of)?;
        }
        text.parse::<Configuration>().map_err(Failure::usage)?;
        std::fs::create_dir_all(&folder).map_err(Failure::of)?;
        for (key, id) in keys.iter().zip(1..) {
            key.write_new(&folder.join(format!("{id}.key"))).map_err(Failure::of)?;
        }
        std::fs::write(&path, text).map_err(Failure::of)?;
        let path = path.display();
        println!("Start the nodes, each in a terminal of its own:");
        for id in 1..=nodes {
            println!("  exclusion-node run --config {path} --me {id}");
        }
        let name = &resources[0];
        println!("Then run something inside a lock, at any of them:");
        println!("  exclusion-node lock {name} --config {path} --me 1 -- echo inside");
        Ok(ExitCode::SUCCESS)
    }
}
