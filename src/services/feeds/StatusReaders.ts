import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { gatheredOrAlone } from "../Batches.ts"
import { AccountId, StatusId } from "../Ids.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { rowsOf } from "../Rows.ts"
import { StoredStatus } from "../statuses/StoredStatus.ts"
import { isOpen, visibleTo } from "../statuses/Visibility.ts"
import { traced } from "../Traced.ts"
import * as ReadersQuery from "./ReadersQuery.ts"
import { seenMillisMax } from "./StatusSubscribers.ts"

const followerRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: AccountId, seen: Schema.Boolean }))

/** Followers of an account up to which its post is told in one statement with the posts of others, and of how many others. */
export const fewReadersMax = 100
const looksMax = 50

/** A slice of readers; `cursor` is undefined after the last one. */
interface Slice {
  readonly readers: ReadonlyArray<AccountId>
  /** Those of the readers who want a notification of every post. */
  readonly subscribers: ReadonlyArray<AccountId>
  readonly cursor: bigint | undefined
}

/** Where a status goes: a slice of its readers, and the public streams that carry it. */
export interface ReaderSlice extends Slice, Pick<ToldSlice, "statusId" | "visibility" | "limited" | "reblogOfId"> {
  /** Some of the readers may have it in an exclusive list, and others may get it who do not follow its author (`StatusSubscribers`). */
  readonly subscribed: boolean
  readonly channels: ReadonlyArray<string>
  /** Somebody elsewhere may be concerned by it. */
  readonly federates: boolean
  /** Accounts that it mentions and that are notified of it. */
  readonly mentioned: ReadonlyArray<bigint>
}

export class StatusReaders extends Context.Service<StatusReaders, {
  /**
   * Followers of `author` whose home takes the author's status, by their follows' ids above `cursor`. Undefined for a
   * status that is deleted by now.
   */
  readonly readers: (
    statusId: bigint,
    author: AccountId,
    cursor: bigint,
    rowsMax: number
  ) => Effect.Effect<ReaderSlice | undefined, SqlError>
  /**
   * The first of them, `fewReadersMax` at most; many ask that in one statement, which is of no transaction. Where there is a
   * cursor there may be more.
   */
  readonly fewReaders: (statusId: bigint, author: AccountId) => Effect.Effect<ReaderSlice | undefined, SqlError>
  /** The followers who could see it, for taking a deleted status back, with the channels that carried it. */
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
        s.in_reply_to_id IS NOT NULL AND s.in_reply_to_account_id IS DISTINCT FROM s.account_id AS answers,
        ARRAY(SELECT t.name FROM statuses_tags st JOIN tags t ON t.id = st.tag_id WHERE st.status_id = s.id ORDER BY 1) AS tags`
      )

      /** It is ours, and the author has followers elsewhere, somebody there is mentioned, answered or reblogged, or relays hand it on. */
      const federates = federated
        ? sql.literal(`s.local AND (EXISTS (SELECT FROM follows WHERE target_account_id = s.account_id AND remote)
          OR EXISTS (SELECT FROM remote_actors r WHERE r.account_id IN (
            SELECT account_id FROM mentions WHERE status_id = s.id AND NOT silent
            UNION ALL SELECT s.in_reply_to_account_id
            UNION ALL SELECT account_id FROM statuses WHERE id = s.reblog_of_id))
          OR (s.visibility = 'public' AND EXISTS (SELECT FROM relays WHERE state = 'accepted')))`)
        : sql.literal("false")

      /** Its author is in a list, or one of its hashtags is in one or followed. */
      const subscribed = sql.literal(`(EXISTS (SELECT FROM list_accounts WHERE account_id = s.account_id OFFSET 0)
        OR EXISTS (SELECT FROM statuses_tags st WHERE st.status_id = s.id AND (
          EXISTS (SELECT FROM list_tags WHERE tag_id = st.tag_id OFFSET 0)
          OR EXISTS (SELECT FROM tag_follows WHERE tag_id = st.tag_id OFFSET 0)) OFFSET 0))`)

      /** Statuses and a slice of the readers of each. */
      const slices = (rows: number) =>
        Effect.fnUntraced(function*(looks: ReadonlyArray<SliceQuery>) {
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
            FROM unnest(${looks.map(({ statusId }) => statusId)}::bigint[], ${
            looks.map(({ author }) => author)
          }::bigint[],
                ${
            looks.map(({ cursor }) => cursor)
          }::bigint[]) WITH ORDINALITY AS look (status_id, author, cursor, place)
            JOIN statuses s ON s.id = look.status_id
            CROSS JOIN LATERAL (${slice}) slice`)
          const byPlace = new Map(found.map((row) => [row.place - 1, row]))
          return (_: SliceQuery, place: number) => audienceOf(byPlace.get(place), rows)
        })
      const few = gatheredOrAlone({ max: looksMax }, slices(fewReadersMax))

      const followers = traced("StatusReaders.followers")(
        function*(author: AccountId, statusId: bigint, cursor: bigint, rowsMax: number) {
          const [row] = yield* toldRows(sql`SELECT ${facts} FROM statuses s WHERE s.id = ${statusId}`)
          const open = row !== undefined && (isOpen(row.visibility) || row.reblogOfId !== null)
          const seen = open ? sql`true` : sql`EXISTS (SELECT FROM statuses s WHERE s.id = ${statusId}
            AND ${visibleTo(sql, sql.literal("f.account_id"), "s", { author, deletedToo: true })} OFFSET 0)`
          const rows = yield* followerRows(sql`
            SELECT f.id, f.account_id, ${seen} AS seen FROM follows f
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
          const look = { statusId, author, cursor }
          return Effect.map(slices(rows)([look]), (answerOf) => answerOf(look, 0))
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

const ToldStatus = Schema.Struct({
  ...StoredStatus.mapFields(Struct.pick(["visibility", "limited", "local", "reblogOfId"])).fields,
  statusId: StatusId,
  deleted: Schema.Boolean,
  silenced: Schema.Boolean,
  answers: Schema.Boolean,
  media: Schema.Boolean,
  tags: Schema.Array(Schema.String)
})
type ToldStatus = typeof ToldStatus.Type
const toldRows = rowsOf(ToldStatus)

/** A status with a slice: `asked` follows were looked at, the last of which is `last`. */
const ToldSlice = Schema.Struct({
  ...ToldStatus.fields,
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

const audienceOf = (
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

/** streaming.md section 4: public posts that are no reblogs, replies to others by their hashtags only. */
const channelsOf = (
  { answers, local, media, reblogOfId, silenced, tags, visibility }: ToldStatus
): ReadonlyArray<string> => {
  if (visibility !== "public" || reblogOfId !== null || silenced) return []
  const side = local ? "local" : "remote"
  return [
    ...(answers ? [] : ["public", `public:${side}`]),
    ...(answers || !media ? [] : ["public:media", `public:${side}:media`]),
    ...tags.flatMap((tag) => local ? [`hashtag:${tag}`, `hashtag:local:${tag}`] : [`hashtag:${tag}`])
  ]
}
