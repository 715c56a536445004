import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../../database/Rows.ts"
import { briefCause } from "../../outbound/BriefCause.ts"
import { traced } from "../../runtime/Traced.ts"
import { isPublicRow } from "../../statuses/Visibility.ts"
import { RefreshClaims } from "./RefreshClaims.ts"
import { RemotePosts } from "./RemotePosts.ts"

const uriRows = rowsOf(Schema.Struct({ uri: Schema.String }))

/** Minimum time between refreshes of a remote poll, in milliseconds (limits-and-rates.md section 5). */
const pollMillisMin = 60_000
/** Maximum seconds that a reader of the poll waits for the origin; a later result is stored. */
const pollSecondsMax = 3

/** Refreshes remote polls from their origins: while they are open, and once after their end. */
export class PollRefreshes extends Context.Service<PollRefreshes, {
  /** Refreshes the poll if that is due, once at a time on all nodes. Returns true if the poll may have changed. */
  readonly refresh: (statusId: bigint) => Effect.Effect<boolean>
}>()("murmuration/services/federation/fetching/PollRefreshes") {
  static readonly layerNoDeps = Layer.effect(
    PollRefreshes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const claims = yield* RefreshClaims
      const posts = yield* RemotePosts
      const scope = yield* Effect.scope

      const asked = (statusId: bigint, uri: string) =>
        posts.refresh(uri, { asked: false }).pipe(
          Effect.match({ onFailure: () => 0, onSuccess: () => 1 }),
          Effect.flatMap((found) => claims.end("poll", statusId, found)),
          Effect.catchCause((cause) => Effect.logWarning("a poll was not fetched", briefCause(cause)))
        )

      const refresh = traced("PollRefreshes.refresh")(function*(statusId: bigint) {
        // A non-public post is visible only to its readers, and the server itself is not one of them.
        const [poll] = yield* uriRows(sql`SELECT s.uri FROM statuses s JOIN polls p ON p.status_id = s.id
          LEFT JOIN look_ups l ON l.kind = 'poll' AND l.subject_id = s.id
          WHERE s.id = ${statusId} AND NOT s.local AND s.uri IS NOT NULL AND s.deleted_at IS NULL
            AND ${isPublicRow(sql, "s")}
            AND (p.expires_at IS NULL OR l.begun_at IS NULL OR l.begun_at < p.expires_at)`).pipe(Effect.orDie)
        if (poll === undefined || !(yield* claims.begin("poll", statusId, pollMillisMin))) return false
        const fetching = yield* Effect.forkIn(asked(statusId, poll.uri), scope)
        yield* Effect.timeoutOption(Fiber.join(fetching), `${pollSecondsMax} seconds`)
        return true
      })
      return PollRefreshes.of({ refresh })
    })
  )
  static readonly layer = PollRefreshes.layerNoDeps.pipe(Layer.provide([RefreshClaims.layer, RemotePosts.layer]))
}
