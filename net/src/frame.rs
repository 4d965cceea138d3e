//! Frames: a length of four bytes, least significant first, then so many bytes.
//!
//! A peer that announces more than may be is refused before anything is kept for it.

use std::io;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// The most bytes that a frame may have, without its length.
pub(crate) const MOST_BYTES: usize = 64 * 1024;

/// Appends a frame.
///
/// # Errors
/// If it is too long.
pub(crate) fn push(buffer: &mut Vec<u8>, bytes: &[u8]) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|_| bytes.len() <= MOST_BYTES);
    let length = length.ok_or_else(|| io::Error::other("the frame is too long"))?;
    buffer.extend_from_slice(&length.to_le_bytes());
    buffer.extend_from_slice(bytes);
    Ok(())
}

/// The next frame. None at the end, if it comes between two frames.
///
/// # Errors
/// If what comes is cut off or too long.
pub(crate) async fn read(source: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    if source.read(&mut length[..1]).await? == 0 {
        return Ok(None);
    }
    source.read_exact(&mut length[1..]).await?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_BYTES {
        let what = format!("a frame of {length} bytes, where {MOST_BYTES} are allowed");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let mut bytes = vec![0; length];
    source.read_exact(&mut bytes).await?;
    Ok(Some(bytes))
}

/// Writes a value as one frame.
pub(crate) async fn write<T: Serialize>(
    sink: &mut (impl AsyncWrite + Unpin),
    value: &T,
) -> io::Result<()> {
    let mut buffer = Vec::new();
    push(&mut buffer, &encode(value)?)?;
    sink.write_all(&buffer).await?;
    sink.flush().await
}

/// Reads a value that is one frame. None at the end.
pub(crate) async fn receive<T: DeserializeOwned>(
    source: &mut (impl AsyncRead + Unpin),
) -> io::Result<Option<T>> {
    read(source).await?.map(|bytes| decode(&bytes)).transpose()
}

/// A value as bytes.
pub(crate) fn encode<T: Serialize>(value: &T) -> io::Result<Vec<u8>> {
    postcard::to_stdvec(value).map_err(io::Error::other)
}

/// A value from bytes, all of which belong to it.
///
/// # Errors
/// If they are no such value.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> io::Result<T> {
    let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(wrong("something is left over after a message".to_owned())),
        Err(why) => Err(wrong(format!("it is no message: {why}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn frames_come_out_as_they_went_in() {
        let mut buffer = Vec::new();
        push(&mut buffer, b"one").unwrap();
        push(&mut buffer, b"").unwrap();
        let mut source = &buffer[..];
        assert_eq!(read(&mut source).await.unwrap().as_deref(), Some(&b"one"[..]));
        assert_eq!(read(&mut source).await.unwrap().as_deref(), Some(&b""[..]));
        assert_eq!(read(&mut source).await.unwrap(), None);
    }

    #[tokio::test]
    async fn what_is_cut_off_or_too_long_is_refused() {
        let mut buffer = Vec::new();
        push(&mut buffer, b"one").unwrap();
        for length in 1..buffer.len() {
            assert!(read(&mut &buffer[..length]).await.is_err(), "{length}");
        }
        let huge = u32::MAX.to_le_bytes();
        assert!(read(&mut &huge[..]).await.is_err());
        assert!(push(&mut buffer, &vec![0; MOST_BYTES + 1]).is_err());
    }

    #[test]
    fn nothing_may_be_left_over() {
        let mut bytes = encode(&(7_u32, true)).unwrap();
        assert_eq!(decode::<(u32, bool)>(&bytes).unwrap(), (7, true));
        bytes.push(0);
        assert!(decode::<(u32, bool)>(&bytes).is_err());
    }
}
