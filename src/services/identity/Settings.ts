import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { combined, defaultRole, givenBits } from "../staff/Permissions.ts"
import { Visibility } from "../statuses/Visibility.ts"
import { StoredField } from "./Accounts.ts"

/** Media of posts shown without a click: those not marked sensitive, all, or none. */
export const ExpandMedia = Schema.Literals(["default", "show_all", "hide_all"])

/** Settings of a user: profile source, defaults of new posts, reading preferences and role. */
const UserSettings = Schema.Struct({
  note: Schema.String,
  fields: Schema.Array(StoredField),
  hideCollections: Schema.NullOr(Schema.Boolean),
  discoverable: Schema.NullOr(Schema.Boolean),
  indexable: Schema.Boolean,
  attributionDomains: Schema.Array(Schema.String),
  /** Default visibility of new posts. */
  visibility: Visibility,
  sensitive: Schema.Boolean,
  language: Schema.NullOr(Schema.String),
  /** IANA name; null if unknown. */
  timeZone: Schema.NullOr(Schema.String),
  quotePolicy: Schema.Literals(["public", "followers", "nobody"]),
  expandMedia: ExpandMedia,
  expandSpoilers: Schema.Boolean,
  autoplayGifs: Schema.Boolean,
  /** Languages of public timelines; empty means all. */
  chosenLanguages: Schema.Array(Schema.String),
  /** True if others see the app that a post was written with. */
  showApplication: Schema.Boolean,
  /** True if search engines are asked not to index the profile. */
  noindex: Schema.Boolean,
  followRequestsCount: Schema.Int,
  roleId: Schema.BigInt,
  roleName: Schema.String,
  roleColor: Schema.String,
  roleHighlighted: Schema.Boolean,
  roleCollectionLimit: Schema.Int,
  /** Permissions of the role combined with those of the default role. */
  permissions: Schema.BigInt
})
export type UserSettings = typeof UserSettings.Type
const settingsRows = rowsOf(Schema.Struct({ ...UserSettings.fields, everybodys: Schema.BigInt }))

/** Reads settings of users. */
export class Settings extends Context.Service<Settings, {
  readonly of: (account: AccountId) => Effect.Effect<UserSettings, RecordNotFound>
}>()("murmuration/services/identity/Settings") {
  static readonly layer = Layer.effect(
    Settings,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const of = traced("Settings.of")(function*(account: AccountId) {
        const [row] = yield* settingsRows(sql`
          SELECT a.note, a.fields, a.hide_collections, a.discoverable, a.indexable, a.attribution_domains,
            coalesce(u.default_visibility, CASE WHEN a.locked THEN 'private' ELSE 'public' END) AS visibility,
            u.default_sensitive AS sensitive, u.default_language AS language, u.time_zone, u.default_quote_policy AS quote_policy,
            u.expand_media, u.expand_spoilers, u.autoplay_gifs,
            coalesce(u.chosen_languages, '{}') AS chosen_languages, u.show_application, u.noindex,
            (SELECT count(*)::int FROM follow_requests q JOIN accounts f ON f.id = q.account_id
              WHERE q.target_account_id = a.id AND f.suspended_at IS NULL) AS follow_requests_count,
            r.id AS role_id, r.name AS role_name, r.color AS role_color, r.highlighted AS role_highlighted,
            r.collection_limit AS role_collection_limit,
            ${
          sql.literal(givenBits)
        } AS permissions, coalesce((SELECT permissions FROM roles WHERE id = ${defaultRole}), 0) AS everybodys
          FROM accounts a JOIN users u ON u.account_id = a.id JOIN roles r ON r.id = u.role_id
          WHERE a.id = ${account}`).pipe(Effect.orDie)
        if (row === undefined) return yield* new RecordNotFound()
        const { everybodys, ...settings } = row
        return { ...settings, permissions: combined(row.permissions, everybodys) }
      })
      return Settings.of({ of })
    })
  )
}
