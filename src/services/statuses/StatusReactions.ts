import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { traced } from "../runtime/Traced.ts"
import { isHidden } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import {
  emojiColumns,
  EmojiRow,
  isEmoji,
  isShown,
  namedAs,
  type Reaction,
  type ReactionEmoji,
  reactionsMax
} from "./ReactionEmoji.ts"

/** Maximum accounts listed for each emoji: of all emoji of a status, and of a single one. */
const accountsOfEachMax = 20
const accountsOfOneMax = 80

/** A reaction with its first accounts. */
interface ReactionPeople extends Reaction {
  readonly accountIds: ReadonlyArray<bigint>
}

const Emoji = Schema.Struct({ name: Schema.String, customEmojiId: Schema.NullOr(Schema.BigInt) })
const reactionRows = rowsOf(Schema.Struct({
  ...EmojiRow.fields,
  ...Emoji.fields,
  statusId: Schema.BigInt,
  count: Schema.Int,
  me: Schema.Boolean
}))
const ownRows = rowsOf(Schema.Struct({ ...Emoji.fields, accountId: Schema.BigInt }))
const lastRows = rowsOf(Schema.Struct({ ...EmojiRow.fields, accountId: Schema.BigInt, statusId: Schema.BigInt }))
const peopleRows = rowsOf(Schema.Struct({
  ...EmojiRow.fields,
  count: Schema.Int,
  me: Schema.Boolean,
  accountIds: Schema.Array(Schema.BigInt)
}))

