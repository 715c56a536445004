import { Clock, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../../../services/database/Ids.ts"
import { rowsOf, Timestamptz } from "../../../services/database/Rows.ts"
import { Moves } from "../../../services/social/Moves.ts"
import { lockPairs } from "../../../services/visibility/Pairs.ts"
import * as IntentWriter from "../core/IntentWriter.ts"
import type { Ownership } from "../core/Ownership.ts"
import { type Commands, onAccount, type Verbs } from "../core/Verbs.ts"
import * as TellFollowers from "../fanout/TellFollowers.ts"

const Followed = Schema.Struct({
  showReblogs: Schema.Boolean,
  notify: Schema.Boolean,
  languages: Schema.NullOr(Schema.Array(Schema.String))
})
type Followed = typeof Followed.Type
const followedRows = rowsOf(Followed)
const Avoided = Schema.Struct({
  blocks: Schema.Boolean,
  mutes: Schema.Boolean,
  hideNotifications: Schema.Boolean,
  allowReplies: Schema.Boolean,
  expiresAt: Schema.NullOr(Timestamptz),
  follows: Schema.Boolean
})
type Avoided = typeof Avoided.Type
const avoidedRows = rowsOf(Avoided)

/**
 * Moves of accounts, and what followers, blockers and muters of a moved account do: each through its own actor, as if
 * they did it themselves. Other servers learn of a local account's move by its deliveries.
 */
export const make = Effect.fnUntraced(function*(
  relations: Verbs<"Block" | "Follow" | "Mute" | "Unfollow">
) {
  const sql = yield* SqlClient.SqlClient
  const tellFollowers = yield* TellFollowers.make
  const intend = yield* IntentWriter.make
  const moves = yield* Moves

  /**
   * Follows the new account with the old follow's settings and lists. The old follow is kept if the new account
   * refuses.
   */
  const follow = Effect.fnUntraced(function*(own: Ownership, from: AccountId, to: AccountId) {
    const [old] = yield* followedRows(sql`SELECT show_reblogs, notify, languages FROM follows
      WHERE account_id = ${own.accountId} AND target_account_id = ${from}`)
    if (old === undefined) return
    if (own.accountId !== to) {
      const { languages, notify, showReblogs: reblogs } = old
      yield* relations.Follow(own, { _tag: "Follow", target: to, reblogs, notify, languages })
      const now = yield* Clock.currentTimeMillis
      yield* sql`INSERT INTO list_accounts (id, list_id, account_id)
        SELECT next_id(${now}), l.id, ${to}::bigint FROM lists l JOIN list_accounts m ON m.list_id = l.id
        WHERE l.account_id = ${own.accountId} AND m.account_id = ${from} ON CONFLICT DO NOTHING`
    }
    yield* relations.Unfollow(own, { _tag: "Unfollow", target: from })
  })

  /** Copies a block and a mute of the old account to the new one, unless the account follows it. */
  const avoid = Effect.fnUntraced(function*(own: Ownership, from: AccountId, to: AccountId) {
    const { accountId } = own
    const [old] = yield* avoidedRows(sql`SELECT
      EXISTS (SELECT FROM blocks WHERE account_id = ${accountId} AND target_account_id = ${from}) AS blocks,
      EXISTS (SELECT FROM follows WHERE account_id = ${accountId} AND target_account_id = ${to}) AS follows,
      m.id IS NOT NULL AS mutes, coalesce(m.hide_notifications, false) AS hide_notifications,
      coalesce(m.allow_replies, false) AS allow_replies, m.expires_at
      FROM (SELECT 1) one LEFT JOIN mutes m ON m.account_id = ${accountId} AND m.target_account_id = ${from}`)
    if (old === undefined || old.follows || accountId === to) return
    if (old.blocks) yield* relations.Block(own, { _tag: "Block", target: to })
    if (!old.mutes) return
    const left = old.expiresAt === null ? 0 : old.expiresAt.getTime() - (yield* Clock.currentTimeMillis)
    if (left < 0) return
    const seconds = Math.ceil(left / 1000)
    const { allowReplies: replies, hideNotifications: notifications } = old
    yield* relations.Mute(own, { _tag: "Mute", target: to, notifications, replies, seconds })
  })

  const verbs = {
    Move: Effect.fnUntraced(function*(own: Ownership, { target }: Commands["Move"]) {
      yield* moves.perform(own.accountId, target)
      yield* intend(own, { _tag: "record_followers", movedTo: target })
      // The updated profile must name the new account before the Move is delivered.
      yield* tellFollowers(own, "Profile")
      return onAccount(target)
    }),
    Alias: Effect.fnUntraced(function*(own: Ownership, { present, uri }: Commands["Alias"]) {
      yield* moves.alias(own.accountId, uri, present)
      yield* tellFollowers(own, "Profile")
      return onAccount(own.accountId)
    }),
    CarryOver: Effect.fnUntraced(function*(own: Ownership, { from, to }: Commands["CarryOver"]) {
      yield* lockPairs(sql, [[own.accountId, from], [own.accountId, to]])
      // On a refusal the old relations stay as they are.
      yield* Effect.andThen(avoid(own, from, to), follow(own, from, to)).pipe(
        Effect.catchTags({
          NotAllowed: () => Effect.void,
          RecordNotFound: () => Effect.void,
          Unprocessable: () => Effect.void
        })
      )
      return onAccount(to)
    })
  }
  return { verbs }
})
