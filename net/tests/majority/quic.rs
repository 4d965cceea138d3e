//! Nodes over QUIC, as processes have them.

use std::net::{Ipv4Addr, UdpSocket};
use std::path::Path;
use std::time::Duration;

use exclusion_net::majority::{self, Down, Node};
use exclusion_net::{Configuration, SecretKey, Settings};

use crate::support::within;

const LEASE: Duration = Duration::from_secs(1);

struct Files {
    folder: tempfile::TempDir,
    keys: Vec<SecretKey>,
    configuration: Configuration,
}

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let keys: Vec<_> = (0..3).map(|_| SecretKey::generate()).collect();
        // All are bound at a time, so that they differ.
        let bind = |_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("there is a port");
        let sockets: Vec<_> = keys.iter().map(bind).collect();
        let mut text = "algorithm = \"ricart_agrawala\"\nresources = [\"deploy\"]\n".to_owned();
        for (place, (key, socket)) in keys.iter().zip(&sockets).enumerate() {
            let (id, key) = (place + 1, key.public());
            let address = socket.local_addr().expect("it is bound");
            text += &format!("[[member]]\nid = {id}\nkey = \"{key}\"\naddress = \"{address}\"\n");
        }
        let path = folder.path().join("cluster.toml");
        std::fs::write(&path, text).expect("there is room");
        let configuration = Configuration::read(Path::new(&path)).expect("it is right");
        Self { folder, keys, configuration }
    }

    fn settings(&self, id: u32) -> Settings {
        Settings {
            configuration: self.configuration.clone(),
            me: id,
            secret: self.keys[id as usize - 1].clone(),
            data: self.folder.path().join(id.to_string()),
        }
    }

    async fn start(&self, id: u32) -> Node {
        majority::start(self.settings(id), LEASE).await.expect("nothing is wrong")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_over_quic_survives_a_node_and_takes_it_back() {
    let files = Files::new();
    let mut nodes = Vec::new();
    for id in 1..=3 {
        nodes.push(files.start(id).await);
    }
    let mut last = None;
    for node in &nodes {
        let guard = within(node.lock("deploy")).await.expect("it can be locked");
        assert!(last < Some(guard.fence()));
        last = Some(guard.fence());
    }
    within(nodes.remove(0).stop()).await;
    for node in &nodes {
        let guard = within(node.lock("deploy")).await.expect("it can be locked");
        assert!(last < Some(guard.fence()));
        last = Some(guard.fence());
    }
    // Its directory and its address are free a moment after it has stopped.
    let back = within(async {
        loop {
            match majority::start(files.settings(1), LEASE).await {
                Ok(node) => return node,
                Err(Down::Disk(_) | Down::Listen(_)) => {}
                Err(other) => panic!("{other}"),
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let back = back.await;
    let guard = within(back.lock("deploy")).await.expect("it can be locked");
    assert!(last < Some(guard.fence()));
    drop(guard);
    for node in nodes.into_iter().chain([back]) {
        within(node.stop()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_of_another_is_refused() {
    let files = Files::new();
    let wrong = Settings { secret: SecretKey::generate(), ..files.settings(1) };
    assert_eq!(majority::start(wrong, LEASE).await.expect_err("it is not its key"), Down::Key(1));
    let nobody = Settings { me: 9, ..files.settings(1) };
    let why = majority::start(nobody, LEASE).await.expect_err("there is no such member");
    assert_eq!(why, Down::NoMember(9));
}
