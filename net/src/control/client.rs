//! The side of the command.

use std::error::Error;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use exclusion::message::Fence;
use rustix::fs::{FlockOperation, flock};
use rustix::io::{FdFlags, fcntl_setfd};
use tokio::net::UnixStream;

use super::{Patience, Reply, Request};
use crate::store::control;
use crate::{Down, Status, frame};

/// Why a node does not do what a command asks.
#[derive(Debug)]
#[non_exhaustive]
pub enum ClientError {
    /// No node runs there.
    NoNode(PathBuf, io::Error),
    /// The node has gone in the middle.
    Gone(io::Error),
    /// It does not let the user in.
    Down(Down),
    /// It says why not.
    Refused(String),
    /// A file cannot be used.
    File(PathBuf, io::Error),
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoNode(path, why) => {
                write!(f, "no node runs at {} ({why}): start one with `run`", path.display())
            }
            Self::Gone(why) => write!(f, "the node has gone: {why}"),
            Self::Down(down) => write!(f, "{down}"),
            Self::Refused(why) => write!(f, "{why}"),
            Self::File(path, why) => write!(f, "{}: {why}", path.display()),
        }
    }
}

impl Error for ClientError {}

/// A connection to the node of a data directory.
#[derive(Debug)]
pub struct Client {
    stream: UnixStream,
}

/// A command is inside.
#[derive(Debug)]
pub struct Entered {
    client: Client,
    /// The number of the entry.
    pub fence: Fence,
    /// Locked, and inherited by every process that is started from here. Whoever has it is inside.
    pub file: File,
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    /// If no node runs there.
    pub async fn connect(data: &Path) -> Result<Self, ClientError> {
        let stream = UnixStream::connect(control(data)).await;
        let stream = stream.map_err(|why| ClientError::NoNode(data.to_owned(), why))?;
        Ok(Self { stream })
    }

    async fn ask(&mut self, request: &Request) -> Result<Reply, ClientError> {
        frame::write(&mut self.stream, request).await.map_err(ClientError::Gone)?;
        let reply = frame::receive(&mut self.stream).await.map_err(ClientError::Gone)?;
        match reply {
            None => Err(ClientError::Gone(io::ErrorKind::UnexpectedEof.into())),
            Some(Reply::Refused(down)) => Err(ClientError::Down(down)),
            Some(Reply::Wrong(why)) => Err(ClientError::Refused(why)),
            Some(reply) => Ok(reply),
        }
    }

    /// How is the node?
    ///
    /// # Errors
    /// If it has gone, or cannot go on.
    pub async fn status(&mut self) -> Result<Status, ClientError> {
        match self.ask(&Request::Status).await? {
            Reply::Status(status) => Ok(status),
            other => Err(unexpected(&other)),
        }
    }

    /// Takes a blank node in. See [`Node::replace`](crate::Node::replace).
    ///
    /// # Errors
    /// As there.
    pub async fn replace(&mut self, id: u32) -> Result<(), ClientError> {
        match self.ask(&Request::Replace(id)).await? {
            Reply::Replaced => Ok(()),
            other => Err(unexpected(&other)),
        }
    }

    /// Waits until this process is inside.
    ///
    /// # Errors
    /// If the node does not let it in, or has gone.
    pub async fn lock(mut self, name: &str, patience: Patience) -> Result<Entered, ClientError> {
        let place = match self.ask(&Request::Lock { name: name.to_owned(), patience }).await? {
            Reply::Place(place) => PathBuf::from(place),
            other => return Err(unexpected(&other)),
        };
        let file = take(&place).map_err(|why| ClientError::File(place, why))?;
        match self.ask(&Request::Held).await? {
            Reply::Entered(fence) => Ok(Entered { client: self, fence, file }),
            other => Err(unexpected(&other)),
        }
    }
}

/// Locks a file that children inherit.
fn take(place: &Path) -> io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(place)?;
    flock(&file, FlockOperation::NonBlockingLockShared)?;
    fcntl_setfd(&file, FdFlags::empty())?;
    Ok(file)
}

impl Entered {
    /// Leaves. Says whether something that was started inside still has the file, and so is inside.
    ///
    /// # Errors
    /// If the node has gone. Then it finds out for itself when it comes back.
    pub async fn release(self) -> Result<bool, ClientError> {
        let Self { mut client, file, .. } = self;
        drop(file);
        match client.ask(&Request::Release).await? {
            Reply::Released { lingers } => Ok(lingers),
            other => Err(unexpected(&other)),
        }
    }
}

fn unexpected(reply: &Reply) -> ClientError {
    ClientError::Refused(format!("the node answers what was not asked: {reply:?}"))
}
