//! The state of a machine in parts that people can read.
//!
//! A machine is its whole state, and every machine is [`Debug`]. So what it knows need not be told
//! a second time for those who draw it: [`facts`] takes the text of its `Debug` apart.

use std::fmt::Debug;

/// A part of a state: its name, and its value as people read it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Fact {
    /// The name of the field: `held back`.
    pub name: String,
    /// What it holds: `n1, n2`; `none` if it holds nothing.
    pub value: String,
}

/// The state of a machine, part by part, in the order of its fields.
///
/// Fields of a struct within the struct stand beside the others, if the field is called like its
/// type, or `inner`. A wrapper of one value is that value. Values are written without the names
/// `Some` and `None`.
///
/// ```
/// use exclusion::message::{Input, NodeId, Outbox, RicartAgrawala, facts, step};
///
/// let mut node = RicartAgrawala::node(NodeId(0), 3)?;
/// step(&mut node, Input::Request, &mut Outbox::new())?;
/// let fact = |name| facts(&node).into_iter().find(|it| it.name == name).unwrap().value;
/// assert_eq!(fact("phase"), "Waiting");
/// assert_eq!(fact("clock"), "1");
/// assert_eq!(fact("missing"), "n1, n2");
/// assert_eq!(fact("held back"), "none");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn facts(state: &impl Debug) -> Vec<Fact> {
    let text = format!("{state:?}");
    let mut found: Vec<(Vec<String>, String)> = Vec::new();
    let mut reader = Reader { rest: &text };
    flatten(&reader.value(), &mut Vec::new(), &mut found);
    let last = |path: &[String]| path.last().cloned().unwrap_or_default();
    let fact = |(path, value): &(Vec<String>, String)| {
        let alike = found.iter().filter(|(other, _)| other.last() == path.last()).count();
        // Two fields of the same name are told apart by what they are in.
        let name = if alike > 1 { path.join(" ") } else { last(path) };
        Fact { name: name.replace('_', " "), value: value.clone() }
    };
    found.iter().map(fact).collect()
}

