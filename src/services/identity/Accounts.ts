import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { AccountId } from "../database/Ids.ts"
import { idRows, rowsOf, Timestamptz } from "../database/Rows.ts"
import { makeByteLimit } from "../html/ByteLimit.ts"
import { exceedsJsonBytes } from "../html/Text.ts"
import { accountBytesMax } from "../instance/ContentLimits.ts"
import type { LocalName } from "../instance/LocalNames.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { ActorPath } from "../instance/Urls.ts"
import { Gone, RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { presentAccount } from "../visibility/PresentAccounts.ts"
import { mayOfferEmails } from "./EmailOffers.ts"

/** Stored profile field: `value` as written, `html` as shown, `verifiedAt` in RFC 3339. */
export const StoredField = Schema.Struct({
  name: Schema.String,
  value: Schema.String,
  html: Schema.String,
  verifiedAt: Schema.NullOr(Schema.String)
})
export type StoredField = typeof StoredField.Type

/** Fields of an account that do not depend on the viewer. `domain`, `uri` and `url` are null for local accounts. */
const AccountRecord = Schema.Struct({
  id: Schema.BigInt,
  username: Schema.String,
  actorPath: ActorPath,
  domain: Schema.NullOr(Schema.String),
  uri: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String),
  displayName: Schema.String,
  noteHtml: Schema.String,
  fields: Schema.Array(StoredField),
  locked: Schema.Boolean,
  bot: Schema.Boolean,
  /** True for actors of type Group, which only other servers have. */
  isGroup: Schema.Boolean,
  discoverable: Schema.NullOr(Schema.Boolean),
  indexable: Schema.Boolean,
  hideCollections: Schema.NullOr(Schema.Boolean),
  showMedia: Schema.Boolean,
  showMediaReplies: Schema.Boolean,
  showFeatured: Schema.Boolean,
  avatarDescription: Schema.String,
  headerDescription: Schema.String,
  /** Names of stored files; null for a missing picture, and for the static version of a still one. */
  avatarName: Schema.NullOr(Schema.String),
  avatarStaticName: Schema.NullOr(Schema.String),
  headerName: Schema.NullOr(Schema.String),
  headerStaticName: Schema.NullOr(Schema.String),
  /** URLs of a remote account's pictures, and the keys under which this server shows them. */
  avatarRemoteUrl: Schema.NullOr(Schema.String),
  avatarRemoteKey: Schema.NullOr(Schema.String),
  headerRemoteUrl: Schema.NullOr(Schema.String),
  headerRemoteKey: Schema.NullOr(Schema.String),
  memorial: Schema.Boolean,
  noindex: Schema.Boolean,
  silenced: Schema.Boolean,
  suspended: Schema.Boolean,
  movedToId: Schema.NullOr(Schema.BigInt),
  createdAt: Timestamptz,
  followersCount: Schema.Int,
  followingCount: Schema.Int,
  statusesCount: Schema.Int,
  lastStatusAt: Schema.NullOr(Timestamptz),
  /** Role, only if it is highlighted. */
  roleId: Schema.NullOr(Schema.BigInt),
  roleName: Schema.NullOr(Schema.String),
  roleColor: Schema.NullOr(Schema.String),
  /** True if anyone may subscribe to the account's public posts by e-mail. */
  emailSubscriptions: Schema.Boolean,
  /** Audiences that may put a remote account into a collection; null if its server does not say. */
  featureAutomatic: Schema.NullOr(Schema.Array(Schema.String)),
  featureManual: Schema.NullOr(Schema.Array(Schema.String))
})
export type AccountRecord = typeof AccountRecord.Type
const accountRows = rowsOf(AccountRecord)

/** Cuts the texts of a record to `accountBytesMax` in total. Longer ones were stored before texts were limited. */
const bounded = (record: AccountRecord): AccountRecord => {
  const { avatarDescription, displayName, fields, headerDescription, noteHtml } = record
  const shown = fields.flatMap(({ html, name }) => [name, html])
  const texts = [displayName, noteHtml, avatarDescription, headerDescription, ...shown]
  if (!exceedsJsonBytes(texts, accountBytesMax)) return record
  const room = makeByteLimit(accountBytesMax)
  return {
    ...record,
    displayName: room.text(displayName),
    noteHtml: room.html(noteHtml),
    fields: room.members(fields, ({ html, name }) => [name, html]),
    avatarDescription: room.text(avatarDescription),
    headerDescription: room.text(headerDescription)
  }
}

/** An account visible to others, with the fields needed to read its lists. */
export interface FoundAccount {
  readonly id: AccountId
  readonly suspended: boolean
  readonly hideCollections: boolean
}

const foundRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, suspended: Schema.Boolean, hideCollections: Schema.Boolean })
)
const namedRows = rowsOf(Schema.Struct({ id: Schema.BigInt, suspended: Schema.Boolean }))

