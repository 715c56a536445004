import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** The setting that says since when copies of remote files are good, in milliseconds since 1970. */
export const refreshedSetting = "remote_files_refreshed"

/** Ends what copies of remote files are good for. */
export class RemoteRefreshes extends Context.Service<RemoteRefreshes, {
  /** Has every node fetch anew what it has a copy of, when it is looked at next. */
  readonly refresh: Effect.Effect<void>
}>()("murmuration/services/media/RemoteRefreshes") {
  static readonly layer = Layer.effect(
    RemoteRefreshes,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const refresh = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        yield* sql`INSERT INTO settings (name, value, updated_at)
          VALUES (${refreshedSetting}, ${String(now)}::jsonb, ${new Date(now)})
          ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`
      }).pipe(Effect.orDie, Effect.withSpan("RemoteRefreshes.refresh"))
      return RemoteRefreshes.of({ refresh })
    })
  )
}
