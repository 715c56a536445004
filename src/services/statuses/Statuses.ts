import { Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { cardCreator, CardRecord, cardRecord } from "../cards/Card.ts"
import { columnsOf } from "../Columns.ts"
import { RecordNotFound } from "../Errors.ts"
import { MediaRecord, recordsOf } from "../media/MediaRecord.ts"
import { rowsOf } from "../Rows.ts"
import { traced } from "../Traced.ts"
import type { Viewer } from "../Viewer.ts"
import { shortened } from "./StatusTexts.ts"
import { StoredStatus } from "./StoredStatus.ts"
import { Visibility, visibleTo } from "./Visibility.ts"
import { textFields } from "./Written.ts"

/** An account that a status mentions. `url` is null for local ones. */
export const MentionRecord = Schema.Struct({
  /** A decimal string. */
  id: Schema.String,
  username: Schema.String,
  domain: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String)
})
export type MentionRecord = typeof MentionRecord.Type

/** A poll as it is stored. `expiresAt` is a date in ISO 8601, `voters` null where nobody says how many. */
export const PollRecord = Schema.Struct({
  options: Schema.Array(Schema.String),
  counts: Schema.Array(Schema.Int),
  voters: Schema.NullOr(Schema.Int),
  multiple: Schema.Boolean,
  hideTotals: Schema.Boolean,
  expiresAt: Schema.NullOr(Schema.String)
})
export type PollRecord = typeof PollRecord.Type

/** What a status quotes, and whether that is agreed to. */
export const QuoteRecord = Schema.Struct({
  state: Schema.Literals(["pending", "accepted", "rejected", "revoked"]),
  /** The author's server knows no consent. */
  legacy: Schema.Boolean,
  /** Null where it is not here; ids are decimal strings. */
  status: Schema.NullOr(Schema.Struct({
    id: Schema.String,
    accountId: Schema.String,
    visibility: Visibility,
    local: Schema.Boolean,
    localOnly: Schema.Boolean,
    deleted: Schema.Boolean,
    uri: Schema.NullOr(Schema.String),
    url: Schema.NullOr(Schema.String),
    username: Schema.String
  })),
  /** The id of the consent that another server gave. */
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

/** What everybody gets of a status as it is stored. */
const Shown = StoredStatus.mapFields(
  Struct.omit(["text", "inReplyToUri", "applicationId", "mediaIds", "deletedAt"])
)
/** `sensitive` is of the author as well. */
const shown = columnsOf(Shown.mapFields(Struct.omit(["sensitive"])))

/** The part of a status that is the same for every viewer. */
export const StatusRecord = Schema.Struct({
  ...Shown.fields,
  /** As its author wrote it, where that is no plain text; null for others. */
  source: Schema.NullOr(Schema.String),
  username: Schema.String,
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
  /** Its author lets others see the application. */
  showApplication: Schema.Boolean
})
export type StatusRecord = typeof StatusRecord.Type
const statusRows = rowsOf(StatusRecord)

/** A record with texts of `statusBytesMax` at most. */
const bounded = (record: StatusRecord): StatusRecord => {
  const { poll } = record
  const cut = shortened(record, poll?.options ?? [])
  if (cut === undefined) return record
  const { options, ...texts } = cut
  return { ...record, ...texts, poll: poll && { ...poll, options } }
}

/** A status that somebody may read. */
export const FoundStatus = StoredStatus.mapFields(
  Struct.pick(["id", "accountId", "reblogOfId", "conversationId"])
)
export type FoundStatus = typeof FoundStatus.Type
const foundStatusRows = rowsOf(FoundStatus)

/** What an author wrote, as it is edited. */
const StatusSource = StoredStatus.mapFields(Struct.pick(["id", "text", "contentType", ...textFields]))
type StatusSource = typeof StatusSource.Type
const sourceRows = rowsOf(StatusSource)
const sourced = columnsOf(StatusSource)

/** Reads statuses. `load` decides nothing about permission; `ViewerStates` does. Everything else answers only what may be seen. */
export class Statuses extends Context.Service<Statuses, {
  /** The statuses that exist, deleted ones too, and the originals of those that are reblogs; one query. */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyArray<StatusRecord>>
  /** A status that `viewer` may see; what it may not see does not exist (security row 57). */
  readonly find: (viewer: Viewer, id: bigint) => Effect.Effect<FoundStatus, RecordNotFound>
  /** What its author wrote, for editing; to be asked for by whom may see the status. */
  readonly source: (viewer: Viewer, id: bigint) => Effect.Effect<StatusSource, RecordNotFound>
}>()("murmuration/services/statuses/Statuses") {
  static readonly layer = Layer.effect(
    Statuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const load = traced("Statuses.load")(function*(ids: ReadonlyArray<bigint>) {
        if (ids.length === 0) return []
        const wanted = [...new Set(ids)]
        const records = yield* statusRows(sql`
          SELECT ${shown.list(sql, "s")}, s.sensitive OR a.sensitized_at IS NOT NULL AS sensitive, a.username, a.domain,
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
                  'local', t.local, 'localOnly', t.local_only, 'deleted', t.deleted_at IS NOT NULL, 'uri', t.uri, 'url', t.url, 'username', ta.username) END,
                'authorizationUri', q.authorization_uri)
              FROM quotes q LEFT JOIN (statuses t JOIN accounts ta ON ta.id = t.account_id) ON t.id = q.quoted_status_id WHERE q.status_id = s.id) AS quote,
            coalesce((SELECT json_agg(json_build_object('id', c.id::text, 'accountId', c.account_id::text, 'name', c.name, 'uri', c.uri)
                ORDER BY g.place)
              FROM tagged_collections g JOIN collections c ON c.id = g.collection_id WHERE g.status_id = s.id), '[]') AS collections
          FROM statuses s JOIN accounts a ON a.id = s.account_id LEFT JOIN users u ON u.account_id = a.id
          LEFT JOIN oauth_apps app ON app.id = s.application_id
          WHERE s.id IN (SELECT unnest(${wanted}::bigint[])
            UNION SELECT r.reblog_of_id FROM statuses r WHERE r.id = ANY (${wanted}::bigint[]) AND r.reblog_of_id IS NOT NULL)`)
        return records.map(bounded)
      }, Effect.orDie)

      const find = traced("Statuses.find")(function*(viewer: Viewer, id: bigint) {
        const [row] = yield* foundStatusRows(sql`
          SELECT s.id, s.account_id, s.reblog_of_id, s.conversation_id FROM statuses s
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