/** Reads accounts. Users with an unconfirmed address or a pending approval are hidden from others. */
export class Accounts extends Context.Service<Accounts, {
  /** Loads existing accounts and the accounts that they moved to, in one query. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<AccountRecord>>
  readonly find: (id: bigint) => Effect.Effect<FoundAccount, RecordNotFound>
  /** Finds an account to be shown on its own; fails with `Gone` if it is suspended (S-045). */
  readonly show: (id: bigint) => Effect.Effect<AccountId, RecordNotFound | Gone>
  /**
   * Finds an account by `name`, `name@our.domain` or `name@other.domain`, with or without a leading @, or a local one
   * by its id. Never asks another server.
   */
  readonly lookup: (acct: LocalName) => Effect.Effect<AccountId, RecordNotFound | Gone>
  /** Returns those of `ids` that others may see and that are not suspended, in the order of `ids`. */
  readonly known: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<AccountId>>
}>()("murmuration/services/identity/Accounts") {
  static readonly layer = Layer.effect(
    Accounts,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain } = yield* ServerConfig
      const present = sql.literal(presentAccount("a"))

      const load = traced("Accounts.load")(function*(ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const unique = [...new Set(ids)]
        const records = yield* accountRows(sql`
          SELECT a.id, a.username, a.actor_path, a.domain, a.uri, a.url, a.display_name, a.note_html, a.fields, a.locked, a.bot,
            a.discoverable, a.indexable, a.hide_collections, a.show_media, a.show_media_replies, a.show_featured,
            a.avatar_description, a.header_description, a.avatar_name, a.avatar_static_name,
            a.header_name, a.header_static_name, CASE WHEN NOT a.media_rejected THEN a.avatar_remote_url END AS avatar_remote_url,
            remote_key(CASE WHEN NOT a.media_rejected THEN a.avatar_remote_url END) AS avatar_remote_key,
            CASE WHEN NOT a.media_rejected THEN a.header_remote_url END AS header_remote_url,
            remote_key(CASE WHEN NOT a.media_rejected THEN a.header_remote_url END) AS header_remote_key, a.memorial, coalesce(u.noindex, false) AS noindex, a.silenced_at IS NOT NULL AS silenced,
            a.suspended_at IS NOT NULL AS suspended, a.moved_to_id, a.created_at,
            greatest(c.followers_count, c.stated_followers, 0) AS followers_count,
            greatest(c.following_count, c.stated_following, 0) AS following_count,
            greatest(c.statuses_count, c.stated_statuses, 0) AS statuses_count, c.last_status_at,
            r.id AS role_id, r.name AS role_name, r.color AS role_color,
            CASE WHEN u.email_subscriptions THEN ${mayOfferEmails(sql, "u")} ELSE false END AS email_subscriptions,
            o.feature_automatic, o.feature_manual, coalesce(o.type = 'Group', false) AS is_group
          FROM accounts a LEFT JOIN account_stats c ON c.account_id = a.id
          LEFT JOIN users u ON u.account_id = a.id LEFT JOIN roles r ON r.id = u.role_id AND r.highlighted
          LEFT JOIN remote_actors o ON o.account_id = a.id
          WHERE a.id IN (SELECT unnest(${unique}::bigint[])
            UNION SELECT m.moved_to_id FROM accounts m WHERE m.id = ANY (${unique}::bigint[]) AND m.moved_to_id IS NOT NULL)`)
        return records.map(bounded)
      }, Effect.orDie)

      const find = traced("Accounts.find")(function*(id: bigint) {
        const [row] = yield* foundRows(sql`
          SELECT a.id, a.suspended_at IS NOT NULL AS suspended, coalesce(a.hide_collections, false) AS hide_collections
          FROM accounts a WHERE a.id = ${id} AND ${present}`).pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : { ...row, id: AccountId.make(row.id) }
      })

      const show = traced("Accounts.show")(function*(id: bigint) {
        const found = yield* find(id)
        return found.suspended ? yield* new Gone() : found.id
      })

      const shown = Effect.fnUntraced(function*(which: Fragment) {
        const [row] = yield* namedRows(sql`
          SELECT a.id, a.suspended_at IS NOT NULL AS suspended FROM accounts a
          WHERE ${which} AND ${present}`).pipe(Effect.orDie)
        if (row === undefined) return yield* new RecordNotFound()
        return row.suspended ? yield* new Gone() : AccountId.make(row.id)
      })

      const lookup = traced("Accounts.lookup")(function*(acct: LocalName) {
        if (typeof acct === "bigint") return yield* shown(sql`a.id = ${acct} AND a.domain IS NULL`)
        const [username = "", domain = "", ...rest] = acct.trim().replace(/^@/, "").toLowerCase().split("@")
        if (username === "" || rest.length > 0) return yield* new RecordNotFound()
        return yield* shown(
          sql`lower(a.username) = ${username} AND lower(coalesce(a.domain, '')) = ${
            domain === localDomain ? "" : domain
          }`
        )
      })

      const known = traced("Accounts.known")(function*(ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const rows = yield* idRows(sql`
          SELECT a.id FROM accounts a JOIN unnest(${ids}::bigint[]) WITH ORDINALITY asked (id, place) ON asked.id = a.id
          WHERE a.suspended_at IS NULL AND ${present} ORDER BY asked.place`)
        return rows.map(({ id }) => AccountId.make(id))
      }, Effect.orDie)

      return Accounts.of({ load, find, show, lookup, known })
    })
  )
}
