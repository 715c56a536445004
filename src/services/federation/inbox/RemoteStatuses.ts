import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import * as Counters from "../../Counters.ts"
import type { AccountId } from "../../Ids.ts"
import { only } from "../../Rows.ts"
import { traced } from "../../Traced.ts"
import type { ForeignAttachment } from "../documents/ForeignMedia.ts"
import type { ForeignNote } from "../documents/ForeignNote.ts"

/** A post of another server with what its ids mean here. */
export interface Received {
  readonly note: ForeignNote
  readonly parentId: bigint | undefined
  /** Whom it mentions; `addressed` where it is for them too, else the mention counts for nothing (row 59). */
  readonly mentions: ReadonlyArray<{ readonly id: bigint; readonly addressed: boolean }>
}

/** Rows of other servers' posts; always inside the transaction of the author's actor. */
export class RemoteStatuses extends Context.Service<RemoteStatuses, {
  /** Whether the account deleted the id, ever. */
  readonly isBuried: (accountId: AccountId, uri: string) => Effect.Effect<boolean, SqlError>
  /** An id of the account's that must not come back, known or not (row 10). */
  readonly bury: (accountId: AccountId, uri: string) => Effect.Effect<void, SqlError>
  /** The two questions about a new post at once: whether the account deleted the id, and whether somebody here follows it. */
  readonly prospects: (
    accountId: AccountId,
    uri: string
  ) => Effect.Effect<{ readonly buried: boolean; readonly followed: boolean }, SqlError>
  /** Whether somebody here follows the account. */
  readonly isFollowed: (accountId: AccountId) => Effect.Effect<boolean, SqlError>
  /** The account's document is to be looked at again, whenever that was done last. */
  readonly profileIsStale: (accountId: AccountId) => Effect.Effect<void, SqlError>
  /** Gives a status the files that its post has now, each once; answers their ids in the order of the post. */
  readonly attach: (
    accountId: AccountId,
    statusId: bigint,
    attachments: ReadonlyArray<ForeignAttachment>,
    millis: number
  ) => Effect.Effect<ReadonlyArray<bigint>, SqlError>
  /** Answers the new status' id, undefined where the post is here already. */
  readonly insert: (accountId: AccountId, received: Received) => Effect.Effect<bigint | undefined, SqlError>
}>()("murmuration/services/federation/inbox/RemoteStatuses") {
  static readonly layer = Layer.effect(
    RemoteStatuses,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const some = (rows: ReadonlyArray<unknown>) => rows.length > 0

      const make = (accountId: AccountId, statusId: bigint, file: ForeignAttachment, millis: number) => {
        const [at, meta] = [new Date(millis), file.size === undefined ? {} : { original: file.size }]
        return Effect.map(
          sql<{ id: bigint }>`
            INSERT INTO media_attachments (id, account_id, status_id, type, state, description, focus_x, focus_y, meta,
              blurhash, remote_url, preview_remote_url, created_at, touched_at)
            VALUES (next_id(${millis}), ${accountId}, ${statusId}, ${file.type}, 'ready', ${file.description},
              ${file.focus?.x ?? null}, ${file.focus?.y ?? null}, ${JSON.stringify(meta)}::jsonb, ${file.blurhash},
              ${file.url}, ${file.previewUrl}, ${at}, ${at}) RETURNING id`,
          (rows) => only(rows).id
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
          const known = yield* sql<{ id: bigint; remoteUrl: string }>`
            UPDATE media_attachments m SET description = f.description
            FROM jsonb_to_recordset(${words}::jsonb) AS f (url text, description text)
            WHERE m.status_id = ${statusId} AND m.remote_url = f.url RETURNING m.id, m.remote_url`
          const ids = new Map(known.map(({ id, remoteUrl }) => [remoteUrl, id]))
          for (const file of attachments) {
            if (!ids.has(file.url)) ids.set(file.url, yield* make(accountId, statusId, file, millis))
          }
          return [...new Set(attachments.flatMap(({ url }) => ids.get(url) ?? []))]
        }
      )

      const insert = traced("RemoteStatuses.insert")(function*(accountId: AccountId, received: Received) {
        const { mentions, note, parentId } = received
        const millis = note.publishedMillis
        const at = new Date(millis)
        const [made] = yield* sql<{ id: bigint }>`
          WITH fresh AS MATERIALIZED (SELECT next_id(${millis}) AS id),
          made AS (INSERT INTO statuses (id, account_id, uri, url, local, html, spoiler_text, sensitive, visibility, language,
            in_reply_to_id, in_reply_to_account_id, conversation_id, created_at)
          SELECT fresh.id, ${accountId}, ${note.uri}, ${note.url}, false, ${note.html}, ${note.spoilerText},
            ${note.sensitive}, ${note.visibility}, ${note.language}, p.id, p.account_id,
            coalesce(p.conversation_id, fresh.id), ${at}
          FROM fresh LEFT JOIN statuses p ON p.id = ${parentId ?? null}::bigint AND p.deleted_at IS NULL
          ON CONFLICT (uri) WHERE uri IS NOT NULL DO NOTHING RETURNING id)
          INSERT INTO status_stats (status_id) SELECT id FROM made RETURNING status_id AS id`
        if (made === undefined) return undefined
        const { id } = made
        yield* mentions.length === 0 ? Effect.void : sql`INSERT INTO mentions (status_id, account_id, silent)
          SELECT ${id}::bigint, m, NOT addressed FROM unnest(${mentions.map((mention) => mention.id)}::bigint[],
            ${mentions.map(({ addressed }) => addressed)}::boolean[]) AS named (m, addressed) ON CONFLICT DO NOTHING`
        yield* note.tags.length === 0 ? Effect.void : sql`WITH wanted AS (
            SELECT * FROM unnest(${note.tags.map(({ name }) => name)}::text[],
              ${note.tags.map(({ displayName }) => displayName)}::text[]) AS w (name, display_name) ORDER BY name),
          words AS (INSERT INTO tags (id, name, display_name, created_at, last_status_at)
            SELECT next_id(${millis}), name, display_name, ${at}, ${at} FROM wanted
            ON CONFLICT (name) DO UPDATE SET last_status_at = greatest(tags.last_status_at, ${at}) RETURNING id)
          INSERT INTO statuses_tags (tag_id, status_id) SELECT id, ${id}::bigint FROM words ON CONFLICT DO NOTHING`
        if (note.attachments.length > 0) {
          const mediaIds = yield* attach(accountId, id, note.attachments, millis)
          yield* sql`UPDATE statuses SET media_ids = ${mediaIds}::bigint[] WHERE id = ${id}`
        }
        yield* Counters.count(
          sql,
          [{ accountId, statuses: 1 }],
          parentId === undefined ? [] : [{ statusId: parentId, replies: 1 }],
          at
        )
        return id
      })

      return RemoteStatuses.of({
        insert,
        attach,
        prospects: traced("RemoteStatuses.prospects")((accountId, uri) =>
          Effect.map(
            sql<{ buried: boolean; followed: boolean }>`SELECT
              EXISTS (SELECT FROM tombstones WHERE uri = ${uri} AND account_id = ${accountId}) AS buried,
              EXISTS (SELECT FROM follows WHERE target_account_id = ${accountId}) AS followed`,
            only
          )
        ),
        isBuried: traced("RemoteStatuses.isBuried")((accountId, uri) =>
          Effect.map(sql`SELECT FROM tombstones WHERE uri = ${uri} AND account_id = ${accountId}`, some)
        ),
        bury: traced("RemoteStatuses.bury")(function*(accountId, uri) {
          const at = new Date(yield* Clock.currentTimeMillis)
          yield* sql`INSERT INTO tombstones (uri, account_id, deleted_at) VALUES (${uri}, ${accountId}, ${at})
            ON CONFLICT DO NOTHING`
        }),
        profileIsStale: traced("RemoteStatuses.profileIsStale")((accountId) =>
          Effect.asVoid(sql`UPDATE remote_actors SET fetched_at = ${new Date(0)} WHERE account_id = ${accountId}`)
        ),
        isFollowed: traced("RemoteStatuses.isFollowed")((accountId) =>
          Effect.map(sql`SELECT FROM follows WHERE target_account_id = ${accountId} LIMIT 1`, some)
        )
      })
    })
  )
}
