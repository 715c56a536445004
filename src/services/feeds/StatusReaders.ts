import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { batchRequestsOrSingle } from "../database/Batches.ts"
import { AccountId, StatusId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { StoredStatus } from "../statuses/StoredStatus.ts"
import { isPublicOrUnlisted, visibleTo } from "../statuses/Visibility.ts"
import * as ReadersQuery from "./ReadersQuery.ts"
import { seenMillisMax } from "./StatusSubscribers.ts"

const followerRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: AccountId, seen: Schema.Boolean }))

/** Maximum followers read by a statement that several posts share, and maximum posts of one. */
export const fewReadersMax = 100
const queriesMax = 50

/** A slice of readers; `cursor` is undefined after the last one. */
interface Slice {
  readonly readers: ReadonlyArray<AccountId>
  /** Readers who want a notification of every post. */
  readonly subscribers: ReadonlyArray<AccountId>
  readonly cursor: bigint | undefined
}

/** A slice of a status's readers, and the public streams that carry it. */
export interface ReaderSlice extends Slice, Pick<ToldSlice, "statusId" | "visibility" | "limited" | "reblogOfId"> {
  /**
   * True if readers may have it in an exclusive list, or accounts may get it without following its author
   * (`StatusSubscribers`).
   */
  readonly subscribed: boolean
  readonly channels: ReadonlyArray<string>
  /** True if other servers may need the status. */
  readonly federates: boolean
  /** Mentioned accounts that are notified. */
  readonly mentioned: ReadonlyArray<bigint>
}

export class StatusReaders extends Context.Service<StatusReaders, {
  /**
   * Returns the followers of `author` whose home shows the status, by their follows' ids above `cursor`. Undefined if
   * the status is deleted.
   */
  readonly readers: (
    statusId: bigint,
    author: AccountId,
    cursor: bigint,
    rowsMax: number
  ) => Effect.Effect<ReaderSlice | undefined, SqlError>
  /**
   * Returns the first slice, `fewReadersMax` at most; concurrent calls share one statement outside of transactions.
   * With a cursor there may be more.
   */
  readonly fewReaders: (statusId: bigint, author: AccountId) => Effect.Effect<ReaderSlice | undefined, SqlError>
  /** Returns the followers who could see the status, to retract a deleted one, with the channels that carried it. */
  readonly followers: (
    author: AccountId,
    statusId: bigint,
    cursor: bigint,
    rowsMax: number
  ) => Effect.Effect<Omit<Slice, "subscribers"> & Pick<ReaderSlice, "statusId" | "channels">, SqlError>
}>()("murmuration/services/feeds/StatusReaders") {
  static readonly layer = Layer.effect(
    StatusReaders,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { federated } = yield* ServerConfig

      const facts = sql.literal(
        `s.id AS status_id, s.visibility, s.limited, s.local, s.reblog_of_id, s.deleted_at IS NOT NULL AS deleted, s.media_ids <> '{}' AS media,
        (SELECT silenced_at IS NOT NULL FROM accounts WHERE id = s.account_id) AS silenced,
        s.in_reply_to_id IS NOT NULL AND s.in_reply_to_account_id IS DISTINCT FROM s.account_id AS is_reply,
        ARRAY(SELECT t.name FROM statuses_tags st JOIN tags t ON t.id = st.tag_id WHERE st.status_id = s.id ORDER BY 1) AS tags`
      )

      /**
       * SQL expression: the status is local, and has remote followers, a remote account that it mentions, replies to or
       * boosts, or a relay.
       */
      const federates = federated
        ? sql.literal(`s.local AND (EXISTS (SELECT FROM follows WHERE target_account_id = s.account_id AND remote)
          OR EXISTS (SELECT FROM remote_actors r WHERE r.account_id IN (
            SELECT account_id FROM mentions WHERE status_id = s.id AND NOT silent
            UNION ALL SELECT s.in_reply_to_account_id
            UNION ALL SELECT account_id FROM statuses WHERE id = s.reblog_of_id))
          OR (s.visibility = 'public' AND EXISTS (SELECT FROM relays WHERE state = 'accepted')))`)
        : sql.literal("false")

      /** SQL expression: the author or a hashtag is in a list, or a hashtag is followed. */
      const subscribed = sql.literal(`(EXISTS (SELECT FROM list_accounts WHERE account_id = s.account_id OFFSET 0)
        OR EXISTS (SELECT FROM statuses_tags st WHERE st.status_id = s.id AND (
          EXISTS (SELECT FROM list_tags WHERE tag_id = st.tag_id OFFSET 0)
          OR EXISTS (SELECT FROM tag_follows WHERE tag_id = st.tag_id OFFSET 0)) OFFSET 0))`)

      /** Returns statuses with a slice of readers for each. */
      const slices = (rows: number) =>
        Effect.fnUntraced(function*(queries: ReadonlyArray<SliceQuery>) {
          const now = yield* Clock.currentTimeMillis
          const seenSince = new Date(now - seenMillisMax)
          const slice =
            sql`SELECT coalesce(array_agg(reader ORDER BY follow_id) FILTER (WHERE reader IS NOT NULL), '{}') AS readers,
                coalesce(array_agg(reader ORDER BY follow_id) FILTER (WHERE reader IS NOT NULL AND notify), '{}') AS subscribers,
                count(*)::int AS asked, max(follow_id) AS last
              FROM (${
              ReadersQuery.readers(sql, sql.literal("look.status_id"), sql.literal("look.author"), {
                cursor: sql.literal("look.cursor"),
                limit: rows,
                seenSince
              }, new Date(now))
            }) one`
          const found = yield* sliceRows(sql`
            SELECT look.place::int, ${facts}, slice.*, ${federates} AS federates, ${subscribed} AS subscribed,
              ARRAY(SELECT account_id FROM mentions WHERE status_id = s.id AND NOT silent AND NOT quiet
                AND account_id <> s.account_id) AS mentioned
            FROM unnest(${queries.map(({ statusId }) => statusId)}::bigint[], ${
            queries.map(({ author }) => author)
          }::bigint[],
                ${
            queries.map(({ cursor }) => cursor)
          }::bigint[]) WITH ORDINALITY AS look (status_id, author, cursor, place)
            JOIN statuses s ON s.id = look.status_id
            CROSS JOIN LATERAL (${slice}) slice`)
          const byPlace = new Map(found.map((row) => [row.place - 1, row]))
          return (_: SliceQuery, place: number) => sliceOf(byPlace.get(place), rows)
        })
      const few = batchRequestsOrSingle({ max: queriesMax }, slices(fewReadersMax))

      const followers = traced("StatusReaders.followers")(
        function*(author: AccountId, statusId: bigint, cursor: bigint, rowsMax: number) {
          const [row] = yield* statusFactRows(sql`SELECT ${facts} FROM statuses s WHERE s.id = ${statusId}`)
          const open = row !== undefined && (isPublicOrUnlisted(row.visibility) || row.reblogOfId !== null)
          const wasVisible = open ? sql`true` : sql`EXISTS (SELECT FROM statuses s WHERE s.id = ${statusId}
            AND ${visibleTo(sql, sql.literal("f.account_id"), "s", { author, deletedToo: true })} OFFSET 0)`
          const rows = yield* followerRows(sql`
            SELECT f.id, f.account_id, ${wasVisible} AS seen FROM follows f
            WHERE f.target_account_id = ${author} AND f.id > ${cursor} ORDER BY f.id LIMIT ${rowsMax}`)
          return {
            statusId: StatusId.make(statusId),
            channels: row === undefined ? [] : channelsOf(row),
            readers: rows.flatMap(({ accountId, seen }) => seen ? [accountId] : []),
            cursor: rows.length < rowsMax ? undefined : rows.at(-1)?.id
          }
        }
      )
      return StatusReaders.of({
        readers: traced("StatusReaders.readers")((statusId, author, cursor, rows) => {
          const query = { statusId, author, cursor }
          return Effect.map(slices(rows)([query]), (resultOf) => resultOf(query, 0))
        }),
        fewReaders: traced("StatusReaders.fewReaders")((statusId, author) => few({ statusId, author, cursor: 0n })),
        followers
      })
    })
  )
}

