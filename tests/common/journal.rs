//! What the code does, written down for `proofs/compare`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A file of states and steps. See `proofs/compare`.
pub struct Journal {
    path: PathBuf,
    file: BufWriter<File>,
    states: usize,
}

impl Journal {
    pub fn new(name: &str, proof: &str, nodes: usize) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("proofs");
        std::fs::create_dir_all(&folder).expect("a folder below target");
        let path = folder.join(format!("{name}.jsonl"));
        let file = BufWriter::new(File::create(&path).expect("a file below target"));
        let mut journal = Self { path, file, states: 0 };
        journal.write(&json!({ "proof": proof, "nodes": nodes }));
        journal
    }

    pub fn write(&mut self, line: &Value) {
        writeln!(self.file, "{line}").expect("a line can be written");
    }

    /// The next state. Returns its number.
    pub fn state(&mut self, state: &Value) -> usize {
        self.write(&json!({ "state": state }));
        self.states += 1;
        self.states - 1
    }

    /// A step from one state to another.
    pub fn step(&mut self, from: usize, action: Value, to: usize) {
        self.write(&json!({ "from": from, "action": action, "to": to }));
    }

    /// Runs `proofs/compare` over it, perhaps with a flawed step of the proof.
    pub fn compare(&mut self, flaw: Option<&str>) -> Comparison {
        self.file.flush().expect("what was written can be kept");
        let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
        let script = folders.find_map(|folder| {
            Some(folder.join("proofs/compare")).filter(|script| script.exists())
        });
        let flaw = flaw.into_iter().flat_map(|flaw| ["--flaw", flaw]);
        let mut command = Command::new("python3");
        command.arg(script.expect("the script is there")).args(flaw).arg(&self.path);
        let output = command.output();
        if output.is_err() {
            eprintln!("skipped: there is no python3");
        }
        Comparison(output.ok())
    }

    #[track_caller]
    pub fn agrees(&mut self) {
        self.compare(None).agrees();
    }

    /// And there is no step of the proof that the code does not take.
    #[track_caller]
    pub fn agrees_and_takes_every_step(&mut self) {
        let comparison = self.compare(None);
        if let Some((_, report)) = comparison.report() {
            assert!(!report.contains("never: "), "{report}");
        }
        comparison.agrees();
    }

    /// With this flawed step of the proof, something is wrong.
    #[track_caller]
    pub fn notices(&mut self, flaw: &str) {
        self.compare(Some(flaw)).disagrees();
    }
}

/// What `proofs/compare` found. Nothing where there is no Python.
pub struct Comparison(Option<Output>);

impl Comparison {
    #[track_caller]
    pub fn agrees(self) {
        let Some((code, report)) = self.report() else { return };
        assert_eq!(code, Some(0), "{report}");
        println!("{}", report.trim_end());
    }

    #[track_caller]
    pub fn disagrees(self) {
        let Some((code, report)) = self.report() else { return };
        assert_eq!(code, Some(1), "{report}");
        let found = ["no step of the proof", "not true"].map(|what| report.contains(what));
        assert!(found.contains(&true), "{report}");
    }

    fn report(&self) -> Option<(Option<i32>, String)> {
        let Output { status, stdout, stderr } = self.0.as_ref()?;
        let texts = [stdout, stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        Some((status.code(), texts.concat()))
    }
}
