import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { NotAllowed } from "../Errors.ts"
import { traced } from "../Traced.ts"
import { type Named, namedBy } from "./Drafts.ts"
import type { Visibility } from "./StatusWriter.ts"

/** What an author's new statuses take over where a client says nothing. */
interface AuthorSettings {
  readonly visibility: Visibility
  readonly sensitive: boolean
  readonly language: string | null
  readonly silenced: boolean
}

export class Authors extends Context.Service<Authors, {
  /** Fails with `NotAllowed` for an account that may not write. */
  readonly settings: (accountId: bigint) => Effect.Effect<AuthorSettings, NotAllowed | SqlError>
  /** The same, and in the same statement what `Drafts` asks for: who is meant by the handles of a text. */
  readonly writing: (
    accountId: bigint,
    handles: ReadonlySet<string>
  ) => Effect.Effect<{ readonly author: AuthorSettings; readonly named: ReadonlyArray<Named> }, NotAllowed | SqlError>
}>()("murmuration/services/statuses/Authors") {
  static readonly layer = Layer.effect(
    Authors,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const ofAuthor = (accountId: bigint) =>
        sql<AuthorSettings>`
          SELECT coalesce(u.default_visibility, CASE WHEN a.locked THEN 'private' ELSE 'public' END) AS visibility,
            u.default_sensitive AS sensitive, coalesce(u.default_language, u.locale, 'en') AS language,
            a.silenced_at IS NOT NULL AS silenced
          FROM accounts a JOIN users u ON u.account_id = a.id
          WHERE a.id = ${accountId} AND a.suspended_at IS NULL AND NOT u.disabled`

      const settings = traced("Authors.settings")(function*(accountId: bigint) {
        const [author] = yield* ofAuthor(accountId)
        return author ?? (yield* new NotAllowed())
      })
      const writing = traced("Authors.writing")(function*(accountId: bigint, handles: ReadonlySet<string>) {
        if (handles.size === 0) return { author: yield* settings(accountId), named: [] }
        const rows = yield* sql<AuthorSettings & (Named | { readonly id: null })>`
          SELECT author.*, named.* FROM (${ofAuthor(accountId)}) author LEFT JOIN (${
          namedBy(sql, handles)
        }) named ON true`
        const [author] = rows
        return author === undefined
          ? yield* new NotAllowed()
          : { author, named: rows.filter((row) => row.id !== null) }
      })
      return Authors.of({ settings, writing })
    })
  )
}
