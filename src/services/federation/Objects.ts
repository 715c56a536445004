import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { renderedRows } from "../database/RenderedRows.ts"
import { rowsOf } from "../database/Rows.ts"
import { CustomEmojis } from "../instance/CustomEmojis.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { Statuses, type StatusRecord } from "../statuses/Statuses.ts"
import { isPublicRow } from "../statuses/Visibility.ts"
import { textsOf } from "../statuses/Written.ts"
import {
  announceDocument,
  createDocument,
  inlineRepliesMax,
  noteDocument,
  type NoteRelations
} from "./documents/NoteDocument.ts"
import type { Document } from "./documents/Vocabulary.ts"
import * as LocalIds from "./LocalIds.ts"

const figureRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, favourites: Schema.Int, reblogs: Schema.Int, reactions: Schema.Int })
)
const replyRows = rowsOf(
  Schema.Struct({
    id: Schema.BigInt,
    replies: Schema.Array(Schema.BigInt),
    /** Author of the thread's first post, if the thread began here with a public post. */
    rootAuthor: Schema.NullOr(Schema.BigInt),
    /** Ids of a thread that came from another server: its own, and its first post's if that is local. */
    conversationUri: Schema.NullOr(Schema.String),
    rootId: Schema.NullOr(Schema.BigInt),
    readers: Schema.Array(Schema.String),
    /**
     * Consent of the author of the reply's parent or the reblogged post: its id, or the number of the request to a
     * local account.
     */
    consent: Schema.NullOr(
      Schema.Struct({ uri: Schema.NullOr(Schema.String), id: Schema.String, actorPath: LocalIds.ActorPath })
    )
  })
)

const ActorName = Schema.Struct({
  username: Schema.String,
  actorPath: LocalIds.ActorPath,
  domain: Schema.NullOr(Schema.String),
  uri: Schema.NullOr(Schema.String)
})
type ActorName = typeof ActorName.Type
const personRows = rowsOf(Schema.Struct({ ...ActorName.fields, id: Schema.BigInt }))

const Reference = Schema.Struct({
  ...ActorName.fields,
  id: Schema.BigInt,
  statusUri: Schema.NullOr(Schema.String)
})
type Reference = typeof Reference.Type
const referenceRows = rowsOf(Reference)

/** A local status as an object with its activity, or a reblog as its activity. */
export interface LocalObject {
  /** Has no context. Undefined for a reblog, which is only an activity. */
  readonly note: Document | undefined
  readonly activity: Document
}

/**
 * Local statuses as ActivityPub documents. Checks no permissions: callers pass ids of statuses
 * that may be read.
 */
