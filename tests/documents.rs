//! The documents: their links lead somewhere, no prose or comment is too wide, and what they quote
//! is in the sources.

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// How wide prose may be. Tables, definitions of labels, and words that are longer may be wider.
const COLUMNS: usize = 100;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A text in Markdown, without its code blocks.
struct Document {
    path: PathBuf,
    /// A line of a code block is an empty line here.
    prose: String,
}

impl Document {
    fn new(path: PathBuf, text: &str) -> Self {
        let mut in_code = false;
        let prose = text.lines().map(|line| {
            let fence = line.trim_start().starts_with("```");
            in_code ^= fence;
            if in_code || fence { "\n".to_owned() } else { format!("{line}\n") }
        });
        Self { path, prose: prose.collect() }
    }

    fn read(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        Self::new(path, &text)
    }

    fn is_a_page_of_the_book(&self) -> bool {
        self.path.parent().is_some_and(|folder| folder.ends_with("docs"))
    }

    /// The labels that are defined, and what they mean.
    fn definitions(&self) -> impl Iterator<Item = (String, &str)> {
        let definitions = self.prose.lines().filter_map(|line| line.strip_prefix('['));
        let definitions = definitions.filter_map(|line| line.split_once("]: "));
        definitions.map(|(label, target)| (normalised(label), target.trim()))
    }

    /// Every link, wherever it leads.
    fn links(&self) -> Vec<Link> {
        links(&self.prose)
    }

    /// What the links and the definitions lead to.
    fn targets(&self) -> Vec<String> {
        let inline = self.links().into_iter().filter_map(|link| match link {
            Link::To(target) => Some(target),
            Link::Label(_) => None,
        });
        inline.chain(self.definitions().map(|(_, target)| target.to_owned())).collect()
    }

    /// What is wrong with it.
    fn flaws(&self) -> Vec<String> {
        let mut flaws = Vec::new();
        for target in self.targets() {
            flaws.extend(self.leads_nowhere(&target));
        }
        let defined: Vec<_> = self.definitions().map(|(label, _)| label).collect();
        let used: Vec<_> = self.links().into_iter().filter_map(Link::label).collect();
        for label in &used {
            if !defined.contains(label) {
                flaws.push(format!("[{label}] is not defined"));
            }
        }
        for (position, label) in defined.iter().enumerate() {
            if !used.contains(label) {
                flaws.push(format!("[{label}] is defined, but not used"));
            }
            if defined[..position].contains(label) {
                flaws.push(format!("[{label}] is defined twice"));
            }
        }
        if self.is_a_page_of_the_book() {
            let inline = self.links().into_iter().filter(|link| matches!(link, Link::To(_)));
            flaws.extend(inline.map(|link| format!("{link:?} has no label: rustdoc needs one")));
            let items = self.prose.lines().filter(|line| line.contains("crate::"));
            flaws.extend(items.map(|line| format!("only rustdoc understands '{line}'")));
        }
        flaws
    }

    fn leads_nowhere(&self, target: &str) -> Option<String> {
        if target.starts_with("https://") {
            return None;
        }
        let (file, heading) = target.split_once('#').unwrap_or((target, ""));
        let folder = self.path.parent().expect("a document is in a folder");
        let path = if file.is_empty() { self.path.clone() } else { folder.join(file) };
        if !path.exists() {
            return Some(format!("there is no {target}"));
        }
        let found = heading.is_empty() || Self::read(path).has_heading(heading);
        (!found).then(|| format!("{target} has no such heading"))
    }

    /// Whether there is such a heading, named as code hosts and rustdoc name it.
    fn has_heading(&self, name: &str) -> bool {
        let headings = self.prose.lines().filter(|line| line.starts_with('#'));
        headings.map(|line| line.trim_start_matches('#').trim()).any(|heading| {
            let kept = heading.chars().filter(|it| it.is_alphanumeric() || " -_".contains(*it));
            kept.collect::<String>().to_lowercase().replace(' ', "-") == name
        })
    }

    /// The lines that are too long.
    fn long_lines(&self) -> impl Iterator<Item = &str> {
        self.prose.lines().filter(|line| {
            let text = line.trim_start_matches(['-', '*', ' ']);
            let may_be_long =
                text.starts_with('|') || text.starts_with('[') && text.contains("]: ");
            line.chars().count() > COLUMNS && !may_be_long && text.contains(' ')
        })
    }
}

/// A link in a text.
#[derive(PartialEq, Debug)]
enum Link {
    /// `[text](target)`
    To(String),
    /// `[text][label]`, or `[label]`
    Label(String),
}

impl Link {
    fn label(self) -> Option<String> {
        match self {
            Self::To(_) => None,
            Self::Label(label) => Some(label),
        }
    }
}

