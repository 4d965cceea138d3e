//! A cluster of processes in a folder that is gone afterwards.

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use exclusion_net::SecretKey;
use rustix::process::{Pid, Signal, kill_process};

/// The program that is tried: this build's, or the one that `NODE_PROGRAM` names.
pub fn node_program() -> PathBuf {
    let named = std::env::var_os("NODE_PROGRAM");
    named.map_or_else(|| env!("CARGO_BIN_EXE_exclusion-node").into(), PathBuf::from)
}

/// A port that no other cluster of these tests has. Below those that the system gives away.
fn next_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let from = std::process::id() * 100;
    loop {
        let port = 10_000 + ((from + NEXT.fetch_add(1, Ordering::SeqCst)) % 20_000) as u16;
        if UdpSocket::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Nobody waits longer for something that must happen.
pub const LIMIT: Duration = Duration::from_secs(120);

/// What a cluster is to be.
pub struct Plan {
    pub nodes: u32,
    pub algorithm: &'static str,
    pub idle_timeout_ms: u64,
    /// The network namespace of each node, and its address there.
    pub places: Option<Vec<(String, String)>>,
    /// The precaution that its nodes leave out.
    pub without: Option<&'static str>,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            nodes: 3,
            algorithm: "ricart_agrawala",
            // Generous: machines that test are busy.
            idle_timeout_ms: 3000,
            places: None,
            without: None,
        }
    }
}

pub struct Cluster {
    pub folder: PathBuf,
    plan: Plan,
    children: Mutex<Vec<Option<Child>>>,
}

impl Cluster {
    pub fn new(plan: Plan) -> Self {
        let unique = &SecretKey::generate().public().to_string()[..16];
        let folder = std::env::temp_dir().join(format!("exclusion-node-{unique}"));
        fs::create_dir_all(&folder).unwrap();
        let mut text = format!(
            "algorithm = \"{}\"\nresources = [\"counter\", \"other\"]\nidle_timeout_ms = {}\n",
            plan.algorithm, plan.idle_timeout_ms
        );
        for id in 1..=plan.nodes as usize {
            let key = SecretKey::generate();
            key.write_new(&folder.join(format!("{id}.key"))).unwrap();
            let address = match &plan.places {
                Some(places) => format!("{}:7100", places[id - 1].1),
                None => format!("127.0.0.1:{}", next_port()),
            };
            let key = key.public();
            text += &format!("[[member]]\nid = {id}\nkey = \"{key}\"\naddress = \"{address}\"\n");
        }
        fs::write(folder.join("cluster.toml"), text).unwrap();
        fs::write(folder.join("number"), "0\n").unwrap();
        let children = Mutex::new((0..plan.nodes).map(|_| None).collect());
        Self { folder, plan, children }
    }

    /// A cluster of which all nodes run.
    pub fn started(plan: Plan) -> Self {
        let cluster = Self::new(plan);
        (1..=cluster.plan.nodes).for_each(|id| cluster.start(id));
        cluster
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// A program at the place of a node.
    pub fn at(&self, id: u32, program: &Path) -> Command {
        match &self.plan.places {
            Some(places) => {
                let mut command = Command::new("ip");
                command.args(["netns", "exec", &places[id as usize - 1].0]).arg(program);
                command
            }
            None => Command::new(program),
        }
    }

    /// A command of a node.
    pub fn command(&self, id: u32, what: &[&str]) -> Command {
        let mut command = self.at(id, &node_program());
        command.arg(what[0]);
        command.arg("--config").arg(self.path("cluster.toml")).args(["--me", &id.to_string()]);
        command.args(&what[1..]);
        command
    }

    pub fn do_at(&self, id: u32, what: &[&str]) -> Output {
        self.command(id, what).output().unwrap()
    }

    /// Starts a node, and waits until it serves commands.
    pub fn start(&self, id: u32) {
        let child = self.spawn(id, &self.path("cluster.toml"));
        self.children.lock().unwrap()[id as usize - 1] = Some(child);
    }

    pub fn spawn(&self, id: u32, config: &Path) -> Child {
        let log = File::options().create(true).append(true).open(self.log_of(id)).unwrap();
        let program = match self.plan.without {
            None => node_program(),
            Some(_) => std::env::current_exe().unwrap(),
        };
        let mut command = self.at(id, &program);
        match self.plan.without {
            None => command.arg("run").arg("--config").arg(config).args(["--me", &id.to_string()]),
            // This very program is the node, by the test that runs one.
            Some(without) => command
                .args(["mutants::a_node_without_a_precaution", "--exact", "--nocapture"])
                .env("MUTANT_WITHOUT", without)
                .env("MUTANT_CONFIG", config)
                .env("MUTANT_ME", id.to_string()),
        };
        let piped = command.stdout(Stdio::piped()).stderr(log).stdin(Stdio::null());
        let mut child = piped.spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap()).lines();
        said.map_while(Result::ok).find(|line| line.contains("the node is up"));
        child
    }

