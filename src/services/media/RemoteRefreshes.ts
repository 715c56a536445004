import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Setting with the time before which copies of remote files are stale, in milliseconds since 1970. */
export const refreshedSetting = "remote_files_refreshed"

/** Invalidates the copies of remote files. */
export class RemoteRefreshes extends Context.Service<RemoteRefreshes, {
  /** Makes every node fetch its copies again when they are next viewed. */
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
