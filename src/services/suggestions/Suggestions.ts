import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import * as Cache from "../caching/Cache.ts"
import { Changes } from "../caching/Changes.ts"
import type { AccountId } from "../database/Ids.ts"
import { idAt } from "../database/Ids.ts"
import { type OffsetPage, rowsMax } from "../database/Paging.ts"
import { idRows, rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { isSuggestible } from "./Candidates.ts"

/** Reasons for a suggestion; Mastodon has no name for interactions. */
export const SuggestionSource = Schema.Literals(["friends_of_friends", "most_followed", "most_interactions"])
type SuggestionSource = typeof SuggestionSource.Type

/** Weight of an interaction (limits-and-rates.md section 5). */
const weights = { reply: 1, favourite: 10, reblog: 20 }
/** Maximum age of an interaction, in milliseconds, and maximum interactions of each kind, newest first. */
const interactionMillisMax = 90 * 86_400_000
const interactionsMax = 1_000
/** Maximum suggested accounts by interactions, by weight. */
const scoredMax = 80
/**
 * Maximum followed accounts whose follows are read, newest first; maximum follows of each; and maximum suggested
 * accounts from these.
 */
const friendsMax = 100
const followsOfFriendMax = 100
const friendsOfFriendsMax = 120
/** Maximum suggested popular accounts of each source. */
const popularMax = 40
/** Maximum age of cached friends of friends, in milliseconds, and maximum cached viewers. */
const friendsMillisMax = 15 * 60_000
const peopleKeptMax = 2_000
/** Maximum remembered dismissals, newest first. */
const dismissedMax = 5_000

/** A suggested account, not yet followed. */
interface Suggestion {
  readonly accountId: bigint
  readonly interactedWith: boolean
  /** Empty if interactions are the only reason. */
  readonly sources: ReadonlyArray<SuggestionSource>
}

const sourceRows = rowsOf(Schema.Struct({ id: Schema.BigInt, sources: Schema.Array(SuggestionSource) }))

/** Follow suggestions (S-156, S-157, S-293). */
export class Suggestions extends Context.Service<Suggestions, {
  /** Returns accounts that the viewer interacted with: by the day of their last post, newest first, then by weight. */
  readonly interactedWith: (viewer: AccountId, stretch: OffsetPage) => Effect.Effect<ReadonlyArray<bigint>>
  /** Returns accounts by interactions, then friends of friends, then popular ones. */
  readonly all: (viewer: AccountId, stretch: OffsetPage) => Effect.Effect<ReadonlyArray<Suggestion>>
  /** Dismisses a suggestion permanently. */
  readonly dismiss: (viewer: AccountId, target: AccountId) => Effect.Effect<void>
}>()("murmuration/services/suggestions/Suggestions") {
  static readonly layer = Layer.effect(
    Suggestions,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const cache = yield* Cache.make<AccountId, ReadonlyArray<bigint>>({
        max: { entries: peopleKeptMax },
        millisMax: friendsMillisMax,
        aloneMillisMax: friendsMillisMax
      })
      const clock = Effect.map(Clock.currentTimeMillis, (millis) => new Date(millis))

      const scored = traced("Suggestions.scored")(function*(viewer: AccountId) {
        const now = yield* clock
        const since = idAt(now.getTime() - interactionMillisMax)
        const most = rowsMax(sql, interactionsMax)
        const rows = yield* idRows(sql`
          WITH own AS MATERIALIZED (SELECT id, reblog_of_id, in_reply_to_account_id FROM statuses
              WHERE account_id = ${viewer} AND id > ${since} AND deleted_at IS NULL ORDER BY id DESC LIMIT ${most}),
          interactions AS (
            SELECT s.account_id, f.id, ${weights.favourite}::int AS weight FROM (SELECT id, status_id FROM favourites
              WHERE account_id = ${viewer} AND id > ${since} ORDER BY id DESC LIMIT ${most}) f JOIN statuses s ON s.id = f.status_id
            UNION ALL SELECT s.account_id, own.id, ${weights.reblog}::int FROM own JOIN statuses s ON s.id = own.reblog_of_id
            UNION ALL SELECT in_reply_to_account_id, id, ${weights.reply}::int FROM own WHERE in_reply_to_account_id IS NOT NULL),
          scored AS (SELECT i.account_id, sum(i.weight) AS score FROM interactions i
            LEFT JOIN dismissed_suggestions d ON d.account_id = ${viewer} AND d.target_account_id = i.account_id
            WHERE i.account_id <> ${viewer} AND (d.id IS NULL OR i.id > d.id) GROUP BY i.account_id),
          best AS (SELECT a.id, scored.score FROM scored JOIN accounts a ON a.id = scored.account_id
            WHERE ${isSuggestible(sql, viewer, now)} ORDER BY scored.score DESC, a.id LIMIT ${rowsMax(sql, scoredMax)})
          SELECT best.id FROM best LEFT JOIN account_stats n ON n.account_id = best.id
          ORDER BY (n.last_status_at AT TIME ZONE 'UTC')::date DESC NULLS LAST, best.score DESC,
            n.last_status_at DESC NULLS LAST, best.id DESC`)
        return rows.map(({ id }) => id)
      }, Effect.orDie)

      /**
       * Returns the accounts that the viewer's follows follow, most common first; skips those who hide their follows.
       */
      const friendsOfFriends = (viewer: AccountId) =>
        cache.get(
          viewer,
          Effect.map(
            idRows(sql`
              SELECT second.id FROM (SELECT f.target_account_id AS id FROM follows f JOIN accounts friend
                  ON friend.id = f.target_account_id AND friend.hide_collections IS NOT TRUE AND friend.suspended_at IS NULL
                WHERE f.account_id = ${viewer} ORDER BY f.id DESC LIMIT ${rowsMax(sql, friendsMax)}) first
              CROSS JOIN LATERAL (SELECT g.target_account_id AS id FROM follows g WHERE g.account_id = first.id
                ORDER BY g.id DESC LIMIT ${rowsMax(sql, followsOfFriendMax)}) second
              JOIN accounts a ON a.id = second.id AND a.discoverable AND NOT a.locked AND a.suspended_at IS NULL
              WHERE a.id <> ${viewer} AND NOT EXISTS (SELECT FROM follows own
                WHERE own.account_id = ${viewer} AND own.target_account_id = a.id OFFSET 0)
              GROUP BY second.id ORDER BY count(*) DESC, second.id DESC LIMIT ${rowsMax(sql, friendsOfFriendsMax)}`),
            (rows) => rows.map(({ id }) => id)
          )
        )

      const interactedWith = traced("Suggestions.interactedWith")(function*(
        viewer: AccountId,
        { limit, offset }: OffsetPage
      ) {
        return (yield* scored(viewer)).slice(offset, offset + limit)
      })

      const all = traced("Suggestions.all")(function*(viewer: AccountId, { limit, offset }: OffsetPage) {
        const known = yield* scored(viewer)
        const friends = yield* friendsOfFriends(viewer)
        const now = yield* clock
        // An account with several reasons is placed by the first one.
        const others = yield* sourceRows(sql`
          WITH named (id, source, place) AS (
            SELECT id, 'friends_of_friends', place FROM unnest(${friends}::bigint[]) WITH ORDINALITY f (id, place)
            UNION ALL SELECT account_id, source, ${friendsOfFriendsMax}::bigint + place FROM popular_accounts
              WHERE place <= ${popularMax})
          SELECT a.id, array_agg(named.source ORDER BY named.source) AS sources FROM named JOIN accounts a ON a.id = named.id
          WHERE a.discoverable AND ${isSuggestible(sql, viewer, now)}
          GROUP BY a.id ORDER BY min(named.place), a.id`)
        const reasons = new Map(others.map(({ id, sources }) => [id, sources]))
        const first = new Set(known)
        return [...known, ...others.flatMap(({ id }) => first.has(id) ? [] : [id])]
          .slice(offset, offset + limit)
          .map((accountId) => ({
            accountId,
            interactedWith: first.has(accountId),
            sources: reasons.get(accountId) ?? []
          }))
      }, Effect.orDie)

      const dismiss = traced("Suggestions.dismiss")(function*(viewer: AccountId, target: AccountId) {
        const now = yield* Clock.currentTimeMillis
        yield* sql`INSERT INTO dismissed_suggestions (id, account_id, target_account_id, for_good)
          VALUES (next_id(${now}), ${viewer}, ${target}, true)
          ON CONFLICT (account_id, target_account_id) DO UPDATE SET for_good = true`
        yield* sql`DELETE FROM dismissed_suggestions WHERE id IN (SELECT id FROM dismissed_suggestions
          WHERE account_id = ${viewer} ORDER BY id DESC OFFSET ${dismissedMax})`
      }, Effect.orDie)

      return Suggestions.of({ all, dismiss, interactedWith })
    })
  ).pipe(Layer.provide(Changes.layer))
}