    fn log_of(&self, id: u32) -> PathBuf {
        self.path(&format!("{id}.log"))
    }

    pub fn log(&self, id: u32) -> String {
        fs::read_to_string(self.log_of(id)).unwrap_or_default()
    }

    pub fn signal(&self, id: u32, signal: Signal) {
        let children = self.children.lock().unwrap();
        let child = children[id as usize - 1].as_ref().expect("it runs");
        kill_process(Pid::from_child(child), signal).unwrap();
        if signal == Signal::STOP {
            let threads = PathBuf::from(format!("/proc/{}/task", child.id()));
            wait_for("the stop of all threads", || all_stopped(&threads));
        }
    }

    /// kill -9.
    pub fn kill(&self, id: u32) {
        let child = self.children.lock().unwrap()[id as usize - 1].take();
        let mut child = child.expect("it runs");
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Ends a node as an operator does, and says its exit code.
    pub fn end(&self, id: u32) -> Option<i32> {
        self.signal(id, Signal::TERM);
        let child = self.children.lock().unwrap()[id as usize - 1].take();
        child.expect("it runs").wait().unwrap().code()
    }

    /// Runs a script inside the lock.
    pub fn lock(&self, id: u32, options: &[&str], script: &str) -> Output {
        self.locking(id, options, script).output().unwrap()
    }

    pub fn locking(&self, id: u32, options: &[&str], script: &str) -> Command {
        let mut what = vec!["lock", "counter"];
        what.extend(options);
        what.extend(["--", "sh", "-c", script]);
        let mut command = self.command(id, &what);
        command.current_dir(&self.folder).stdin(Stdio::null());
        command
    }

    /// The exit code of a script inside the lock, if the node lets it in within so many seconds.
    pub fn enters(&self, id: u32, seconds: u32) -> Option<i32> {
        self.lock(id, &["--within", &seconds.to_string()], "true").status.code()
    }

    /// Waits until a script gets in at this node.
    pub fn must_enter(&self, id: u32) {
        let seconds = LIMIT.as_secs().to_string();
        let output = self.lock(id, &["--within", &seconds], "true");
        assert_eq!(output.status.code(), Some(0), "{output:?}\n{}", self.log(id));
    }

    pub fn status(&self, id: u32) -> String {
        String::from_utf8_lossy(&self.do_at(id, &["status"]).stdout).into_owned()
    }

    pub fn number(&self) -> u64 {
        fs::read_to_string(self.path("number")).unwrap().trim().parse().unwrap()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for child in self.children.lock().unwrap().iter_mut().flatten() {
            let _ = child.kill();
            let _ = child.wait();
        }
        if std::thread::panicking() {
            for id in 1..=self.plan.nodes {
                let log = self.log(id);
                let tail: Vec<_> = log.lines().rev().take(40).collect();
                eprintln!("-- the end of the log of node {id}:");
                tail.iter().rev().for_each(|line| eprintln!("{line}"));
            }
        }
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Whether the threads of a process are all stopped. The signal is on its way for a moment.
fn all_stopped(threads: &Path) -> bool {
    let is_stopped = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("State:\tT"))
    };
    fs::read_dir(threads).is_ok_and(|all| all.flatten().all(is_stopped))
}

/// Waits for something that must happen.
pub fn wait_for(what: &str, happened: impl Fn() -> bool) {
    let since = Instant::now();
    while !happened() {
        assert!(since.elapsed() < LIMIT, "{what} does not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Steele's, Lea's and Flood's generator: the same seed gives the same numbers.
pub struct SplitMix(pub u64);

impl SplitMix {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }
}

/// A number that is given from outside.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
