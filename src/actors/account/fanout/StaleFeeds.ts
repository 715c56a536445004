import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../../../services/database/Ids.ts"
import { rowsMax } from "../../../services/database/Paging.ts"
import { rowsOf } from "../../../services/database/Rows.ts"
import { feedsOf } from "../../../services/feeds/FeedKeys.ts"
import { Feeds, listFeed } from "../../../services/feeds/Feeds.ts"
import { Fanouts } from "../../../services/intents/Fanouts.ts"
import type { StaleFeeds } from "../../../services/intents/Intent.ts"
import type { Owners } from "../core/Ownership.ts"
import { type Slice, SliceRows } from "./Slice.ts"

const readerRows = rowsOf(Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt }))

/** Newest posts of the account whose hashtags and boosts are considered: a feed holds 800. */
const postsMax = 800
/** Maximum boosts of a post, newest first, and boosters in total: their followers' feeds may contain the post. */
const boostsMax = 200
const boostersMax = 5_000

/** Fan-out that drops outdated feeds. Built once per node. */
export const make = Effect.fnUntraced(function*({ owned }: Owners) {
  const sql = yield* SqlClient.SqlClient
  const fanouts = yield* Fanouts
  const feeds = yield* Feeds
  const sliceRows = yield* SliceRows

  const posts = (author: AccountId): Fragment =>
    sql`(SELECT id FROM statuses WHERE account_id = ${author} AND deleted_at IS NULL ORDER BY id DESC
      LIMIT ${rowsMax(sql, postsMax)})`
  const tags = (author: AccountId): Fragment =>
    sql`(SELECT DISTINCT t.tag_id FROM ${posts(author)} p JOIN statuses_tags t ON t.status_id = p.id)`
  const boosters = (author: AccountId): Fragment =>
    sql`(SELECT DISTINCT r.account_id FROM ${posts(author)} p CROSS JOIN LATERAL (SELECT b.account_id FROM statuses b
      WHERE b.reblog_of_id = p.id AND b.deleted_at IS NULL ORDER BY b.id DESC LIMIT ${rowsMax(sql, boostsMax)}) r
      LIMIT ${rowsMax(sql, boostersMax)})`

  /**
   * Accounts that may have the account's posts in a feed, by phase: its followers; followers of its posts' hashtags;
   * owners of lists with these hashtags; followers of accounts that boosted one of its posts.
   */
  const readers: ReadonlyArray<(author: AccountId) => Fragment> = [
    (author) => sql`SELECT m.id, m.account_id FROM follows m WHERE m.target_account_id = ${author} AND NOT m.remote`,
    (author) => sql`SELECT m.id, m.account_id FROM tag_follows m WHERE m.tag_id IN ${tags(author)}`,
    (author) =>
      sql`SELECT m.id, l.account_id FROM list_tags m JOIN lists l ON l.id = m.list_id WHERE m.tag_id IN ${
        tags(author)
      }`,
    (author) =>
      sql`SELECT m.id, m.account_id FROM follows m WHERE m.target_account_id IN ${boosters(author)} AND NOT m.remote`
  ]

  const slice: Slice<StaleFeeds> = (own, at, { followers = false, lists = [], readers: named }) =>
    owned(
      own,
      Effect.gen(function*() {
        const phase = followers ? readers[at.phase] : undefined
        const rows = phase === undefined
          ? []
          : yield* readerRows(
            sql`${phase(own.accountId)} AND m.id > ${at.cursor} ORDER BY m.id LIMIT ${rowsMax(sql, sliceRows)}`
          )
        const all = [...new Set([...named, ...rows.map(({ accountId }) => accountId)])]
        yield* feeds.drop([...(yield* feedsOf(sql, all)), ...lists.map(listFeed)])
        const last = rows.at(-1)
        if (last !== undefined && rows.length === sliceRows) return yield* fanouts.advance(at, at.phase, last.id)
        return yield* phase === undefined || at.phase + 1 === readers.length
          ? fanouts.complete(at)
          : fanouts.advance(at, at.phase + 1, 0n)
      })
    )
  return slice
})