/** Reads emoji reactions to statuses. */
export class StatusReactions extends Context.Service<StatusReactions, {
  /** Returns the last emoji of accounts on statuses, by `account status`; one query. */
  readonly last: (
    pairs: ReadonlyArray<{ readonly accountId: bigint; readonly statusId: bigint }>
  ) => Effect.Effect<ReadonlyMap<string, Pick<Reaction, "name" | "url">>>
  /** Returns the reactions of statuses, for one viewer; one query. */
  readonly of: (
    viewer: Viewer,
    statusIds: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyMap<bigint, ReadonlyArray<Reaction>>, SqlError>
  /** Returns the reactions of one status, for many viewers; two queries. */
  readonly forViewers: (
    viewers: ReadonlyArray<bigint>,
    statusId: bigint
  ) => Effect.Effect<(viewer: bigint) => ReadonlyArray<Reaction>, SqlError>
  /**
   * Returns the reactions of a status, or those with one emoji, with accounts. The caller must check that the viewer
   * may see the status; accounts that the viewer hides are omitted.
   */
  readonly people: (
    viewer: Viewer,
    statusId: bigint,
    emoji?: ReactionEmoji
  ) => Effect.Effect<ReadonlyArray<ReactionPeople>>
}>()("murmuration/services/statuses/StatusReactions") {
  static readonly layer = Layer.effect(StatusReactions, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const config = yield* ServerConfig
  const isSame = sql`r.status_id = c.status_id AND r.name = c.name
    AND coalesce(r.custom_emoji_id, 0) = coalesce(c.custom_emoji_id, 0)`

  const load = (viewer: Viewer, statusIds: ReadonlyArray<bigint>) =>
    reactionRows(sql`
      SELECT c.status_id, c.count, c.custom_emoji_id, ${emojiColumns(sql)}, EXISTS (SELECT FROM emoji_reactions r
        WHERE r.account_id = ${viewer ?? 0n} AND ${isSame} OFFSET 0) AS me
      FROM unnest(${statusIds}::bigint[]) AS wanted (id)
      CROSS JOIN LATERAL (SELECT * FROM emoji_reaction_counts c WHERE c.status_id = wanted.id
        ORDER BY c.id LIMIT ${rowsMax(sql, reactionsMax)}) c
      LEFT JOIN custom_emojis e ON e.id = c.custom_emoji_id
      WHERE ${isShown(sql)} ORDER BY c.status_id, c.id`)
  const reactionOf = (row: EmojiRow & { readonly count: number }, me: boolean): Reaction => ({
    ...namedAs(config, row),
    count: row.count,
    me
  })

  const of = Effect.fnUntraced(function*(viewer: Viewer, statusIds: ReadonlyArray<bigint>) {
    const rows = statusIds.length === 0 ? [] : yield* load(viewer, statusIds)
    const byStatus = Map.groupBy(rows, ({ statusId }) => statusId)
    return new Map(Array.from(byStatus, ([id, all]) => [id, all.map((row) => reactionOf(row, row.me))]))
  })

  const forViewers = Effect.fnUntraced(function*(viewers: ReadonlyArray<bigint>, statusId: bigint) {
    const rows = yield* load(undefined, [statusId])
    const own = yield* ownRows(sql`SELECT account_id, name, custom_emoji_id FROM emoji_reactions
      WHERE status_id = ${statusId} AND account_id = ANY (${[...new Set(viewers)]}::bigint[])`)
    const nameOf = ({ customEmojiId, name }: typeof Emoji.Type) => `${name} ${customEmojiId}`
    const byViewer = Map.groupBy(own, ({ accountId }) => accountId)
    return (viewer: bigint) => {
      const names = new Set(byViewer.get(viewer)?.map(nameOf))
      return rows.map((row) => reactionOf(row, names.has(nameOf(row))))
    }
  })

  const last: StatusReactions["Service"]["last"] = traced("StatusReactions.last")(function*(pairs) {
    if (pairs.length === 0) return new Map()
    const rows = yield* lastRows(sql`
      SELECT c.account_id, c.status_id, ${emojiColumns(sql)}
      FROM unnest(${pairs.map(({ accountId }) => accountId)}::bigint[], ${
      pairs.map(({ statusId }) => statusId)
    }::bigint[]) AS wanted (account_id, status_id)
      CROSS JOIN LATERAL (SELECT * FROM emoji_reactions r WHERE r.account_id = wanted.account_id
        AND r.status_id = wanted.status_id ORDER BY r.id DESC LIMIT 1) c
      LEFT JOIN custom_emojis e ON e.id = c.custom_emoji_id WHERE ${isShown(sql)}`)
    return new Map(rows.map((row) => [`${row.accountId} ${row.statusId}`, namedAs(config, row)]))
  }, Effect.orDie)

  const people: StatusReactions["Service"]["people"] = traced("StatusReactions.people")(
    function*(viewer, statusId, emoji) {
      const now = new Date(yield* Clock.currentTimeMillis)
      const welcome = viewer === undefined
        ? sql``
        : sql` AND NOT ${isHidden(sql, sql`${viewer}::bigint`, sql`r.account_id`, now)}`
      const rows = yield* peopleRows(sql`
        SELECT c.count, ${emojiColumns(sql)}, EXISTS (SELECT FROM emoji_reactions r
            WHERE r.account_id = ${viewer ?? 0n} AND ${isSame} OFFSET 0) AS me,
          ARRAY(SELECT r.account_id FROM emoji_reactions r
            WHERE ${isSame} AND NOT ${isSuspended(sql, sql`r.account_id`)}${welcome}
            ORDER BY r.id LIMIT ${
        rowsMax(sql, emoji === undefined ? accountsOfEachMax : accountsOfOneMax)
      }) AS account_ids
        FROM emoji_reaction_counts c LEFT JOIN custom_emojis e ON e.id = c.custom_emoji_id
        WHERE c.status_id = ${statusId} AND ${isShown(sql)} ${
        emoji === undefined ? sql`` : sql`AND ${isEmoji(sql, "c", emoji)}`
      } ORDER BY c.id LIMIT ${rowsMax(sql, reactionsMax)}`)
      return rows.map((row) => Object.assign(reactionOf(row, row.me), { accountIds: row.accountIds }))
    },
    Effect.orDie
  )

  return StatusReactions.of({
    of: traced("StatusReactions.of")(of),
    forViewers: traced("StatusReactions.forViewers")(forViewers),
    last,
    people
  })
})
