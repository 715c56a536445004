import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Counters from "../../database/Counters.ts"
import type { AccountId } from "../../database/Ids.ts"
import { idRows, required, rowsOf, singleRow } from "../../database/Rows.ts"
import { batched } from "../../database/TransactionBatch.ts"
import * as RowChanges from "../../events/RowChanges.ts"
import { Jobs } from "../../intents/Jobs.ts"
import { traced } from "../../runtime/Traced.ts"
import { revisionsMax } from "../../statuses/History.ts"
import { update } from "../../statuses/StatusRows.ts"
import { attached } from "../../statuses/Tagging.ts"
import type { ForeignAttachment } from "../documents/ForeignMedia.ts"
import type { ForeignNote } from "../documents/ForeignNote.ts"
import * as Adoptions from "./Adoptions.ts"
import * as NewStatuses from "./NewStatuses.ts"
import { RemoteEmojis } from "./RemoteEmojis.ts"
import { RemotePolls } from "./RemotePolls.ts"

const fileRows = rowsOf(Schema.Struct({ id: Schema.BigInt, remoteUrl: Schema.String }))
const Prospect = Schema.Struct({
  buried: Schema.Boolean,
  followed: Schema.Boolean,
  listed: Schema.Boolean,
  held: Schema.Boolean,
  place: Schema.Int
})
const prospectRows = rowsOf(Prospect)

/**
 * Account that a post mentions or addresses; `quiet` if it is addressed without a mention, which makes a direct post
 * limited.
 */
interface ReceivedMention {
  readonly id: bigint
  readonly addressed: boolean
  readonly quiet: boolean
}

/** Remote post with its ids resolved. */
interface Received {
  readonly note: ForeignNote
  readonly parentId: bigint | undefined
  /** `addressed` if the post is for them, too; otherwise the mention has no effect (row 59). */
  readonly mentions: ReadonlyArray<ReceivedMention>
}

interface Post {
  readonly accountId: AccountId
  readonly uri: string
}