/// What a `Debug` text is made of.
#[derive(Debug)]
enum Value<'a> {
    /// A word or number, or whatever else has no parts.
    Word(&'a str),
    /// `Name { field: value }`.
    Fields(&'a str, Vec<(&'a str, Value<'a>)>),
    /// `Name(value, value)`; the name is empty for a tuple.
    Tuple(&'a str, Vec<Value<'a>>),
    /// `[value, value]`, `{value, value}`.
    List(Vec<Value<'a>>),
    /// `{key: value}`.
    Map(Vec<(Value<'a>, Value<'a>)>),
}

/// Puts the fields of a state, and those of the structs within it, side by side.
fn flatten(value: &Value<'_>, path: &mut Vec<String>, found: &mut Vec<(Vec<String>, String)>) {
    match value {
        Value::Tuple(_, parts) if path.is_empty() && parts.len() == 1 => {
            flatten(&parts[0], path, found);
        }
        Value::Fields(name, fields) if path.last().is_none_or(|field| is_like(field, name)) => {
            for (field, value) in fields {
                path.push((*field).to_owned());
                flatten(value, path, found);
                path.pop();
            }
        }
        _ => {
            let path = if path.is_empty() { vec!["state".to_owned()] } else { path.clone() };
            let text = written(value, path.last().expect("it has a name"));
            found.push((path, text));
        }
    }
}

/// Whether a field holds a struct for which it is named: a variant of an enum has another name.
fn is_like(field: &str, name: &str) -> bool {
    let bare = |text: &str| text.replace('_', "").to_lowercase();
    field == "inner" || bare(name).starts_with(&bare(field))
}

/// A value as people read it. The name of its type is left out, if its field is called so.
fn written(value: &Value<'_>, field: &str) -> String {
    let list = |parts: Vec<String>| match parts.is_empty() {
        true => "none".to_owned(),
        false => parts.join(", "),
    };
    let named = |name: &str, text: String| match name {
        "" | "Some" => text,
        name if is_like(field, name) => text,
        name => format!("{name} {text}").trim_end().to_owned(),
    };
    match value {
        Value::Word("None" | "") => "none".to_owned(),
        Value::Word("true") => "yes".to_owned(),
        Value::Word("false") => "no".to_owned(),
        Value::Word(word) => (*word).to_owned(),
        Value::List(parts) => list(parts.iter().map(within).collect()),
        Value::Map(parts) => {
            list(parts.iter().map(|(key, it)| format!("{} {}", within(key), within(it))).collect())
        }
        Value::Tuple(name, parts) if parts.len() == 1 => named(name, written(&parts[0], field)),
        Value::Tuple(name, parts) => {
            named(name, parts.iter().map(within).collect::<Vec<_>>().join(" "))
        }
        Value::Fields(name, fields) => {
            let parts = fields.iter().map(|(field, value)| {
                let text = within_field(value, field);
                format!("{} {text}", field.replace('_', " "))
            });
            named(name, parts.collect::<Vec<_>>().join("; "))
        }
    }
}

/// A value that stands within another one: with brackets, if it has several parts.
fn within(value: &Value<'_>) -> String {
    within_field(value, " ")
}

fn within_field(value: &Value<'_>, field: &str) -> String {
    let text = written(value, field);
    match value {
        Value::List(parts) if parts.is_empty() => "[]".to_owned(),
        Value::List(_) | Value::Map(_) => format!("[{text}]"),
        Value::Fields(_, fields) if fields.len() > 1 => format!("({text})"),
        Value::Tuple(name, parts) if parts.len() > 1 && name.is_empty() => format!("({text})"),
        Value::Word("None") => "-".to_owned(),
        _ => text,
    }
}

/// Takes a `Debug` text apart, from its beginning.
struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Value<'a> {
        let word = self.word();
        if self.skips(" {") {
            return Value::Fields(word, self.fields());
        }
        if self.skips("(") {
            return Value::Tuple(word, self.parts(")"));
        }
        if word.is_empty() && self.skips("[") {
            return Value::List(self.parts("]"));
        }
        if word.is_empty() && self.skips("{") {
            return self.braces();
        }
        Value::Word(word)
    }

    /// What stands before the next sign that divides values.
    fn word(&mut self) -> &'a str {
        let mut quoted = false;
        let mut escaped = false;
        let rest = self.rest;
        let mut ends = |(at, letter): (usize, char)| {
            let ends = match letter {
                '"' if !escaped => {
                    quoted = !quoted;
                    false
                }
                _ if quoted => false,
                ',' | '(' | ')' | '[' | ']' | '{' | '}' | ':' => true,
                ' ' => rest[at..].starts_with(" {") || rest[at..].starts_with(" }"),
                _ => false,
            };
            escaped = letter == '\\' && !escaped;
            ends
        };
        let end = rest.char_indices().find(|&it| ends(it)).map(|(at, _)| at);
        self.take(end.unwrap_or(rest.len()))
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn skips(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// The fields up to the closing brace.
    fn fields(&mut self) -> Vec<(&'a str, Value<'a>)> {
        let mut fields = Vec::new();
        loop {
            self.skips(" ");
            if self.rest.is_empty() || self.skips("}") {
                return fields;
            }
            let name = self.word();
            self.skips(": ");
            let before = self.rest.len();
            fields.push((name, self.value()));
            self.skips(",");
            if self.rest.len() == before {
                // Not as `Debug` is written: what is left is no field.
                return fields;
            }
        }
    }

    /// The values up to the closing sign.
    fn parts(&mut self, end: &str) -> Vec<Value<'a>> {
        let mut parts = Vec::new();
        loop {
            self.skips(" ");
            if self.rest.is_empty() || self.skips(end) {
                return parts;
            }
            let before = self.rest.len();
            parts.push(self.value());
            self.skips(",");
            if self.rest.len() == before {
                return parts;
            }
        }
    }

    /// A set or a map, up to its closing brace.
    fn braces(&mut self) -> Value<'a> {
        let mut parts = Vec::new();
        let mut pairs = Vec::new();
        loop {
            self.skips(" ");
            if self.rest.is_empty() || self.skips("}") {
                break;
            }
            let before = self.rest.len();
            let value = self.value();
            if self.skips(": ") {
                pairs.push((value, self.value()));
            } else {
                parts.push(value);
            }
            self.skips(",");
            if self.rest.len() == before {
                break;
            }
        }
        if pairs.is_empty() { Value::List(parts) } else { Value::Map(pairs) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::message::NodeId;

    #[derive(Debug)]
    #[expect(dead_code, reason = "what is read is their Debug")]
    struct Outer {
        me: NodeId,
        candidate: Candidate,
        queue: Vec<NodeId>,
        heard: Vec<Option<u64>>,
        token: Option<Token>,
        stage: Stage,
        has_token: bool,
        pairs: Vec<(NodeId, u64)>,
        of: BTreeMap<NodeId, u64>,
        text: &'static str,
    }

    #[derive(Debug)]
    #[expect(dead_code, reason = "what is read is their Debug")]
    struct Candidate {
        me: NodeId,
        clock: Clock,
    }

    #[derive(Debug)]
    #[expect(dead_code, reason = "what is read is their Debug")]
    struct Clock(u64);

    #[derive(Debug)]
    #[expect(dead_code, reason = "what is read is their Debug")]
    struct Token {
        served: Vec<u64>,
        queue: Vec<NodeId>,
    }

    #[derive(Debug)]
    #[expect(dead_code, reason = "what is read is their Debug")]
    enum Stage {
        Asking { left: BTreeSet<NodeId> },
    }

    #[test]
    fn every_field_is_a_fact() {
        let n = NodeId;
        let outer = Outer {
            me: n(0),
            candidate: Candidate { me: n(0), clock: Clock(7) },
            queue: vec![],
            heard: vec![Some(3), None],
            token: Some(Token { served: vec![1, 2], queue: vec![n(2)] }),
            stage: Stage::Asking { left: BTreeSet::from([n(1), n(2)]) },
            has_token: true,
            pairs: vec![(n(1), 4)],
            of: BTreeMap::from([(n(1), 5)]),
            text: "a, (b) {c: \"",
        };
        let told: Vec<_> = facts(&outer)
            .into_iter()
            .map(|fact| format!("{}: {}", fact.name, fact.value))
            .collect();
        assert_eq!(
            told,
            [
                "me: n0",
                "candidate me: n0",
                "clock: 7",
                "queue: none",
                "heard: 3, -",
                "token: served [1, 2]; queue [n2]",
                "stage: Asking left [n1, n2]",
                "has token: yes",
                "pairs: (n1 4)",
                "of: n1 5",
                r#"text: "a, (b) {c: \"""#,
            ]
        );
    }

    #[test]
    fn a_wrapper_is_what_it_wraps_and_any_text_is_read() {
        assert_eq!(facts(&Some(Clock(3)))[0].value, "3");
        assert_eq!(facts(&5)[0], Fact { name: "state".to_owned(), value: "5".to_owned() });
        struct Odd(&'static str);
        impl Debug for Odd {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.0)
            }
        }
        for odd in ["", "{", "}", "(", "A {", "A { b", "A { b: ", "A { b: c", "[1,", "{a: ", "a: b"]
        {
            let _whatever = facts(&Odd(odd));
        }
    }
}
