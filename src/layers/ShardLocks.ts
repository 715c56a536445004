import { Effect, Layer, Semaphore } from "effect"
import { RunnerStorage, SqlRunnerStorage } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { HeldSessions } from "./Database.ts"

/**
 * Who has which shard, as locks of one session of each node with Postgres. Shards are given up one after the other. In effect
 * 4.1 each asks for itself, in that session, and must be answered within two seconds; hundreds that are given up at once,
 * because a node came, would on a busy machine make each other late, and their node's proof that it lives with them. Then
 * the session is ended, all locks are lost, and the same begins anew.
 */
export const layer = Layer.effect(
  RunnerStorage.RunnerStorage,
  Effect.map(RunnerStorage.RunnerStorage, (storage) => {
    const turn = Semaphore.makeUnsafe(1)
    return RunnerStorage.RunnerStorage.of({
      ...storage,
      release: (address, shardId) => turn.withPermits(1)(storage.release(address, shardId))
    })
  })
).pipe(
  Layer.provide(Layer.orDie(SqlRunnerStorage.layer)),
  Layer.provide(Layer.effect(SqlClient.SqlClient, HeldSessions))
)
