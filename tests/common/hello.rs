//! All that some protocols say to each other.

use exclusion::message::Message;

/// Hello.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Hello;

impl Message for Hello {
    fn kind(&self) -> &'static str {
        "HELLO"
    }
}
