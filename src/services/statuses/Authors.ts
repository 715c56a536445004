import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../database/Rows.ts"
import { NotAllowed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { StoredDefaults } from "./DefaultPolicies.ts"
import { type DraftNames, NamedAccount, namedQuery } from "./Drafts.ts"
import { QuotePolicy } from "./InteractionPolicy.ts"
import * as Tagging from "./Tagging.ts"
import { Visibility } from "./Visibility.ts"

/** Author's settings, the defaults of new statuses. */
const AuthorSettings = Schema.Struct({
  visibility: Visibility,
  sensitive: Schema.Boolean,
  language: Schema.NullOr(Schema.String),
  silenced: Schema.Boolean,
  quotePolicy: QuotePolicy,
  defaultPolicies: StoredDefaults,
  /** True if people may subscribe to public posts by e-mail, where that is allowed. */
  emailSubscriptions: Schema.Boolean
})
type AuthorSettings = typeof AuthorSettings.Type
const authorRows = rowsOf(AuthorSettings)
/** Settings of the author with one of the accounts that a text names; nulls if it names none. */
const writingRows = rowsOf(
  Schema.Struct({
    ...AuthorSettings.fields,
    ...NamedAccount.mapFields(Struct.map(Schema.NullOr)).fields,
    disallowed: Schema.Array(Schema.String)
  })
)

export class Authors extends Context.Service<Authors, {
  /** Returns the settings of an account; fails with `NotAllowed` if it may not post. */
  readonly settings: (accountId: bigint) => Effect.Effect<AuthorSettings, NotAllowed | SqlError>
  /** Like `settings`, and in the same statement the accounts of a text's handles, and its disallowed hashtags. */
  readonly writing: (
    accountId: bigint,
    names: DraftNames
  ) => Effect.Effect<
    {
      readonly author: AuthorSettings
      readonly named: ReadonlyArray<NamedAccount>
      readonly disallowed: ReadonlyArray<string>
    },
    NotAllowed | SqlError
  >
}>()("murmuration/services/statuses/Authors") {
  static readonly layer = Layer.effect(
    Authors,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const authorQuery = (accountId: bigint) =>
        sql`
          SELECT coalesce(u.default_visibility, CASE WHEN a.locked THEN 'private' ELSE 'public' END) AS visibility,
            u.default_sensitive AS sensitive, coalesce(u.default_language, u.locale, 'en') AS language,
            a.silenced_at IS NOT NULL AS silenced, u.default_quote_policy AS quote_policy,
            u.default_policies,
            u.email_subscriptions
          FROM accounts a JOIN users u ON u.account_id = a.id
          WHERE a.id = ${accountId} AND a.suspended_at IS NULL AND NOT u.disabled`

      const settings = traced("Authors.settings")(function*(accountId: bigint) {
        const [author] = yield* authorRows(authorQuery(accountId))
        return author ?? (yield* new NotAllowed())
      })
      const writing = traced("Authors.writing")(function*(accountId: bigint, { handles, tags }: DraftNames) {
        if (handles.size === 0 && tags.length === 0) {
          return { author: yield* settings(accountId), named: [], disallowed: [] }
        }
        const rows = yield* writingRows(sql`
          SELECT author.*, named.*, ARRAY(${Tagging.disallowed(sql, tags)}) AS disallowed
          FROM (${authorQuery(accountId)}) author LEFT JOIN (${namedQuery(sql, handles)}) named ON true`)
        const [author] = rows
        return author === undefined
          ? yield* new NotAllowed()
          : {
            author,
            named: rows.flatMap(({ domain, id, url, username }) =>
              id === null || username === null ? [] : [{ id, username, domain, url }]
            ),
            disallowed: author.disallowed
          }
      })
      return Authors.of({ settings, writing })
    })
  )
}
