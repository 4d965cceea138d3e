//! Each precaution that is left out puts two inside, and with all of them the same is harmless.

use std::fs;
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;

use exclusion_net::strict::Precautions;
use exclusion_net::{Configuration, Node, SecretKey, Settings, control};

use super::harness::{Cluster, Plan, wait_for};

/// A node for the tests below, as a process of its own. Among the tests it does nothing.
#[test]
fn a_node_without_a_precaution() {
    let Ok(without) = std::env::var("MUTANT_WITHOUT") else { return };
    let config = PathBuf::from(std::env::var_os("MUTANT_CONFIG").unwrap());
    let me: u32 = std::env::var("MUTANT_ME").unwrap().parse().unwrap();
    let mut precautions = Precautions::ALL;
    *match without.as_str() {
        "epochs" => &mut precautions.epochs,
        "outside" => &mut precautions.outside,
        "digest" => &mut precautions.digest,
        "memory" => &mut precautions.memory,
        other => panic!("there is no {other}"),
    } = false;
    let settings = Settings {
        configuration: Configuration::read(&config).unwrap(),
        me,
        secret: SecretKey::read(&config.with_file_name(format!("{me}.key"))).unwrap(),
        data: config.with_file_name(format!("{me}.data")),
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let node = Arc::new(Node::start_with(settings, precautions).await.unwrap());
        let commands = control::serve(node).unwrap();
        println!("the node is up");
        commands.await;
    });
}

const STAY: &str = "touch inside; until [ -e go ]; do sleep 0.05; done";

struct Trial {
    cluster: Cluster,
    inside: Option<Child>,
}

impl Trial {
    fn new(without: Option<&'static str>) -> Self {
        let algorithm = "central_coordinator";
        let plan = Plan { algorithm, without, idle_timeout_ms: 600, ..Plan::default() };
        Self { cluster: Cluster::new(plan), inside: None }
    }

    /// A user is inside at this node.
    fn stay_inside(&mut self, id: u32) {
        self.inside = Some(self.cluster.locking(id, &[], STAY).spawn().unwrap());
        wait_for("an entry", || self.cluster.path("inside").exists());
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        let _ = fs::write(self.cluster.path("go"), "");
        if let Some(inside) = &mut self.inside {
            let _ = inside.wait();
        }
    }
}

/// Whether a second user gets in at this node, while one is inside.
fn two_are_inside(trial: &Trial, id: u32) -> bool {
    match trial.cluster.enters(id, 6) {
        Some(0) => true,
        Some(124) => false,
        code => panic!("{code:?}"),
    }
}

fn refutes(without: &'static str, two_inside: fn(Option<&'static str>) -> bool) {
    assert!(two_inside(Some(without)), "nothing is missed without {without}");
    assert!(!two_inside(None), "two are inside with all precautions");
}

#[test]
fn without_epochs_a_restart_puts_two_inside() {
    refutes("epochs", |without| {
        let mut trial = Trial::new(without);
        (1..=3).for_each(|id| trial.cluster.start(id));
        trial.stay_inside(2);
        trial.cluster.kill(1);
        trial.cluster.start(1);
        two_are_inside(&trial, 3)
    });
}

#[test]
fn a_hello_of_a_node_with_a_user_inside_puts_two_inside() {
    refutes("outside", |without| {
        let mut trial = Trial::new(without);
        (1..=3).for_each(|id| trial.cluster.start(id));
        trial.stay_inside(1);
        trial.cluster.kill(2);
        trial.cluster.start(2);
        two_are_inside(&trial, 3)
    });
}

#[test]
fn a_blank_restart_that_is_accepted_puts_two_inside() {
    refutes("memory", |without| {
        let mut trial = Trial::new(without);
        (1..=3).for_each(|id| trial.cluster.start(id));
        trial.stay_inside(1);
        trial.cluster.kill(1);
        fs::remove_dir_all(trial.cluster.path("1.data")).unwrap();
        trial.cluster.start(1);
        two_are_inside(&trial, 3)
    });
}

#[test]
fn nodes_that_do_not_compare_their_configurations_put_two_inside() {
    refutes("digest", |without| {
        let trial = Trial::new(without);
        // Another order of the resources: what the one calls counter is other to the other.
        let config = fs::read_to_string(trial.cluster.path("cluster.toml")).unwrap();
        let swapped = config.replace("\"counter\", \"other\"", "\"other\", \"counter\"");
        fs::write(trial.cluster.path("swapped.toml"), swapped).unwrap();
        trial.cluster.start(1);
        trial.cluster.start(2);
        let mut third = trial.cluster.spawn(3, &trial.cluster.path("swapped.toml"));
        let mut trial = trial;
        // With the precaution nobody gets in at all.
        let two = if without.is_some() {
            trial.stay_inside(1);
            two_are_inside(&trial, 3)
        } else {
            two_are_inside(&trial, 1) || two_are_inside(&trial, 3)
        };
        third.kill().unwrap();
        third.wait().unwrap();
        two
    });
}
