//! Frames: bytes with a length and checksums, of which a torn end can be told from damage.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length of the contents, little-endian |
//! | 4 | checksum (CRC-32) of the contents |
//! | 4 | checksum of the eight bytes before |
//! | length | contents |
//!
//! A frame is appended only after the one before it is durable. So if a frame is bad and a good one
//! lies behind it, the bad one was whole once: the disk has lost what was acknowledged, and nobody
//! may go on as if nothing had happened. If no good one lies behind it, it is the torn end of the
//! last append, which nobody has relied on.

use std::fmt;

const HEADER: usize = 12;

/// The most that a frame can contain.
pub const MOST: usize = 1 << 26;

/// What was acknowledged is not there any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Damaged {
    /// Where the bad frame begins.
    pub at: usize,
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        write!(f, "the log is damaged at byte {at}, before its end: replace this node")
    }
}

impl std::error::Error for Damaged {}

/// Writes the contents as a frame.
///
/// # Panics
/// If they are larger than [`MOST`].
pub fn write(contents: &[u8]) -> Vec<u8> {
    assert!(contents.len() <= MOST, "a frame is smaller than 64 MiB");
    let length = u32::try_from(contents.len()).expect("it is smaller than 4 GiB");
    let mut frame = Vec::with_capacity(HEADER + contents.len());
    frame.extend(length.to_le_bytes());
    frame.extend(crc32fast::hash(contents).to_le_bytes());
    frame.extend(crc32fast::hash(&frame).to_le_bytes());
    frame.extend(contents);
    frame
}

/// The contents of the frame at the beginning of these bytes, if it is whole.
fn first(bytes: &[u8]) -> Option<&[u8]> {
    let (header, rest) = bytes.split_at_checked(HEADER)?;
    let number = |at: usize| {
        let word = header[at..at + 4].try_into().expect("it has four bytes");
        u32::from_le_bytes(word)
    };
    if number(8) != crc32fast::hash(&header[..8]) {
        return None;
    }
    let contents = rest.get(..number(0) as usize)?;
    (number(4) == crc32fast::hash(contents)).then_some(contents)
}

/// The contents of all frames, and how many bytes they take. What is behind them is torn.
///
/// # Errors
/// If a frame is bad that was whole once.
pub fn read(bytes: &[u8]) -> Result<(Vec<&[u8]>, usize), Damaged> {
    let (mut frames, mut at) = (Vec::new(), 0);
    while let Some(contents) = first(&bytes[at..]) {
        frames.push(contents);
        at += HEADER + contents.len();
    }
    // A header of zeros is none: its checksum would have to be that of eight zeros.
    if (at + 1..bytes.len()).any(|behind| first(&bytes[behind..]).is_some()) {
        return Err(Damaged { at });
    }
    Ok((frames, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_torn_at_any_byte_is_left_out_and_those_before_it_stay() {
        let (one, two) = (write(b"one"), write(b"two and more"));
        for torn in 0..two.len() {
            let bytes = [&one[..], &two[..torn]].concat();
            assert_eq!(read(&bytes), Ok((vec![&b"one"[..]], one.len())), "torn at {torn}");
        }
        let bytes = [one, two].concat();
        assert_eq!(read(&bytes), Ok((vec![&b"one"[..], b"two and more"], bytes.len())));
    }

    #[test]
    fn a_byte_that_is_wrong_before_the_end_is_damage_and_in_the_last_frame_it_is_a_torn_end() {
        let (one, two) = (write(b"one"), write(b"two"));
        for at in 0..one.len() + two.len() {
            let mut bytes = [&one[..], &two[..]].concat();
            bytes[at] ^= 0x40;
            if at < one.len() {
                assert_eq!(read(&bytes), Err(Damaged { at: 0 }), "byte {at}");
            } else {
                assert_eq!(read(&bytes), Ok((vec![&b"one"[..]], one.len())), "byte {at}");
            }
        }
    }

    #[test]
    fn zeros_and_nothing_are_a_torn_end() {
        assert_eq!(read(&[]), Ok((vec![], 0)));
        assert_eq!(read(&[0; 100]), Ok((vec![], 0)));
    }
}
