//! Who belongs to a cluster, and what it runs: the file that all nodes have in common.
//!
//! ```toml
//! algorithm = "ricart_agrawala"
//! resources = ["backup", "deploy"]
//!
//! [[member]]
//! id = 1
//! key = "6b5b1f..."             # as `exclusion-node keygen` prints it
//! address = "127.0.0.1:7101"
//! ```

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;

use exclusion::message::NodeId;
use exclusion::message::registry::{Algorithm, RegistryError, Size};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::keys::PublicKey;
use crate::strict::Digest;

/// The version of what nodes say to each other. It is in the name of the protocol.
pub const PROTOCOL_VERSION: u32 = 1;

/// How many nodes a cluster may have.
const MOST_MEMBERS: usize = 64;
/// How many resources.
const MOST_RESOURCES: usize = 1024;
/// How long the name of a resource may be.
const MOST_NAME: usize = 64;
/// How long timeouts may be, in milliseconds.
const MILLISECONDS: std::ops::RangeInclusive<u64> = 10..=10_000;

/// One node of a cluster.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// Its number, which people know it by.
    pub id: u32,
    /// The key that it proves to have.
    pub key: PublicKey,
    /// Where the others reach it.
    pub address: SocketAddr,
    /// Where it listens, if that is another address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
}

/// Who belongs to a cluster. In the order of their numbers, members are the nodes of the algorithm.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Membership(Vec<Member>);

impl Membership {
    /// These nodes.
    ///
    /// # Errors
    /// If two have the same number, key or address, or if there are fewer than two or too many.
    pub fn new(mut members: Vec<Member>) -> Result<Self, ConfigurationError> {
        members.sort_by_key(|member| member.id);
        if !(2..=MOST_MEMBERS).contains(&members.len()) {
            return Err(ConfigurationError::Members(members.len()));
        }
        let (mut keys, mut addresses) = (BTreeSet::new(), BTreeSet::new());
        let mut last = None;
        for member in &members {
            let id = member.id;
            if last.replace(id) == Some(id) {
                return Err(ConfigurationError::Twice("number", id));
            }
            if !keys.insert(member.key) {
                return Err(ConfigurationError::Twice("key", id));
            }
            if !addresses.insert(member.address) {
                return Err(ConfigurationError::Twice("address", id));
            }
        }
        Ok(Self(members))
    }

    /// All of them, by number.
    pub fn members(&self) -> &[Member] {
        &self.0
    }

    /// Which node of the algorithm the member of this number is.
    pub fn node(&self, id: u32) -> Option<NodeId> {
        let place = self.0.binary_search_by_key(&id, |member| member.id).ok()?;
        NodeId::all(self.0.len()).nth(place)
    }

    /// The member that is this node of the algorithm.
    ///
    /// # Panics
    /// If there is none.
    pub fn member(&self, node: NodeId) -> &Member {
        &self.0[node.index()]
    }
}

/// The file, as it is written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    algorithm: String,
    #[serde(default)]
    entries: Option<usize>,
    resources: Vec<String>,
    #[serde(default = "period_ms")]
    period_ms: u64,
    #[serde(default = "idle_timeout_ms")]
    idle_timeout_ms: u64,
    member: Vec<Member>,
}

fn period_ms() -> u64 {
    200
}

fn idle_timeout_ms() -> u64 {
    1000
}

/// What all nodes of a cluster have in common.
///
/// ```
/// use exclusion_net::{Configuration, SecretKey};
///
/// let keys: Vec<_> = (0..2).map(|_| SecretKey::generate().public()).collect();
/// let text = format!(r#"
///     algorithm = "ricart_agrawala"
///     resources = ["deploy"]
///     member = [
///         {{ id = 1, key = "{}", address = "127.0.0.1:7101" }},
///         {{ id = 2, key = "{}", address = "127.0.0.1:7102" }},
///     ]
/// "#, keys[0], keys[1]);
/// let configuration: Configuration = text.parse()?;
/// assert_eq!(configuration.membership.members()[1].key, keys[1]);
/// # Ok::<(), exclusion_net::ConfigurationError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Configuration {
    /// Who belongs to it.
    pub membership: Membership,
    /// Which algorithm of the registry it runs.
    pub algorithm: &'static Algorithm,
    /// How many may be inside at a time, where the algorithm lets in several.
    pub entries: Option<usize>,
    /// The names of the resources. Each has a lock of its own.
    pub resources: Vec<String>,
    /// The longest time that a message takes, for algorithms that have timers.
    pub period: Duration,
    /// After how long a silence a session is over.
    pub idle_timeout: Duration,
}

