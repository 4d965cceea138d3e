//! The consensus engine's way to the other nodes, over the [transport](super::transport).

use std::future::Future;
use std::io;
use std::time::Duration;

use exclusion::message::NodeId;
use openraft::error::{
    Fatal, NetworkError, RPCError, RaftError, ReplicationClosed, StreamingError, Unreachable,
};
use openraft::network::{Backoff, RPCOption, RaftNetwork, RaftNetworkFactory};
use openraft::raft::{
    AppendEntriesRequest, AppendEntriesResponse, SnapshotResponse, VoteRequest, VoteResponse,
};
use openraft::{EmptyNode, OptionalSend, Snapshot, Vote};

use super::store::Types;
use super::wire::{Call, Caller, Reply};

/// Makes ways to the other nodes.
pub(super) struct Network {
    pub(super) caller: Caller,
    /// How long to wait before a node is asked again that could not be reached.
    pub(super) pause: Duration,
}

/// The way to one other node.
pub(super) struct Way {
    caller: Caller,
    peer: NodeId,
    pause: Duration,
}

type Failed = RPCError<u64, EmptyNode, RaftError<u64>>;

impl RaftNetworkFactory<Types> for Network {
    type Network = Way;

    async fn new_client(&mut self, target: u64, _: &EmptyNode) -> Way {
        let peer = NodeId(u32::try_from(target).expect("nodes are numbered by 32 bits"));
        Way { caller: self.caller.clone(), peer, pause: self.pause }
    }
}

impl Way {
    async fn call(&self, call: Call, option: &RPCOption) -> Result<Reply, Unreachable> {
        let reply = self.caller.call(self.peer, call, option.hard_ttl()).await;
        reply.map_err(|error| Unreachable::new(&error))
    }
}

/// A peer that answers, but not what was asked.
fn otherwise(reply: &Reply) -> io::Error {
    io::Error::other(format!("it answers {reply:?}"))
}

impl RaftNetwork<Types> for Way {
    async fn append_entries(
        &mut self,
        rpc: AppendEntriesRequest<Types>,
        option: RPCOption,
    ) -> Result<AppendEntriesResponse<u64>, Failed> {
        match self.call(Call::Append(rpc), &option).await? {
            Reply::Append(response) => Ok(response),
            other => Err(NetworkError::new(&otherwise(&other)).into()),
        }
    }

    async fn vote(
        &mut self,
        rpc: VoteRequest<u64>,
        option: RPCOption,
    ) -> Result<VoteResponse<u64>, Failed> {
        match self.call(Call::Vote(rpc), &option).await? {
            Reply::Vote(response) => Ok(response),
            other => Err(NetworkError::new(&otherwise(&other)).into()),
        }
    }

    async fn full_snapshot(
        &mut self,
        vote: Vote<u64>,
        snapshot: Snapshot<Types>,
        cancel: impl Future<Output = ReplicationClosed> + OptionalSend + 'static,
        option: RPCOption,
    ) -> Result<SnapshotResponse<u64>, StreamingError<Types, Fatal<u64>>> {
        let call = Call::Snapshot { vote, meta: snapshot.meta, data: *snapshot.snapshot };
        tokio::select! {
            closed = cancel => Err(closed.into()),
            reply = self.call(call, &option) => match reply? {
                Reply::Snapshot(response) => Ok(response),
                other => Err(NetworkError::new(&otherwise(&other)).into()),
            },
        }
    }

    fn backoff(&self) -> Backoff {
        Backoff::new(std::iter::repeat(self.pause))
    }
}