interface SliceQuery {
  readonly statusId: bigint
  readonly author: AccountId
  readonly cursor: bigint
}

const StatusFacts = Schema.Struct({
  ...StoredStatus.mapFields(Struct.pick(["visibility", "limited", "local", "reblogOfId"])).fields,
  statusId: StatusId,
  deleted: Schema.Boolean,
  silenced: Schema.Boolean,
  isReply: Schema.Boolean,
  media: Schema.Boolean,
  tags: Schema.Array(Schema.String)
})
type StatusFacts = typeof StatusFacts.Type
const statusFactRows = rowsOf(StatusFacts)

/** A status with a slice: `asked` follows were read, `last` is the last one. */
const ToldSlice = Schema.Struct({
  ...StatusFacts.fields,
  readers: Schema.Array(AccountId),
  subscribers: Schema.Array(AccountId),
  asked: Schema.Int,
  last: Schema.NullOr(Schema.BigInt),
  federates: Schema.Boolean,
  subscribed: Schema.Boolean,
  mentioned: Schema.Array(Schema.BigInt),
  place: Schema.Int
})
type ToldSlice = typeof ToldSlice.Type
const sliceRows = rowsOf(ToldSlice)

const sliceOf = (
  row: ToldSlice | undefined,
  rows: number
): ReaderSlice | undefined =>
  row === undefined || row.deleted ? undefined : {
    statusId: row.statusId,
    visibility: row.visibility,
    limited: row.limited,
    reblogOfId: row.reblogOfId,
    channels: channelsOf(row),
    mentioned: row.mentioned,
    federates: row.federates,
    readers: row.readers,
    subscribers: row.subscribers,
    subscribed: row.subscribed,
    cursor: row.asked < rows ? undefined : row.last ?? undefined
  }

/** Returns the channels by streaming.md section 4: public posts except boosts; replies to others only by hashtag. */
const channelsOf = (
  { isReply, local, media, reblogOfId, silenced, tags, visibility }: StatusFacts
): ReadonlyArray<string> => {
  if (visibility !== "public" || reblogOfId !== null || silenced) return []
  const side = local ? "local" : "remote"
  return [
    ...(isReply ? [] : ["public", `public:${side}`]),
    ...(isReply || !media ? [] : ["public:media", `public:${side}:media`]),
    ...tags.flatMap((tag) => local ? [`hashtag:${tag}`, `hashtag:local:${tag}`] : [`hashtag:${tag}`])
  ]
}
