import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { cardCreator, CardRecord, cardRecord } from "../cards/Card.ts"
import { columnsOf } from "../database/Columns.ts"
import { rowsOf } from "../database/Rows.ts"
import { ActorPath } from "../instance/Urls.ts"
import { MediaRecord, recordsOf } from "../media/MediaRecord.ts"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { shortened } from "./ShortenedTexts.ts"
import { StoredStatus } from "./StoredStatus.ts"
import { Visibility, visibleTo } from "./Visibility.ts"
import { textFields } from "./Written.ts"

/** An account that a status mentions. `url` is null for local ones. */
export const MentionRecord = Schema.Struct({
  /** Id of the account, as a decimal string. */
  id: Schema.String,
  username: Schema.String,
  domain: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String)
})
export type MentionRecord = typeof MentionRecord.Type

/** A poll as stored. `expiresAt` is a date in ISO 8601; `voters` is null if unknown. */
export const PollRecord = Schema.Struct({
  options: Schema.Array(Schema.String),
  counts: Schema.Array(Schema.Int),
  voters: Schema.NullOr(Schema.Int),
  multiple: Schema.Boolean,
  hideTotals: Schema.Boolean,
  expiresAt: Schema.NullOr(Schema.String)
})
export type PollRecord = typeof PollRecord.Type

/** Quoted status, and the state of its consent. */
export const QuoteRecord = Schema.Struct({
  state: Schema.Literals(["pending", "accepted", "rejected", "revoked"]),
  /** The quoted author's server does not support consent. */
  legacy: Schema.Boolean,
  /** Null if it is not stored here; ids are decimal strings. */
  status: Schema.NullOr(Schema.Struct({
    id: Schema.String,
    accountId: Schema.String,
    visibility: Visibility,
    local: Schema.Boolean,
    localOnly: Schema.Boolean,
    deleted: Schema.Boolean,
    uri: Schema.NullOr(Schema.String),
    url: Schema.NullOr(Schema.String),
    username: Schema.String,
    actorPath: ActorPath
  })),
  /** Id of the authorization by another server. */
  authorizationUri: Schema.NullOr(Schema.String)
})
export type QuoteRecord = typeof QuoteRecord.Type

/** A collection of accounts that a status links to; ids are decimal strings. */
const TaggedCollection = Schema.Struct({
  id: Schema.String,
  accountId: Schema.String,
  name: Schema.String,
  uri: Schema.NullOr(Schema.String)
})

/** Stored fields that are the same for all viewers. */
const Shown = StoredStatus.mapFields(
  Struct.omit(["text", "inReplyToUri", "applicationId", "imported", "mediaIds", "deletedAt"])
)
/** `sensitive` depends on the author, too. */
const shown = columnsOf(Shown.mapFields(Struct.omit(["sensitive"])))

/** A status without viewer state. */
export const StatusRecord = Schema.Struct({
  ...Shown.fields,
  /** Source text if it is not plain text; null otherwise. */
  source: Schema.NullOr(Schema.String),
  username: Schema.String,
  actorPath: ActorPath,
  domain: Schema.NullOr(Schema.String),
  mentions: Schema.Array(MentionRecord),
  /** Normalised names. */
  tags: Schema.Array(Schema.String),
  media: Schema.Array(MediaRecord),
  poll: Schema.NullOr(PollRecord),
  card: Schema.NullOr(CardRecord),
  quote: Schema.NullOr(QuoteRecord),
  collections: Schema.Array(TaggedCollection),
  applicationName: Schema.NullOr(Schema.String),
  applicationWebsite: Schema.NullOr(Schema.String),
  /** The author lets others see the application. */
  showApplication: Schema.Boolean
})
export type StatusRecord = typeof StatusRecord.Type
const statusRows = rowsOf(StatusRecord)

/** Shortens a record's texts to `statusBytesMax`. */
const bounded = (record: StatusRecord): StatusRecord => {
  const { poll } = record
  const cut = shortened(record, poll?.options ?? [])
  if (cut === undefined) return record
  const { options, ...texts } = cut
  return { ...record, ...texts, poll: poll && { ...poll, options } }
}

/** A status that the viewer may see. */
export const FoundStatus = StoredStatus.mapFields(
  Struct.pick(["id", "accountId", "reblogOfId", "conversationId", "imported"])
)
export type FoundStatus = typeof FoundStatus.Type
const foundStatusRows = rowsOf(FoundStatus)

/** Source of a status, for editing. */
const StatusSource = StoredStatus.mapFields(Struct.pick(["id", "text", "contentType", ...textFields]))
type StatusSource = typeof StatusSource.Type
const sourceRows = rowsOf(StatusSource)
const sourced = columnsOf(StatusSource)

