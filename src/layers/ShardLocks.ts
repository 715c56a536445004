import { Effect, Layer, Semaphore } from "effect"
import { RunnerStorage, type ShardId, ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import { SqlClient, type SqlConnection } from "effect/sql"
import { batchRequests } from "../services/database/Batches.ts"
import { HeldSessions } from "./Database.ts"
import { ShardReleases } from "./ShardReleases.ts"

/** Maximum shards that a statement releases; more than exist. */
const releasesMax = 10_000
const releaseTimeout = "2 seconds"
/** Effect 4.1's numbering of shard locks: each group starts at a multiple of this. */
const groupNumbers = 1_000_000

/**
 * Shard locks: advisory locks of one Postgres session per node. Concurrent releases share one statement. In effect 4.1
 * each release takes two statements in that session, and has to finish within two seconds. When a node joins, another
 * one releases hundreds, which could take a minute on a busy machine; their accounts would be unavailable for that
 * time. The releases would delay each other and the lease's refresh. The session would then be ended, all locks lost,
 * and the same would start again.
 */
export const layer = Layer.effect(
  RunnerStorage.RunnerStorage,
  Effect.gen(function*() {
    const groups = (yield* ShardingConfig.ShardingConfig).availableShardGroups
    // A client of its own, because `withoutTransforms` creates a new one.
    const client = (yield* HeldSessions).withoutTransforms()
    let session: SqlConnection.Connection | undefined
    const sessions = Object.assign(client, {
      reserve: Effect.tap(client.reserve, (reserved) => Effect.sync(() => session = reserved))
    })
    const storage = yield* Effect.orDie(
      Effect.provideService(SqlRunnerStorage.make({}), SqlClient.SqlClient, sessions)
    )

    /** Returns SQL that releases this session's locks of these shards, as pg_locks lists them. */
    const unlock = (shards: ReadonlyArray<ShardId.ShardId>) => {
      const numbers = shards.map(({ group, id }) => (groups.indexOf(group) + 1) * groupNumbers + id)
      return `SELECT pg_advisory_unlock(classid::int8::bit(32)::int4, objid::int8::int4) FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 2 AND pid = pg_backend_pid() AND objid IN (${numbers.join(", ")})`
    }
    const releaseTogether = batchRequests(
      { max: releasesMax },
      (shards: ReadonlyArray<ShardId.ShardId>) =>
        Effect.suspend((): Effect.Effect<unknown, unknown> =>
          session === undefined ? Effect.fail("no session") : session.executeRaw(unlock(shards), [])
        ).pipe(Effect.timeout(releaseTimeout), Effect.as(() => undefined))
    )
    const turn = Semaphore.makeUnsafe(1)
    const { refreshed } = yield* ShardReleases
    return RunnerStorage.RunnerStorage.of({
      ...storage,
      refresh: (address, shards) => {
        const all = [...shards]
        return Effect.tap(storage.refresh(address, all), refreshed(all))
      },
      // If the session is lost, effect makes another one and tracks its locks.
      release: (address, shardId) =>
        Effect.catch(releaseTogether(shardId), () => turn.withPermits(1)(storage.release(address, shardId)))
    })
  })
)