impl Configuration {
    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, or cannot be a cluster.
    pub fn read(path: &Path) -> Result<Self, ConfigurationError> {
        let text = std::fs::read_to_string(path)
            .map_err(|why| ConfigurationError::Read(format!("{}: {why}", path.display())))?;
        text.parse()
    }

    /// How large the cluster is.
    pub fn size(&self) -> Size {
        Size { nodes: self.membership.members().len(), entries: self.entries }
    }

    /// Its place among the resources.
    pub fn resource(&self, name: &str) -> Option<usize> {
        self.resources.iter().position(|it| it == name)
    }

    /// The fingerprint of all that nodes must have in common: members and their keys, algorithm,
    /// resources, period. Addresses and the idle timeout are left out: nodes may know each other
    /// under different ones.
    pub fn digest(&self) -> Digest {
        let members: Vec<_> =
            self.membership.0.iter().map(|member| (member.id, member.key.as_bytes())).collect();
        let common = (
            ("exclusion-net", PROTOCOL_VERSION),
            members,
            (self.algorithm.name, self.entries, self.period.as_millis()),
            &self.resources,
        );
        let bytes = postcard::to_stdvec(&common).expect("it is written to memory");
        Digest(Sha256::digest(bytes).into())
    }
}

impl FromStr for Configuration {
    type Err = ConfigurationError;

    fn from_str(text: &str) -> Result<Self, ConfigurationError> {
        let written: Written =
            toml::from_str(text).map_err(|why| ConfigurationError::Read(why.to_string()))?;
        let names: BTreeSet<_> = written.resources.iter().collect();
        if names.len() < written.resources.len() {
            return Err(ConfigurationError::Name("there are two of the same name".to_owned()));
        }
        if !(1..=MOST_RESOURCES).contains(&names.len()) {
            let count = names.len();
            let wrong = format!("there are {count}, and 1 to {MOST_RESOURCES} are possible");
            return Err(ConfigurationError::Name(wrong));
        }
        let fits = |name: &str| {
            let may_be = |it: u8| it.is_ascii_alphanumeric() || b"._-".contains(&it);
            (1..=MOST_NAME).contains(&name.len()) && name.bytes().all(may_be)
        };
        if let Some(name) = written.resources.iter().find(|name| !fits(name)) {
            let wrong = format!(
                "'{name}' cannot be: take 1 to {MOST_NAME} of letters, digits, '.', '_' and '-'"
            );
            return Err(ConfigurationError::Name(wrong));
        }
        for milliseconds in [written.period_ms, written.idle_timeout_ms] {
            if !MILLISECONDS.contains(&milliseconds) {
                return Err(ConfigurationError::Milliseconds(milliseconds));
            }
        }
        let configuration = Self {
            membership: Membership::new(written.member)?,
            algorithm: Algorithm::named(&written.algorithm)?,
            entries: written.entries,
            resources: written.resources,
            period: Duration::from_millis(written.period_ms),
            idle_timeout: Duration::from_millis(written.idle_timeout_ms),
        };
        configuration.algorithm.build(configuration.size(), Exists)?;
        Ok(configuration)
    }
}

/// Finds out whether there is such a cluster.
struct Exists;

impl exclusion::message::registry::Visitor for Exists {
    type Output = ();