/**
 * Reads statuses. `load` checks no permissions; `ViewerStates` does. All other methods return only what the viewer may
 * see.
 */
export class Statuses extends Context.Service<Statuses, {
  /** Loads existing statuses, including deleted ones, and the originals of boosts; one query. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<StatusRecord>>
  /** Returns a status that `viewer` may see; others do not exist (security row 57). */
  readonly find: (viewer: Viewer, id: bigint) => Effect.Effect<FoundStatus, RecordNotFound>
  /** Returns the source of a status that `viewer` may see, for editing. */
  readonly source: (viewer: Viewer, id: bigint) => Effect.Effect<StatusSource, RecordNotFound>
}>()("murmuration/services/statuses/Statuses") {
  static readonly layer = Layer.effect(
    Statuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const load = traced("Statuses.load")(function*(ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const unique = [...new Set(ids)]
        const records = yield* statusRows(sql`
          SELECT ${
          shown.list(sql, "s")
        }, s.sensitive OR a.sensitized_at IS NOT NULL AS sensitive, a.username, a.actor_path, a.domain,
            CASE WHEN s.content_type <> 'text/plain' THEN s.text END AS source, app.name AS application_name, app.website AS application_website,
            coalesce(u.show_application, true) AS show_application,
            coalesce((SELECT json_agg(json_build_object('id', n.id::text, 'username', n.username, 'domain', n.domain,
                'url', n.url) ORDER BY n.id)
              FROM mentions m JOIN accounts n ON n.id = m.account_id WHERE m.status_id = s.id AND NOT m.silent AND NOT m.quiet), '[]') AS mentions,
            ARRAY(SELECT t.name FROM statuses_tags st JOIN tags t ON t.id = st.tag_id
              WHERE st.status_id = s.id ORDER BY t.id) AS tags,
            ${recordsOf(sql, "s.media_ids")} AS media,
            (SELECT json_build_object('options', p.options, 'counts', p.counts, 'voters', p.voters_count, 'multiple', p.multiple,
              'hideTotals', p.hide_totals, 'expiresAt', p.expires_at) FROM polls p WHERE p.status_id = s.id) AS poll,
            (SELECT ${cardRecord(sql, "l.url")} FROM status_cards l JOIN preview_cards c ON c.id = l.card_id
              ${cardCreator(sql)} WHERE l.status_id = s.id) AS card,
            (SELECT json_build_object('state', q.state, 'legacy', q.legacy, 'status', CASE WHEN t.id IS NOT NULL THEN
                json_build_object('id', t.id::text, 'accountId', t.account_id::text, 'visibility', t.visibility,
                  'local', t.local, 'localOnly', t.local_only, 'deleted', t.deleted_at IS NOT NULL, 'uri', t.uri, 'url', t.url, 'username', ta.username, 'actorPath', ta.actor_path) END,
                'authorizationUri', q.authorization_uri)
              FROM quotes q LEFT JOIN (statuses t JOIN accounts ta ON ta.id = t.account_id) ON t.id = q.quoted_status_id WHERE q.status_id = s.id) AS quote,
            coalesce((SELECT json_agg(json_build_object('id', c.id::text, 'accountId', c.account_id::text, 'name', c.name, 'uri', c.uri)
                ORDER BY g.place)
              FROM tagged_collections g JOIN collections c ON c.id = g.collection_id WHERE g.status_id = s.id), '[]') AS collections
          FROM statuses s JOIN accounts a ON a.id = s.account_id LEFT JOIN users u ON u.account_id = a.id
          LEFT JOIN oauth_apps app ON app.id = s.application_id
          WHERE s.id IN (SELECT unnest(${unique}::bigint[])
            UNION SELECT r.reblog_of_id FROM statuses r WHERE r.id = ANY (${unique}::bigint[]) AND r.reblog_of_id IS NOT NULL)`)
        return records.map(bounded)
      }, Effect.orDie)

      const find = traced("Statuses.find")(function*(viewer: Viewer, id: bigint) {
        const [row] = yield* foundStatusRows(sql`
          SELECT s.id, s.account_id, s.reblog_of_id, s.conversation_id, s.imported FROM statuses s
          WHERE s.id = ${id} AND ${visibleTo(sql, viewer, "s")}`).pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : row
      })

      const source = traced("Statuses.source")(function*(viewer: Viewer, id: bigint) {
        const [row] = yield* sourceRows(sql`
          SELECT ${sourced.list(sql, "s")} FROM statuses s
          WHERE s.id = ${id} AND ${visibleTo(sql, viewer, "s")}`).pipe(Effect.orDie)
        return row === undefined ? yield* new RecordNotFound() : row
      })
      return Statuses.of({ load, find, source })
    })
  )
}
