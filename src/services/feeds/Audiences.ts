import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { AccountId, StatusId } from "../Ids.ts"
import type { Visibility } from "../statuses/Publications.ts"
import { traced } from "../Traced.ts"
import * as HomeQuery from "./HomeQuery.ts"

/** Accounts that were not seen for that long have no feed; a feed is made anew when they return. */
export const seenMillisMax = 7 * 86_400_000

/** Where a status goes: its author, and the public streams that carry it. */
export interface Audience {
  readonly statusId: StatusId
  readonly accountId: AccountId
  readonly visibility: Visibility
  readonly reblogOfId: bigint | null
  readonly channels: ReadonlyArray<string>
}

/** A slice of readers; `cursor` is undefined after the last one. */
export interface Slice {
  readonly readers: ReadonlyArray<AccountId>
  /** Those of the readers who want a notification of every post. */
  readonly subscribers: ReadonlyArray<AccountId>
  readonly cursor: bigint | undefined
}

export class Audiences extends Context.Service<Audiences, {
  /** Undefined for a status that is deleted by now. */
  readonly of: (statusId: bigint) => Effect.Effect<Audience | undefined, SqlError>
  /** Followers whose home takes the status, by their follows' ids above `cursor`. */
  readonly readers: (audience: Audience, cursor: bigint, rowsMax: number) => Effect.Effect<Slice, SqlError>
  /** All followers, for taking a deleted status back, with the channels that carried it. */
  readonly followers: (
    author: AccountId,
    statusId: bigint,
    cursor: bigint,
    rowsMax: number
  ) => Effect.Effect<Omit<Slice, "subscribers"> & Pick<Audience, "statusId" | "channels">, SqlError>
}>()("murmuration/services/feeds/Audiences") {
  static readonly layer = Layer.effect(
    Audiences,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const facts = Effect.fnUntraced(function*(statusId: bigint) {
        const [row] = yield* sql<Facts>`
          SELECT s.account_id, s.visibility, s.local, s.reblog_of_id, s.deleted_at IS NOT NULL AS deleted,
            a.silenced_at IS NOT NULL AS silenced, s.media_ids <> '{}' AS media,
            s.in_reply_to_id IS NOT NULL AND s.in_reply_to_account_id IS DISTINCT FROM s.account_id AS answers,
            ARRAY(SELECT t.name FROM statuses_tags st JOIN tags t ON t.id = st.tag_id WHERE st.status_id = s.id ORDER BY 1) AS tags
          FROM statuses s JOIN accounts a ON a.id = s.account_id WHERE s.id = ${statusId}`
        return row
      })

      const of = traced("Audiences.of")(function*(statusId: bigint) {
        const row = yield* facts(statusId)
        if (row === undefined || row.deleted) return undefined
        return {
          statusId: StatusId.make(statusId),
          accountId: AccountId.make(row.accountId),
          visibility: row.visibility,
          reblogOfId: row.reblogOfId,
          channels: channelsOf(row)
        }
      })

      const readers = traced("Audiences.readers")(function*(audience: Audience, cursor: bigint, rowsMax: number) {
        const now = yield* Clock.currentTimeMillis
        const rows = yield* HomeQuery.readers(sql, audience.statusId, audience.accountId, {
          cursor,
          limit: rowsMax,
          seenSince: new Date(now - seenMillisMax),
          mentionedOnly: audience.visibility === "direct"
        }, new Date(now))
        const reached = rows.flatMap(({ notify, reader }) =>
          reader === null ? [] : [{ id: AccountId.make(reader), notify }]
        )
        return {
          readers: reached.map(({ id }) => id),
          subscribers: reached.filter(({ notify }) => notify).map(({ id }) => id),
          cursor: rows.length < rowsMax ? undefined : rows.at(-1)?.followId
        }
      })

      const followers = traced("Audiences.followers")(
        function*(author: AccountId, statusId: bigint, cursor: bigint, rowsMax: number) {
          const row = yield* facts(statusId)
          const rows = yield* sql<{ id: bigint; accountId: bigint }>`
            SELECT id, account_id FROM follows WHERE target_account_id = ${author} AND id > ${cursor}
            ORDER BY id LIMIT ${rowsMax}`
          return {
            statusId: StatusId.make(statusId),
            channels: row === undefined ? [] : channelsOf(row),
            readers: rows.map(({ accountId }) => AccountId.make(accountId)),
            cursor: rows.length < rowsMax ? undefined : rows.at(-1)?.id
          }
        }
      )
      return Audiences.of({ of, readers, followers })
    })
  )
}

interface Facts {
  readonly accountId: bigint
  readonly visibility: Visibility
  readonly local: boolean
  readonly reblogOfId: bigint | null
  readonly deleted: boolean
  readonly silenced: boolean
  readonly answers: boolean
  readonly media: boolean
  readonly tags: ReadonlyArray<string>
}

/** streaming.md section 4: public posts that are no reblogs, replies to others by their hashtags only. */
const channelsOf = (
  { answers, local, media, reblogOfId, silenced, tags, visibility }: Facts
): ReadonlyArray<string> => {
  if (visibility !== "public" || reblogOfId !== null || silenced) return []
  const side = local ? "local" : "remote"
  return [
    ...(answers ? [] : ["public", `public:${side}`]),
    ...(answers || !media ? [] : ["public:media", `public:${side}:media`]),
    ...tags.flatMap((tag) => local ? [`hashtag:${tag}`, `hashtag:local:${tag}`] : [`hashtag:${tag}`])
  ]
}
