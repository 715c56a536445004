import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { isBroadcast } from "../statuses/Visibility.ts"
import { followedConditions, isExcluded, isTagged } from "./FeedConditions.ts"
import { seenMillisMax } from "./StatusSubscribers.ts"

type Condition = keyof ReturnType<typeof followedConditions>

const held: Readonly<Record<Condition, typeof Schema.Boolean>> = {
  posted: Schema.Boolean,
  visible: Schema.Boolean,
  boostedAuthor: Schema.Boolean,
  author: Schema.Boolean,
  mentioned: Schema.Boolean,
  reply: Schema.Boolean,
  language: Schema.Boolean,
  boosts: Schema.Boolean,
  consent: Schema.Boolean
}
const conditions: ReadonlyArray<Condition> = [
  "posted",
  "visible",
  "boostedAuthor",
  "author",
  "mentioned",
  "reply",
  "language",
  "boosts",
  "consent"
]

/** Conditions that the reader's own statuses must meet (`NewestQuery.ofHome`). */
const ofOwn: ReadonlySet<Condition> = new Set(["posted", "visible"])

const FoundReasons = Schema.Struct({
  own: Schema.Boolean,
  deleted: Schema.Boolean,
  follows: Schema.Boolean,
  /** True if the reader follows a hashtag of the status, which is public. */
  hashtag: Schema.Boolean,
  /** True if the home shows the status by a hashtag. */
  tagged: Schema.Boolean,
  excluded: Schema.Boolean,
  seen: Schema.Boolean,
  pending: Schema.Boolean,
  ...held
})
const reasonRows = rowsOf(FoundReasons)

/** Reason for which a home does not show a status; `filling` and `pending` pass by themselves. */
export type HomeReason = Condition | "deleted" | "notFollowed" | "excluded" | "filling" | "pending"

/** Explains why a status is not in a home, by the conditions that write and fill it (`FeedConditions`). */
export class HomeReasons extends Context.Service<HomeReasons, {
  /**
   * Returns all reasons; an empty list if the home shows the status, undefined for an unknown status. Filters of the
   * reader are not considered: they hide posts that are in the home.
   */
  readonly of: (reader: AccountId, statusId: bigint) => Effect.Effect<ReadonlyArray<HomeReason> | undefined>
}>()("murmuration/services/feeds/HomeReasons") {
  static readonly layer = Layer.effect(
    HomeReasons,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const of = traced("HomeReasons.of")(function*(reader: AccountId, statusId: bigint) {
        const millis = yield* Clock.currentTimeMillis
        const now = new Date(millis)
        const each = followedConditions(sql, now)
        const columns = conditions.reduce<Fragment>(
          (before, name) => sql`${before}, coalesce(${each[name]}, false) AS ${sql(name)}`,
          sql`s.account_id = f.account_id AS own`
        )
        const account = sql.literal("f.account_id")
        const [found] = yield* reasonRows(sql`
          SELECT ${columns}, s.deleted_at IS NOT NULL AS deleted, f.follow_id IS NOT NULL AS follows,
            tags.followed AND ${isBroadcast(sql, "s")} AS hashtag,
            tags.followed AND ${isTagged(sql, account, now)} AS tagged,
            ${isExcluded(sql, account)} AS excluded,
            EXISTS (SELECT FROM users u WHERE u.account_id = f.account_id
              AND u.last_seen_at > ${new Date(millis - seenMillisMax)}) AS seen,
            EXISTS (SELECT FROM fanouts waiting WHERE waiting.account_id = s.account_id AND waiting.status_id = s.id) AS pending
          FROM statuses s
          LEFT JOIN statuses o ON o.id = s.reblog_of_id
          CROSS JOIN LATERAL (SELECT asked.account_id, follow.id AS follow_id, follow.languages, follow.show_reblogs
            FROM (VALUES (${reader}::bigint)) AS asked (account_id)
            LEFT JOIN follows follow ON follow.account_id = asked.account_id AND follow.target_account_id = s.account_id) f
          CROSS JOIN LATERAL (SELECT EXISTS (SELECT FROM statuses_tags t JOIN tag_follows tag ON tag.tag_id = t.tag_id
            WHERE t.status_id = s.id AND tag.account_id = f.account_id) AS followed) tags
          WHERE s.id = ${statusId}`)
        if (found === undefined) return undefined
        const delays: ReadonlyArray<HomeReason> = [
          ...(found.pending ? ["pending"] as const : []),
          ...(found.seen ? [] : ["filling"] as const)
        ]
        if (found.deleted) return ["deleted"] as const
        if (found.tagged) return delays
        const unmet = conditions.filter((name) => !found[name])
        const byHashtag = found.hashtag && !found.follows
        const reasons: ReadonlyArray<HomeReason> = found.own ? unmet.filter((name) => ofOwn.has(name)) : [
          ...(found.follows || byHashtag ? [] : ["notFollowed"] as const),
          // Followed hashtags bring replies to anybody.
          ...unmet.filter((name) => name !== "reply" || !byHashtag),
          ...(found.excluded ? ["excluded"] as const : [])
        ]
        return reasons.length > 0 ? reasons : delays
      }, Effect.orDie)
      return HomeReasons.of({ of })
    })
  )
}