/** Rows of remote posts; use only in the transaction of the author's actor. */
export class RemoteStatuses extends Context.Service<RemoteStatuses, {
  /**
   * Returns the facts that decide about a new post or boost: whether the account deleted or undid the id, whether a
   * local account follows it or has it in a list, and whether a post has the id, even a deleted one.
   */
  readonly deliveryFacts: (
    accountId: AccountId,
    uri: string
  ) => Effect.Effect<Omit<typeof Prospect.Type, "place">, SqlError>
  /** Updates a status's files to those of its post, deduplicated by URL. Returns their ids in the post's order. */
  readonly attach: (
    accountId: AccountId,
    statusId: bigint,
    attachments: ReadonlyArray<ForeignAttachment>,
    millis: number
  ) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
  /** Marks mentions as quiet after an edit, except accounts that it both mentions and addresses. */
  readonly silenceMentions: (
    statusId: bigint,
    mentions: ReadonlyArray<ReceivedMention>
  ) => Effect.Effect<void, SqlError>
  /** Deletes versions beyond the maximum that is shown, and files that only they have. */
  readonly trimVersions: (statusId: bigint) => Effect.Effect<void, SqlError>
  /** Marks a new status as edited: it is a later version. */
  readonly markEdited: (statusId: bigint, millis: number) => Effect.Effect<void, SqlError>
  /** Stores the emoji that a post defines. */
  readonly keepEmojis: (note: ForeignNote) => Effect.Effect<void, SqlError>
  /**
   * Inserts a status, and links replies that waited for it; undefined if the post exists already. A reply to a missing
   * parent waits for it. Activities that wait for the post become due (`InboundActivities.hold`).
   */
  readonly insert: (
    accountId: AccountId,
    received: Received
  ) => Effect.Effect<{ readonly id: bigint } | undefined, SqlError>
  /** Updates the origin's favourite and reblog counts and the interaction policy; returns the status if one changed. */
  readonly updateFacts: (accountId: AccountId, note: ForeignNote) => Effect.Effect<bigint | undefined, SqlError>
  /**
   * Links replies that wait for this post, if it is stored, and enqueues checks of its quotes. Returns changed
   * statuses.
   */
  readonly adopt: (uri: string) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
}>()("murmuration/services/federation/inbox/RemoteStatuses") {
  static readonly layerNoDeps = Layer.effect(
    RemoteStatuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const emojis = yield* RemoteEmojis
      const jobs = yield* Jobs
      const polls = yield* RemotePolls
      const decorate = (note: ForeignNote) => emojis.keep(new URL(note.uri).host, note.emojis)

      const make = (accountId: AccountId, statusId: bigint, file: ForeignAttachment, millis: number) => {
        const [at, meta] = [new Date(millis), file.size === undefined ? {} : { original: file.size }]
        return Effect.map(
          idRows(sql`
            INSERT INTO media_attachments (id, account_id, status_id, type, state, description, focus_x, focus_y, meta,
              blurhash, remote_url, preview_remote_url, created_at, touched_at)
            VALUES (next_id(${millis}), ${accountId}, ${statusId}, ${file.type}, 'ready', ${file.description},
              ${file.focus?.x ?? null}, ${file.focus?.y ?? null}, ${JSON.stringify(meta)}::jsonb, ${file.blurhash},
              ${file.url}, ${file.previewUrl}, ${at}, ${at}) RETURNING id`),
          (rows) => singleRow(rows).id
        )
      }

      const attach = traced("RemoteStatuses.attach")(
        function*(
          accountId: AccountId,
          statusId: bigint,
          attachments: ReadonlyArray<ForeignAttachment>,
          millis: number
        ) {
          const words = JSON.stringify(attachments.map(({ description, url }) => ({ description, url })))
          const describedFiles = yield* fileRows(
            tracked("status", [statusId])(sql`
            UPDATE media_attachments m SET description = f.description
            FROM jsonb_to_recordset(${words}::jsonb) AS f (url text, description text)
            WHERE m.status_id = ${statusId} AND m.remote_url = f.url RETURNING m.id, m.remote_url`)
          )
          const ids = new Map(describedFiles.map(({ id, remoteUrl }) => [remoteUrl, id]))
          for (const file of attachments) {
            if (!ids.has(file.url)) ids.set(file.url, yield* make(accountId, statusId, file, millis))
          }
          return [...new Set(attachments.flatMap(({ url }) => ids.get(url) ?? []))]
        }
      )

      const adoptions = Adoptions.make({ sql, tracked })
      const adopt = traced("RemoteStatuses.adopt")(function*(uri: string) {
        const { more, replies } = yield* adoptions(uri)
        const [first] = replies
        if (first === undefined) return []
        yield* Counters.count({ sql, tracked }, [], [{ statusId: first.parentId, replies: replies.length }])
        if (more) yield* jobs.enqueue("replies", first.parentId)
        return [...replies.map(({ id }) => id), first.parentId]
      })

      const prospects = batched((posts: ReadonlyArray<Post>) =>
        Effect.map(
          prospectRows(sql`
            SELECT t.uri IS NOT NULL AS buried, post.place::int, EXISTS (SELECT FROM statuses WHERE uri = post.uri) AS held,
              EXISTS (SELECT FROM follows WHERE target_account_id = post.account_id OFFSET 0) AS followed,
              EXISTS (SELECT FROM list_accounts WHERE account_id = post.account_id OFFSET 0) AS listed
            FROM unnest(${posts.map(({ accountId }) => accountId)}::bigint[], ${posts.map(({ uri }) => uri)}::text[])
              WITH ORDINALITY AS post (account_id, uri, place)
            LEFT JOIN tombstones t ON t.uri = post.uri AND t.account_id = post.account_id`),
          (rows) => {
            const found = new Map(rows.map((row) => [row.place - 1, row]))
            return (_: Post, place: number) => required(found.get(place))
          }
        )
      )
      const store = NewStatuses.make(sql)

      const insert = traced("RemoteStatuses.insert")(function*(accountId: AccountId, received: Received) {
        const { mentions, note, parentId } = received
        const millis = note.publishedMillis
        const at = new Date(millis)
        const limited = note.visibility === "direct" && mentions.some(({ quiet }) => quiet)
        const stored = yield* store({ accountId, note, parentId, limited })
        if (stored === undefined) return undefined
        const { id } = stored
        yield* mentions.length === 0 ? Effect.void : sql`INSERT INTO mentions (status_id, account_id, silent, quiet)
          SELECT ${id}::bigint, m, NOT addressed, quiet FROM unnest(${mentions.map((mention) => mention.id)}::bigint[],
            ${mentions.map(({ addressed }) => addressed)}::boolean[],
            ${mentions.map(({ quiet }) => quiet)}::boolean[]) AS named (m, addressed, quiet) ON CONFLICT DO NOTHING`
        yield* note.tags.length === 0 ? Effect.void : sql`WITH made AS (SELECT)${
          attached(
            sql,
            sql`(SELECT ${id}::bigint, ${accountId}::bigint, ${note.visibility}::text, ${at}::timestamptz, false)`,
            note.tags,
            millis
          )
        } SELECT FROM made`
        if (note.poll !== undefined) yield* polls.create(id, note.poll)
        yield* decorate(note)
        if (note.attachments.length > 0) {
          const mediaIds = yield* attach(accountId, id, note.attachments, millis)
          yield* tracked("status", [id])(sql`${update(sql, { mediaIds })} WHERE id = ${id}`)
        }
        yield* Counters.count(
          { sql, tracked },
          [{ accountId, statuses: 1 }],
          // A deleted parent has no reply count.
          stored.parentId === null ? [] : [{ statusId: stored.parentId, replies: 1 }],
          at
        )
        yield* adopt(note.uri)
        return { id }
      })

      return RemoteStatuses.of({
        insert,
        adopt,
        attach,
        keepEmojis: decorate,
        updateFacts: traced("RemoteStatuses.updateFacts")((
          accountId,
          { favourites = null, interactionPolicy, reblogs = null, uri }
        ) =>
          Effect.map(
            tracked("status", (rows: ReadonlyArray<{ readonly id: bigint }>) => rows.map(({ id }) => id))(
              idRows(sql`WITH governed AS (
                ${update(sql, { interactionPolicy })} WHERE uri = ${uri} AND account_id = ${accountId}
                  AND interaction_policy IS DISTINCT FROM ${interactionPolicy}::text[] RETURNING id),
              stated AS (UPDATE status_stats c SET stated_favourites = coalesce(${favourites}::int, stated_favourites),
                stated_reblogs = coalesce(${reblogs}::int, stated_reblogs)
              FROM statuses s WHERE s.uri = ${uri} AND s.account_id = ${accountId} AND c.status_id = s.id AND (
                stated_favourites IS DISTINCT FROM coalesce(${favourites}::int, stated_favourites)
                OR stated_reblogs IS DISTINCT FROM coalesce(${reblogs}::int, stated_reblogs))
              RETURNING s.id)
              SELECT id FROM stated UNION SELECT id FROM governed`)
            ),
            ([row]) => row?.id
          )
        ),
        silenceMentions: traced("RemoteStatuses.silenceMentions")((statusId, mentions) =>
          Effect.asVoid(
            tracked("status", [statusId])(
              sql`UPDATE mentions SET quiet = account_id <> ALL (${
                mentions.flatMap(({ addressed, id, quiet }) => addressed && !quiet ? [id] : [])
              }::bigint[]) WHERE status_id = ${statusId}`
            )
          )
        ),
        trimVersions: traced("RemoteStatuses.trimVersions")((statusId) =>
          Effect.asVoid(
            tracked("status", [statusId])(
              sql`WITH beyond AS MATERIALIZED (SELECT id FROM status_edits WHERE status_id = ${statusId}
                ORDER BY id OFFSET ${sql.literal(String(revisionsMax))} LIMIT 1),
              gone AS (DELETE FROM status_edits e USING beyond b WHERE e.status_id = ${statusId} AND e.id >= b.id)
              DELETE FROM media_attachments m USING beyond b, statuses s
              WHERE s.id = ${statusId} AND m.status_id = s.id AND m.id <> ALL (s.media_ids) AND m.id NOT IN (
                SELECT unnest(e.media_ids) FROM status_edits e, beyond WHERE e.status_id = ${statusId} AND e.id < beyond.id)`
            )
          )
        ),
        markEdited: traced("RemoteStatuses.markEdited")((statusId, millis) =>
          Effect.asVoid(
            tracked("status", [statusId])(sql`${update(sql, { editedAt: new Date(millis) })} WHERE id = ${statusId}`)
          )
        ),
        deliveryFacts: traced("RemoteStatuses.deliveryFacts")((accountId, uri) => prospects({ accountId, uri }))
      })
    })
  )
  static readonly layer = RemoteStatuses.layerNoDeps.pipe(Layer.provide([RemoteEmojis.layer, RemotePolls.layer]))
}
