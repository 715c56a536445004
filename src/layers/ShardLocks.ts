import { Effect, Layer, Semaphore } from "effect"
import { RunnerStorage, type ShardId, ShardingConfig, SqlRunnerStorage } from "effect/cluster"
import { SqlClient, type SqlConnection } from "effect/sql"
import { gathered } from "../services/Batches.ts"
import { HeldSessions } from "./Database.ts"
import { ShardReleases } from "./ShardReleases.ts"

/** Shards that one statement gives up; more than there are. */
const releasesMax = 10_000
const releaseTimeout = "2 seconds"
/** How effect 4.1 numbers the locks of shards: a group's begin at a multiple of it. */
const groupNumbers = 1_000_000

/**
 * Who has which shard, as locks of one session of each node with Postgres. Shards that are given up at the same time go
 * in one statement. In effect 4.1 each takes two of its own in that session. Each must be answered within two seconds;
 * a node that comes has hundreds given up, which on a busy machine would take a minute. In it nobody answers for them.
 * They make each other late, and their node's proof that it lives with them. Then the session is ended, all locks are
 * lost, and the same begins anew.
 */
export const layer = Layer.effect(
  RunnerStorage.RunnerStorage,
  Effect.gen(function*() {
    const groups = (yield* ShardingConfig.ShardingConfig).availableShardGroups
    // A client of its own, for that is what this makes where names are transformed.
    const client = (yield* HeldSessions).withoutTransforms()
    let session: SqlConnection.Connection | undefined
    const sessions = Object.assign(client, {
      reserve: Effect.tap(client.reserve, (reserved) => Effect.sync(() => session = reserved))
    })
    const storage = yield* Effect.orDie(
      Effect.provideService(SqlRunnerStorage.make({}), SqlClient.SqlClient, sessions)
    )

    /** Of the session's locks, as Postgres lists them, those of the shards. */
    const unlock = (shards: ReadonlyArray<ShardId.ShardId>) => {
      const numbers = shards.map(({ group, id }) => (groups.indexOf(group) + 1) * groupNumbers + id)
      return `SELECT pg_advisory_unlock(classid::int8::bit(32)::int4, objid::int8::int4) FROM pg_locks
        WHERE locktype = 'advisory' AND objsubid = 2 AND pid = pg_backend_pid() AND objid IN (${numbers.join(", ")})`
    }
    const releaseTogether = gathered(
      { max: releasesMax },
      (shards: ReadonlyArray<ShardId.ShardId>) =>
        Effect.suspend((): Effect.Effect<unknown, unknown> =>
          session === undefined ? Effect.fail("no session") : session.executeRaw(unlock(shards), [])
        ).pipe(Effect.timeout(releaseTimeout), Effect.as(() => undefined))
    )
    const turn = Semaphore.makeUnsafe(1)
    const { kept } = yield* ShardReleases
    return RunnerStorage.RunnerStorage.of({
      ...storage,
      refresh: (address, shards) => {
        const all = [...shards]
        return Effect.tap(storage.refresh(address, all), kept(all))
      },
      // Where the session is lost, effect makes another one, and knows what that holds.
      release: (address, shardId) =>
        Effect.catch(releaseTogether(shardId), () => turn.withPermits(1)(storage.release(address, shardId)))
    })
  })
)