/// A label as Markdown compares it.
fn normalised(label: &str) -> String {
    label.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// The links of a text. Brackets that are no link belong in code: here each is one.
fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(['`', '[']) {
        at += found;
        if text[at..].starts_with('`') {
            at = code_span(text, at).end;
            continue;
        }
        let inside = brackets(text, at);
        let after = &text[inside.end + 1..];
        if let Some(target) = after.strip_prefix('(') {
            let target = target.split_once(')').expect("a target has an end").0;
            links.push(Link::To(target.to_owned()));
            at = inside.end + target.len() + 3;
        } else if after.starts_with('[') {
            let label = brackets(text, inside.end + 1);
            links.push(Link::Label(normalised(&text[label.clone()])));
            at = label.end + 1;
        } else {
            let defines = after.starts_with(": ") && text[..at].ends_with('\n');
            if !defines {
                links.push(Link::Label(normalised(&text[inside.clone()])));
            }
            at = inside.end + 1;
        }
    }
    links
}

/// The code that starts here, with its backticks.
fn code_span(text: &str, start: usize) -> Range<usize> {
    let ticks = text[start..].len() - text[start..].trim_start_matches('`').len();
    let (fence, code) = text[start..].split_at(ticks);
    let length = code.find(fence).map_or(0, |length| length + ticks);
    start..start + ticks + length
}

/// What is between the brackets that open here.
fn brackets(text: &str, open: usize) -> Range<usize> {
    let mut at = open + 1;
    loop {
        let next = text[at..].find(['`', '[', ']']).expect("brackets are closed") + at;
        at = match &text[next..=next] {
            "]" => return open + 1..next,
            "[" => brackets(text, next).end + 1,
            _ => code_span(text, next).end,
        };
    }
}

fn documents() -> Vec<Document> {
    let at_the_root = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];
    let at_the_root = at_the_root.into_iter().map(|name| root().join(name));
    let folder = fs::read_dir(root().join("docs")).expect("the pages are there");
    let pages = folder.map(|file| file.expect("a file").path());
    let pages = pages.filter(|path| path.extension().is_some_and(|kind| kind == "md"));
    at_the_root.chain(pages).map(Document::read).collect()
}

#[test]
fn every_link_of_the_documents_leads_somewhere() {
    let documents = documents();
    assert!(documents.len() >= 9, "only {} were found", documents.len());
    for document in documents {
        assert!(!document.links().is_empty() || document.path.ends_with("CHANGELOG.md"));
        let flaws = document.flaws();
        assert!(flaws.is_empty(), "{}: {flaws:#?}", document.path.display());
    }
}

#[test]
fn no_line_of_prose_is_too_long() {
    for document in documents() {
        let long: Vec<_> = document.long_lines().collect();
        assert!(long.is_empty(), "{}: {long:#?}", document.path.display());
    }
}

/// Thirty seconds are enough for it.
#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(root().join("README.md")).expect("it is there");
    let words = readme.split_whitespace().count();
    assert!(words < 900, "{words} words");
}

/// Each page leads to the one before it and to the one after it, and the appendix is the last.
#[test]
fn the_pages_of_the_book_lead_from_one_to_the_next() {
    let file = |label: &str| format!("docs/{}.md", label.replace('_', "-"));
    let read = |label: &str| fs::read_to_string(root().join(file(label))).expect("a page");
    let beside = |text: &str, word: &str| {
        let (_, rest) = text.rsplit_once(word)?;
        let label = rest.split("[`").nth(1)?.split("`]").next()?;
        Some(label.to_owned())
    };
    let mut pages = vec!["shared_memory".to_owned()];
    while let Some(next) = beside(&read(pages.last().expect("one")), "Next: [") {
        assert_eq!(beside(&read(&next), "Previous: [").as_ref(), pages.last(), "{next}");
        assert!(!pages.contains(&next), "{next} comes twice");
        pages.push(next);
    }
    let folder = fs::read_dir(root().join("docs")).expect("the pages are there");
    let all = folder.filter(|file| {
        file.as_ref().is_ok_and(|file| file.path().extension().is_some_and(|it| it == "md"))
    });
    assert_eq!(pages.len(), all.count(), "{pages:?}");
    assert_eq!(pages.last().map(String::as_str), Some("explored"));
}

/// The comments of a source that are wider than prose may be. A row of a table has no other line to
/// go on.
fn wide_comments(source: &str) -> impl Iterator<Item = &str> {
    let is_row = |line: &str| line.trim_start_matches(['/', '!', ' ']).starts_with('|');
    let comments = source.lines().filter(|line| line.trim_start().starts_with("//"));
    let comments = comments.filter(move |line| !is_row(line));
    comments.filter(|line| line.chars().count() > COLUMNS)
}

#[test]
fn no_comment_is_too_wide() {
    let folders = ["src", "lab", "tests", "loom-tests", "no-std-test", "benches", "examples"];
    for (path, text) in sources(&folders) {
        let wide: Vec<_> = wide_comments(&text).collect();
        assert!(wide.is_empty(), "{}: {wide:#?}", path.display());
    }
}

