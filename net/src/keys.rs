//! Keys: a node is known by the public one, and proves who it is by the secret one.

use std::fmt;
use std::io;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// By which a node is known. Written with 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

/// By which a node proves who it is. It is never shown.
#[derive(Clone)]
pub struct SecretKey([u8; 32]);

/// Why a text is no key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoKey;

impl fmt::Display for NoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is no key: it has 64 hexadecimal digits, as `keygen` prints them")
    }
}

impl std::error::Error for NoKey {}

impl PublicKey {
    /// The bytes of the key.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn from_iroh(key: &iroh::PublicKey) -> Self {
        Self(*key.as_bytes())
    }

    pub(crate) fn to_iroh(self) -> iroh::PublicKey {
        iroh::PublicKey::from_bytes(&self.0).expect("it was checked when it was read")
    }
}

impl SecretKey {
    /// A new one.
    ///
    /// ```
    /// use exclusion_net::{PublicKey, SecretKey};
    ///
    /// let key = SecretKey::generate();
    /// let public: PublicKey = key.public().to_string().parse()?;
    /// assert_eq!(public, key.public());
    /// # Ok::<(), exclusion_net::NoKey>(())
    /// ```
    pub fn generate() -> Self {
        Self(iroh::SecretKey::generate().to_bytes())
    }

    /// The public one that belongs to it.
    pub fn public(&self) -> PublicKey {
        PublicKey::from_iroh(&self.to_iroh().public())
    }

    pub(crate) fn to_iroh(&self) -> iroh::SecretKey {
        iroh::SecretKey::from_bytes(&self.0)
    }

    /// Reads it from a file.
    ///
    /// # Errors
    /// If there is none, or no key in it.
    pub fn read(path: &Path) -> io::Result<Self> {
        let said = |why: &dyn fmt::Display| format!("{}: {why}", path.display());
        let text =
            std::fs::read_to_string(path).map_err(|why| io::Error::new(why.kind(), said(&why)))?;
        let bytes = from_hexadecimal(text.trim());
        bytes.map(Self).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, said(&why)))
    }

    /// Writes it to a new file that only its owner may read.
    ///
    /// # Errors
    /// If the file is there already, or cannot be written.
    pub fn write_new(&self, path: &Path) -> io::Result<()> {
        use std::io::Write;
        use std::os::unix::fs::OpenOptionsExt;
        let said =
            |why: io::Error| io::Error::new(why.kind(), format!("{}: {why}", path.display()));
        let options = &mut std::fs::OpenOptions::new();
        let file = options.write(true).create_new(true).mode(0o600).open(path);
        let mut file = file.map_err(said)?;
        writeln!(file, "{}", hexadecimal(&self.0)).and_then(|()| file.sync_all()).map_err(said)
    }
}

fn hexadecimal(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hexadecimal(text: &str) -> Result<[u8; 32], NoKey> {
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.bytes().all(|it| it.is_ascii_hexdigit()) {
        return Err(NoKey);
    }
    for (position, byte) in bytes.iter_mut().enumerate() {
        let digits = &text[2 * position..2 * position + 2];
        *byte = u8::from_str_radix(digits, 16).map_err(|_| NoKey)?;
    }
    Ok(bytes)
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hexadecimal(&self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretKey(..)")
    }
}

impl FromStr for PublicKey {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let bytes = from_hexadecimal(text)?;
        iroh::PublicKey::from_bytes(&bytes).map_err(|_| NoKey)?;
        Ok(Self(bytes))
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A number that nobody can guess.
pub(crate) fn random() -> u64 {
    let bytes = SecretKey::generate().0;
    u64::from_le_bytes(bytes[..8].try_into().expect("eight of them"))
}

/// A byte at random.
pub(crate) fn random_byte() -> u8 {
    random().to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_key_is_refused() {
        let key = SecretKey::generate().public().to_string();
        assert_eq!(key.len(), 64);
        assert!(key.parse::<PublicKey>().is_ok());
        for wrong in ["", &key[1..], &format!("{key}0"), &"x".repeat(64), &"é".repeat(32)] {
            assert_eq!(wrong.parse::<PublicKey>(), Err(NoKey), "{wrong}");
        }
    }

    #[test]
    fn a_secret_key_is_written_once_and_read_again() {
        let folder = crate::scratch::Folder::new("keys");
        let (key, path) = (SecretKey::generate(), folder.path().join("key"));
        key.write_new(&path).unwrap();
        assert_eq!(SecretKey::read(&path).unwrap().public(), key.public());
        assert!(key.write_new(&path).is_err(), "it would be lost");
        assert!(!format!("{key:?}").contains(&hexadecimal(&key.0)));
        std::fs::write(&path, "short").unwrap();
        assert!(SecretKey::read(&path).is_err());
    }
}
