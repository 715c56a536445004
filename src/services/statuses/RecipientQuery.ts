import { Schema } from "effect"
import { BigInts } from "../database/Rows.ts"
import { hidingBy } from "../visibility/HiddenAccounts.ts"
import { dependsOnFollows, isOpenToAll } from "./InteractionPolicy.ts"
import { quotingOf, type StatusKey, type ViewerState } from "./ViewerState.ts"
import { factsOf, figures, listsOf, noReactions, setOf } from "./ViewerStateQuery.ts"
import type { RelationFacts } from "./Visibility.ts"

/* SQL of `ViewerStates` for one status and many viewers, and the decoding of its row. */

const pairs = (first: string, second: string, table: string, condition: string) =>
  `ARRAY(SELECT unnest(ARRAY[${first}, ${second}]) FROM ${table} WHERE ${condition})`
const accounts = (table: string, condition: string) => `ARRAY(SELECT account_id FROM ${table} WHERE ${condition})`
const among = "account_id = ANY ($1::bigint[])"
const { blocked, domain, muted } = hidingBy("$1::bigint[]", "$3::bigint[]", "$6::timestamptz")

/**
 * Parameters: $1 viewers, $2 the status and its original, $3 their authors, $4 the shown status (the original), $5 its
 * conversation, $6 the time.
 */
const text = `SELECT
  ARRAY(SELECT id FROM statuses WHERE id = ANY ($2::bigint[]) AND deleted_at IS NULL) AS standing,
  ARRAY(SELECT id FROM accounts WHERE id = ANY ($3::bigint[]) AND suspended_at IS NOT NULL) AS suspended,
  ARRAY(SELECT unnest(ARRAY[${figures}]) FROM status_stats
    WHERE status_id = $4::bigint) AS counters,
  ${
  pairs(
    "target_account_id",
    "account_id",
    "blocks",
    "account_id = ANY ($3::bigint[]) AND target_account_id = ANY ($1::bigint[])"
  )
} AS blockers,
  ${
  pairs("account_id", "target_account_id", "follows", `target_account_id = ANY ($3::bigint[]) AND ${among}`)
} AS followed,
  ${
  pairs("account_id", "status_id", "mentions", `status_id = ANY ($2::bigint[]) AND NOT silent AND ${among}`)
} AS mentions,
  ${accounts("favourites", `status_id = $4::bigint AND ${among}`)} AS favourites,
  ${accounts("bookmarks", `status_id = $4::bigint AND ${among}`)} AS bookmarks,
  ${accounts("statuses", `reblog_of_id = $4::bigint AND deleted_at IS NULL AND ${among}`)} AS reblogs,
  ${accounts("conversation_mutes", `conversation_id = $5::bigint AND ${among}`)} AS quiet,
  ${accounts("status_pins", `status_id = $4::bigint AND ${among}`)} AS pins,
  ${
  pairs("account_id", "choice", "poll_votes", `status_id = $4::bigint AND ${among} ORDER BY account_id, place, choice`)
} AS votes,
  ${blocked} AS blocked, ${muted} AS muted, ${domain} AS domain`

/** Viewers whom the author follows: quote policies may depend on that. */
const followersColumn = `,
  ${
  pairs(
    "target_account_id",
    "account_id",
    "follows",
    "account_id = ANY ($3::bigint[]) AND target_account_id = ANY ($1::bigint[])"
  )
} AS followers`

/** Viewers with a pending favourite, if the author decides about favourites. */
const askedColumn = `,
  ${
  accounts("interaction_requests", `status_id = $4::bigint AND kind = 'favourite' AND state = 'pending' AND ${among}`)
} AS asked`

/** Query texts by columns, cached so that each is built once. */
const texts = [text, text + followersColumn, text + askedColumn, text + followersColumn + askedColumn] as const

export const textOf = (status: StatusKey): string => {
  const { control, quoting } = status.original ?? status
  const asks = control !== undefined && !isOpenToAll(control, "canLike")
  return dependsOnFollows(quoting) ? texts[asks ? 3 : 1] : texts[asks ? 2 : 0]
}

export const parameters = (viewers: ReadonlyArray<bigint>, status: StatusKey, now: Date): ReadonlyArray<unknown> => {
  const shown = status.original ?? status
  const [ids, authors] = [new Set([status.id, shown.id]), new Set([status.accountId, shown.accountId])]
  return [[...new Set(viewers)], [...ids], [...authors], shown.id, shown.conversationId, now]
}

export const Row = Schema.Struct({
  standing: BigInts,
  suspended: BigInts,
  counters: Schema.Array(Schema.Int),
  blockers: BigInts,
  followed: BigInts,
  mentions: BigInts,
  favourites: BigInts,
  bookmarks: BigInts,
  reblogs: BigInts,
  quiet: BigInts,
  pins: BigInts,
  votes: BigInts,
  followers: Schema.optionalKey(BigInts),
  asked: Schema.optionalKey(BigInts),
  blocked: BigInts,
  muted: BigInts,
  domain: BigInts
})
export type Row = typeof Row.Type

/** Decodes `first,second,first,second ...` to a set of seconds for each first. */
const pairsOf = (flat: ReadonlyArray<bigint> = []) => {
  const found = new Map<bigint, Set<bigint>>()
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const [first = 0n, second = 0n] = [flat[at], flat[at + 1]]
    const seconds = found.get(first)
    if (seconds === undefined) found.set(first, new Set([second]))
    else seconds.add(second)
  }
  return found
}

export const decodeRow = (row: Row, status: StatusKey) => {
  const [blockers, followed, mentions] = [pairsOf(row.blockers), pairsOf(row.followed), pairsOf(row.mentions)]
  const [favourites, bookmarks, reblogs] = [setOf(row.favourites), setOf(row.bookmarks), setOf(row.reblogs)]
  const [quiet, pins, votes] = [setOf(row.quiet), setOf(row.pins), listsOf(row.votes)]
  const [repliesCount = 0, reblogsCount = 0, favouritesCount = 0, quotesCount = 0, reactionsCount = 0] = row.counters
  const shown = status.original ?? status
  const [followers, asked] = [pairsOf(row.followers), setOf(row.asked)]
  const hiding = { blocked: setOf(row.blocked), muted: setOf(row.muted), domain: setOf(row.domain) }
  return {
    hasReactions: reactionsCount > 0,
    facts: factsOf(status, { standingIds: setOf(row.standing), suspended: setOf(row.suspended) }),
    hiding,
    hides: (viewer: bigint) => Object.values(hiding).some((viewers) => viewers.has(viewer)),
    relations: (viewer: bigint): RelationFacts => ({
      member: true,
      follows: (author) => followed.get(viewer)?.has(author) === true,
      blockedBy: (author) => blockers.get(viewer)?.has(author) === true,
      mentionedIn: (id) => mentions.get(viewer)?.has(id) === true
    }),
    /** State without reactions. */
    state: (viewer: bigint): ViewerState => ({
      repliesCount,
      reblogsCount,
      favouritesCount,
      quotesCount,
      quoting: quotingOf(viewer, shown, {
        follows: followed.get(viewer)?.has(shown.accountId) === true,
        followed: followers.get(viewer)?.has(shown.accountId) === true
      }),
      // A pending favourite counts as one for its account.
      favourited: favourites.has(viewer) || asked.has(viewer),
      bookmarked: bookmarks.has(viewer),
      reblogged: reblogs.has(viewer),
      muted: quiet.has(viewer),
      pinned: pins.has(viewer),
      votes: votes.get(viewer) ?? [],
      reactions: noReactions
    })
  }
}
