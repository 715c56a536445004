import { Schema } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"

/** Shard group of media jobs, separate from accounts, so that an operator can give them dedicated machines. */
const mediaShardGroup = "media"

/** Maximum callers that wait for one job. */
export const jobMailboxMax = 64

/**
 * The job of one uploaded file; its entity id is the attachment's id as a decimal string. `Process` returns when the
 * job is done or has failed, as its row says. `Wake` says that the row waits, and may be lost.
 */
export const MediaJob = Entity.make("MediaJob", [
  Rpc.make("Process", { success: Schema.Void }),
  Rpc.make("Wake")
]).annotate(ClusterSchema.ShardGroup, () => mediaShardGroup)