export class Objects extends Context.Service<Objects, {
  /**
   * Returns documents by id, in the order of `ids`, for those that exist, are local and are not local-only. Takes five
   * queries for any number of ids.
   */
  readonly load: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, LocalObject>>
  /** As `load`, with local-only statuses: for their author's archive, never for other servers. */
  readonly loadOwn: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, LocalObject>>
  /** Returns ActivityPub ids of statuses, local ones too; missing statuses are absent. */
  readonly uris: (ids: ReadonlyArray<bigint>) => Effect.Effect<ReadonlyMap<bigint, string>>
}>()("murmuration/services/federation/Objects") {
  static readonly layer = Layer.effect(
    Objects,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const config = yield* ServerConfig
      const emojis = yield* CustomEmojis
      const statuses = yield* Statuses

      const actorOf = ({ actorPath, uri }: ActorName) => uri ?? LocalIds.actor(config, actorPath)
      const acctOf = ({ domain, username }: ActorName) => `${username}@${domain ?? config.localDomain}`
      const uriOf = ({ actorPath, id, statusUri }: Reference) => statusUri ?? LocalIds.note(config, actorPath, id)

      const references = (ids: ReadonlyArray<bigint>) =>
        referenceRows(sql`SELECT s.id, s.uri AS status_uri, a.username, a.actor_path, a.domain, a.uri
          FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE s.id = ANY (${ids}::bigint[])`)
      const people = (ids: ReadonlyArray<string>) =>
        personRows(sql`SELECT a.id, a.username, a.actor_path, a.domain, a.uri FROM accounts a
          WHERE a.id = ANY (${ids}::bigint[])`)
      const figures = (ids: ReadonlyArray<bigint>) =>
        figureRows(sql`SELECT status_id AS id, favourites_count AS favourites,
          reblogs_count AS reblogs, reactions_count AS reactions FROM status_stats WHERE status_id = ANY (${ids}::bigint[])`)
      const ownReplies = (ids: ReadonlyArray<bigint>) =>
        replyRows(sql`
          SELECT s.id, ARRAY(SELECT a.uri FROM mentions m JOIN accounts a ON a.id = m.account_id
            WHERE m.status_id = s.id AND m.quiet AND NOT m.silent AND a.uri IS NOT NULL ORDER BY a.id) AS readers, (SELECT root.account_id FROM statuses root
            WHERE root.id = coalesce(c.root_id, s.conversation_id) AND root.conversation_id = s.conversation_id
            AND root.local AND root.deleted_at IS NULL AND ${
          isPublicRow(sql, "root")
        }) AS root_author, c.uri AS conversation_uri, c.root_id, ARRAY(SELECT r.id FROM statuses r WHERE r.in_reply_to_id = s.id AND r.account_id = s.account_id
            AND r.deleted_at IS NULL AND ${isPublicRow(sql, "r")}
            ORDER BY r.id LIMIT ${sql.literal(String(inlineRepliesMax))}) AS replies,
          CASE WHEN s.in_reply_to_id IS NOT NULL OR s.reblog_of_id IS NOT NULL THEN (
            SELECT json_build_object('uri', q.authorization_uri, 'id', q.id::text, 'actorPath', a.actor_path)
            FROM interaction_requests q JOIN accounts a ON a.id = q.target_account_id
            WHERE q.interaction_id = s.id AND q.state = 'accepted' AND (a.domain IS NULL OR q.authorization_uri IS NOT NULL))
          END AS consent
          FROM statuses s LEFT JOIN conversations c ON c.id = s.conversation_id WHERE s.id = ANY (${ids}::bigint[])`)

      const loaded = Effect.fnUntraced(function*(ids: ReadonlyArray<bigint>, localOnlyToo: boolean) {
        const records = new Map((yield* statuses.load(ids)).map((record) => [record.id, record]))
        const found = ids.flatMap((id) => records.get(id) ?? [])
          .filter(({ local, localOnly }) => local && (localOnlyToo || !localOnly))
        if (found.length === 0) return new Map<bigint, LocalObject>()
        const [refs, mentioned, counts, replies] = yield* Effect.all([
          references(found.flatMap((record) => [record.inReplyToId, record.reblogOfId].filter((id) => id !== null))),
          people(found.flatMap(({ mentions }) => mentions.map(({ id }) => id))),
          figures(found.map(({ id }) => id)),
          ownReplies(found.map(({ id }) => id))
        ])
        const byId = <A extends { readonly id: bigint }>(rows: ReadonlyArray<A>) =>
          new Map(rows.map((row) => [row.id, row]))
        const now = yield* Clock.currentTimeMillis
        const named = yield* emojis.finder
        const [refById, personById, countById, repliesById] = [byId(refs), byId(mentioned), byId(counts), byId(replies)]

        const consentOf = (id: bigint) => {
          const consent = repliesById.get(id)?.consent ?? undefined
          return consent &&
            (consent.uri ??
              LocalIds.interactionAuthorization(LocalIds.actor(config, consent.actorPath), BigInt(consent.id)))
        }
        const contextOf = ({ conversationId, id }: StatusRecord) => {
          const { rootAuthor, rootId } = repliesById.get(id) ?? { rootAuthor: null, rootId: null }
          if (rootAuthor === null) return undefined
          return rootId === null
            ? LocalIds.context(config, conversationId)
            : LocalIds.contextOfRoot(config, rootAuthor, rootId)
        }
        const related = (record: StatusRecord): NoteRelations => {
          const parent = record.inReplyToId === null ? undefined : refById.get(record.inReplyToId)
          return {
            mentioned: record.mentions.flatMap(({ id }) => personById.get(BigInt(id)) ?? [])
              .map((person) => ({ uri: actorOf(person), acct: acctOf(person) })),
            consent: consentOf(record.id),
            inReplyTo: parent === undefined ? undefined : uriOf(parent),
            favourites: countById.get(record.id)?.favourites ?? 0,
            reblogs: countById.get(record.id)?.reblogs ?? 0,
            reactions: countById.get(record.id)?.reactions ?? 0,
            emojis: named(record.html, ...textsOf(record), ...record.poll?.options ?? []),
            readers: repliesById.get(record.id)?.readers ?? [],
            ownReplies: repliesById.get(record.id)?.replies ?? [],
            conversation: repliesById.get(record.id)?.conversationUri ??
              LocalIds.conversation(config, record.conversationId),
            context: contextOf(record)
          }
        }
        const objectOf = (record: StatusRecord): readonly [bigint, LocalObject] | undefined => {
          if (record.reblogOfId === null) {
            const note = noteDocument(config, record, related(record), now)
            return [record.id, { note, activity: createDocument(config, record, note) }]
          }
          const original = refById.get(record.reblogOfId)
          if (original === undefined) return undefined
          const activity = announceDocument(config, record, {
            object: uriOf(original),
            author: actorOf(original),
            consent: consentOf(record.id)
          })
          return [record.id, { note: undefined, activity }]
        }
        return new Map(yield* renderedRows("status", found, ({ id }) => id, objectOf))
      }, Effect.orDie)
      const load = traced("Objects.load")((ids: ReadonlyArray<bigint>) => loaded(ids, false))
      const loadOwn = traced("Objects.loadOwn")((ids: ReadonlyArray<bigint>) => loaded(ids, true))

      const uris = traced("Objects.uris")(
        (ids: ReadonlyArray<bigint>) =>
          Effect.map(references(ids), (rows) => new Map(rows.map((row) => [row.id, uriOf(row)]))),
        Effect.orDie
      )
      return Objects.of({ load, loadOwn, uris })
    })
  )
}