#[test]
fn a_comment_that_is_too_wide_is_found() {
    let words = "word ".repeat(20);
    for marker in ["//", "///", "//!", "    //"] {
        assert_eq!(wide_comments(&format!("{marker} {words}.")).count(), 1, "{marker}");
    }
    assert_eq!(wide_comments("// a word").count(), 0);
    assert_eq!(wide_comments(&format!("let words = \"{words}\"; // words")).count(), 0);
}

#[test]
fn what_is_wrong_with_a_document_is_found() {
    let page = |text: &str| Document::new(root().join("docs/page.md"), text).flaws();
    let right = "A [word][`Word`], `[no link]` and [`Word`].\n\n[`Word`]: ../README.md\n";
    assert_eq!(page(right), [""; 0]);
    assert_eq!(page("```\n[in code](nowhere.md)\n```\n"), [""; 0]);
    for (wrong, flaw) in [
        ("A [word][`Word`].\n", "[`word`] is not defined"),
        ("A [word\nthat goes on].\n", "[word that goes on] is not defined"),
        ("A word.\n\n[word]: ../README.md\n", "[word] is defined, but not used"),
        ("[w].\n\n[w]: ../README.md\n[w]: messages.md\n", "[w] is defined twice"),
        ("A [word].\n\n[word]: ../NOTHING.md\n", "there is no ../NOTHING.md"),
        ("A [word].\n\n[word]: messages.md#nothing\n", "messages.md#nothing has no such heading"),
        ("A [word].\n\n[word]: http://example.org\n", "there is no http://example.org"),
        ("A [word](messages.md).\n", "To(\"messages.md\") has no label: rustdoc needs one"),
        ("A [word].\n\n[word]: crate::Word\n", "only rustdoc understands '[word]: crate::Word'"),
    ] {
        assert!(page(wrong).iter().any(|it| it == flaw), "{wrong}: {:?}", page(wrong));
    }
    let elsewhere = Document::new(root().join("README.md"), "A [word](docs/messages.md#measured).");
    assert_eq!(elsewhere.flaws(), [""; 0]);
}

#[test]
fn a_line_that_is_too_long_is_found() {
    let long = |text: &str| Document::new(root().join("README.md"), text).long_lines().count();
    let words = "word ".repeat(20);
    assert_eq!(words.trim_end().len(), 99);
    assert_eq!(long(&words), 0);
    assert_eq!(long(&format!("{words}s")), 1);
    assert_eq!(long(&format!("- {words}s")), 1);
    assert_eq!(long(&format!("| {words} |")), 0);
    assert_eq!(long(&format!("[{words}]: target")), 0);
    assert_eq!(long(&"√".repeat(COLUMNS)), 0);
    assert_eq!(long(&format!("```\n{words}words\n```")), 0);
}

/// Every source file in these folders, and what it says.
fn sources(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut folders: Vec<_> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for file in fs::read_dir(&folder).expect("a folder") {
            let path = file.expect("a file").path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                sources.push((path, text));
            }
        }
    }
    sources
}

/// The lines of the sources that documents quote, without what is around them.
fn lines_of_the_sources() -> HashSet<String> {
    let sources = sources(&["src", "loom-tests/tests"]);
    let lines = sources.iter().flat_map(|(_, text)| text.lines());
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn what_is_quoted_for_contributors_stands_in_the_sources() {
    let page = fs::read_to_string(root().join("CONTRIBUTING.md")).expect("it can be read");
    let sources = lines_of_the_sources();
    let quotations = page.split("```rust\n").skip(1).map(|rest| rest.split("```").next());
    let quoted: Vec<_> = quotations.flatten().flat_map(str::lines).map(str::trim).collect();
    assert!(quoted.len() > 20, "only {} lines are", quoted.len());
    for line in quoted {
        assert!(sources.contains(line), "'{line}' is in no source");
    }
}

/// The table of questions in docs/failures.md names tests that there are.
#[test]
fn each_of_the_ten_questions_is_answered_by_a_test() {
    let page = fs::read_to_string(root().join("docs/failures.md")).expect("a page");
    let (_, rest) = page.split_once("<!-- ten -->\n").expect("the page has a marker");
    let (table, _) = rest.split_once("<!-- /ten -->").expect("the page has a second marker");
    let rows: Vec<_> = table.lines().skip(2).collect();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let quoted: Vec<_> = row.split('`').skip(1).step_by(2).collect();
        let [file, tests @ ..] = &quoted[..] else { panic!("no test answers {row}") };
        assert!(!tests.is_empty(), "no test answers {row}");
        let source = fs::read_to_string(root().join(file)).expect("a file of tests");
        for test in tests {
            let named = format!("#[test]\nfn {test}() {{");
            assert!(source.contains(&named), "{file} has no test '{test}'");
        }
    }
}