    fn visit<P>(self, _: &'static Algorithm, _: Vec<P>) {}
}

/// What is wrong with a configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// It cannot be read.
    Read(String),
    /// So many nodes cannot be a cluster.
    Members(usize),
    /// What two members have in common, and one of the two.
    Twice(&'static str, u32),
    /// A name of a resource.
    Name(String),
    /// A time that is too long or too short.
    Milliseconds(u64),
    /// There is no such algorithm, or none for so many.
    Algorithm(RegistryError),
}

impl fmt::Display for ConfigurationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(why) => f.write_str(why.trim_end()),
            Self::Members(count) => {
                write!(f, "{count} nodes are no cluster: name 2 to {MOST_MEMBERS} members")
            }
            Self::Twice(what, id) => write!(f, "member {id} has the {what} of another one"),
            Self::Name(why) => write!(f, "resources: {why}"),
            Self::Milliseconds(told) => {
                let (least, most) = (MILLISECONDS.start(), MILLISECONDS.end());
                write!(f, "{told} milliseconds: take {least} to {most}")
            }
            Self::Algorithm(why) => write!(f, "{why}"),
        }
    }
}

impl Error for ConfigurationError {}

impl From<RegistryError> for ConfigurationError {
    fn from(why: RegistryError) -> Self {
        Self::Algorithm(why)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::keys::SecretKey;

    /// A configuration of so many nodes on loopback, and their keys.
    pub(crate) fn cluster(nodes: u16, algorithm: &str) -> (String, Vec<SecretKey>) {
        let keys: Vec<_> = (0..nodes).map(|_| SecretKey::generate()).collect();
        let mut text = format!("algorithm = \"{algorithm}\"\nresources = [\"one\", \"two\"]\n");
        for (key, place) in keys.iter().zip(1..) {
            text += &format!(
                "[[member]]\nid = {place}\nkey = \"{}\"\naddress = \"127.0.0.1:{}\"\n",
                key.public(),
                7100 + place
            );
        }
        (text, keys)
    }

    #[test]
    fn what_cannot_be_a_cluster_is_refused_with_a_reason() {
        let (text, _) = cluster(4, "ricart_agrawala");
        assert!(text.parse::<Configuration>().is_ok());
        let wrong = |from: &str, to: &str| {
            text.replacen(from, to, 1).parse::<Configuration>().unwrap_err().to_string()
        };
        assert!(wrong("ricart_agrawala", "ricart").contains("no algorithm is called 'ricart'"));
        assert!(wrong("ricart_agrawala", "maekawa_plane").contains("maekawa_plane"));
        assert!(wrong("\"two\"", "\"one\"").contains("same name"));
        assert!(wrong("\"two\"", "\"t w o\"").contains("'t w o' cannot be"));
        assert!(wrong("\"one\", \"two\"", "").contains("there are 0"));
        assert!(wrong("id = 2", "id = 1").contains("has the number of another"));
        assert!(wrong("7102", "7101").contains("has the address of another"));
        assert!(wrong("id = 2", "name = 2").contains("name"));
        assert!(wrong("algorithm", "period_ms = 0\nalgorithm").contains("take 10 to 10000"));
        assert!(wrong("key = \"", "key = \"x").contains("64 hexadecimal digits"));
        assert!(cluster(1, "lamport").0.parse::<Configuration>().is_err());
    }

    #[test]
    fn the_digest_is_of_what_nodes_must_have_in_common() {
        let (text, _) = cluster(3, "ricart_agrawala");
        let digest = |text: &str| text.parse::<Configuration>().unwrap().digest();
        let same = digest(&text);
        assert_eq!(digest(&text.replace("127.0.0.1", "10.0.0.1")), same);
        assert_eq!(digest(&format!("idle_timeout_ms = 500\n{text}")), same);
        for (from, to) in [
            ("ricart_agrawala", "lamport"),
            ("\"two\"", "\"three\""),
            ("id = 3", "id = 4"),
            ("resources", "period_ms = 300\nresources"),
        ] {
            assert_ne!(digest(&text.replace(from, to)), same, "{to}");
        }
        let (other, _) = cluster(3, "ricart_agrawala");
        assert_ne!(digest(&other), same, "other keys");
    }
}
