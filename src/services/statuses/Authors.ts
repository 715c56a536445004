import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { NotAllowed } from "../Errors.ts"
import { traced } from "../Traced.ts"
import type { Visibility } from "./Publications.ts"

/** What an author's new statuses take over where a client says nothing. */
export interface AuthorSettings {
  readonly visibility: Visibility
  readonly sensitive: boolean
  readonly language: string | null
  readonly silenced: boolean
}

export class Authors extends Context.Service<Authors, {
  /** Fails with `NotAllowed` for an account that may not write. */
  readonly settings: (accountId: bigint) => Effect.Effect<AuthorSettings, NotAllowed | SqlError>
}>()("murmuration/services/statuses/Authors") {
  static readonly layer = Layer.effect(
    Authors,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return Authors.of({
        settings: traced("Authors.settings")(function*(accountId) {
          const [row] = yield* sql<AuthorSettings>`
            SELECT coalesce(u.default_visibility, CASE WHEN a.locked THEN 'private' ELSE 'public' END) AS visibility,
              u.default_sensitive AS sensitive, coalesce(u.default_language, u.locale, 'en') AS language,
              a.silenced_at IS NOT NULL AS silenced
            FROM accounts a JOIN users u ON u.account_id = a.id
            WHERE a.id = ${accountId} AND a.suspended_at IS NULL AND NOT u.disabled`
          return row ?? (yield* new NotAllowed())
        })
      })
    })
  )
}
