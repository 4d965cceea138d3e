//! The side of the node.

use std::io;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tracing::{debug, error, warn};

use super::{Patience, Reply, Request};
use crate::store::{clear, try_to_clear};
use crate::{Guard, Handle, Node, frame};

/// How many commands a node serves at a time.
const MOST_COMMANDS: usize = 1024;
/// How long a command may take for its next word, where the node waits for it.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes the socket. Commands are served for as long as the future that this gives is polled.
///
/// # Errors
/// If the socket cannot be made.
pub fn serve(node: Arc<Node>) -> io::Result<impl Future<Output = ()>> {
    let path = node.store().control();
    let named = |why: io::Error| io::Error::new(why.kind(), format!("{}: {why}", path.display()));
    // Of a life that has not removed it. The directory is locked, so none of it is there.
    match std::fs::remove_file(&path) {
        Err(why) if why.kind() != io::ErrorKind::NotFound => return Err(named(why)),
        _ => {}
    }
    let listener = UnixListener::bind(&path).map_err(named)?;
    Ok(attend_all(node, listener, Remover(path)))
}

async fn attend_all(node: Arc<Node>, listener: UnixListener, _remover: Remover) {
    let places = Arc::new(Semaphore::new(MOST_COMMANDS));
    let numbers = AtomicU64::new(1);
    loop {
        let mut stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(why) => {
                warn!("cannot accept a command: {why}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Relaxed: nothing but a number that is not used twice.
        let number = numbers.fetch_add(1, Ordering::Relaxed);
        let (node, place) = (node.clone(), places.clone().try_acquire_owned());
        tokio::spawn(async move {
            let done = match place {
                Ok(_place) => attend(&node, &mut stream, number).await,
                Err(_) => {
                    let full = Reply::Wrong("the node serves too many commands".to_owned());
                    frame::write(&mut stream, &full).await
                }
            };
            if let Err(why) = done {
                debug!("a command has gone: {why}");
            }
        });
    }
}

/// Removes the socket.
struct Remover(PathBuf);

impl Drop for Remover {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

async fn next(stream: &mut UnixStream) -> io::Result<Request> {
    let received = tokio::time::timeout(PATIENCE, frame::receive(stream)).await;
    let received = received.map_err(|_| io::ErrorKind::TimedOut)??;
    received.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

async fn attend(node: &Node, stream: &mut UnixStream, number: u64) -> io::Result<()> {
    let reply = match next(stream).await? {
        Request::Status => match node.status().await {
            Ok(status) => Reply::Status(status),
            Err(down) => Reply::Refused(down),
        },
        Request::Replace(id) => match node.replace(id).await {
            Ok(()) => Reply::Replaced,
            Err(why) => Reply::Wrong(why),
        },
        Request::Lock { name, patience } => match node.handle(&name) {
            Ok(handle) => {
                let place = node.store().place_inside(node.incarnation(), number);
                let outcome = lock(&handle, patience, &place, stream).await;
                // Whatever has happened, the file is not left behind.
                if let Err(why) = clear(&place).await {
                    error!("{}: {why}", place.display());
                }
                return outcome;
            }
            Err(why) => Reply::Wrong(why.to_string()),
        },
        Request::Held | Request::Release => Reply::Wrong("there is nothing to hold".to_owned()),
    };
    frame::write(stream, &reply).await
}

async fn lock(
    handle: &Handle,
    patience: Patience,
    place: &Path,
    stream: &mut UnixStream,
) -> io::Result<()> {
    frame::write(stream, &Reply::Place(place.display().to_string())).await?;
    let held = next(stream).await? == Request::Held;
    if !held || try_to_clear(place)? {
        let wrong = format!("{} is not locked", place.display());
        return frame::write(stream, &Reply::Wrong(wrong)).await;
    }
    let asked = async {
        match patience {
            Patience::Endless => handle.lock().await,
            Patience::Within(limit) => handle.lock_within(limit).await,
            Patience::UnlessIncomplete => handle.unless_incomplete().lock().await,
            Patience::Try => handle.try_lock().await,
        }
    };
    let guard = tokio::select! {
        outcome = asked => match outcome {
            // A task that is stopped, as all are at the end of a process, lets nobody out.
            Ok(guard) => ManuallyDrop::new(guard),
            Err(down) => return frame::write(stream, &Reply::Refused(down)).await,
        },
        // It says nothing while it waits, unless it goes.
        _ = frame::receive::<Request>(stream) => return Ok(()),
    };
    let outcome = stay(&guard, place, stream).await;
    // Whoever holds the file is inside, whether it said that it leaves or not.
    match clear(place).await {
        Ok(()) => drop(ManuallyDrop::into_inner(guard)),
        Err(why) => error!("{}: {why}: it is taken to be inside for ever", place.display()),
    }
    outcome
}

/// Waits until the command says that it leaves, or is gone.
async fn stay(guard: &Guard, place: &Path, stream: &mut UnixStream) -> io::Result<()> {
    frame::write(stream, &Reply::Entered(guard.fence())).await?;
    let said = frame::receive::<Request>(stream).await?;
    if said == Some(Request::Release) {
        let lingers = !try_to_clear(place)?;
        frame::write(stream, &Reply::Released { lingers }).await?;
    }
    Ok(())
}
