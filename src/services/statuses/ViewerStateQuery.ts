import { Schema } from "effect"
import { BigInts } from "../database/Rows.ts"
import { hiddenAmong, hiddenBy } from "../visibility/HiddenAccounts.ts"
import type { Viewer } from "../visibility/Viewer.ts"
import { dependsOnFollows, isOpenToAll } from "./InteractionPolicy.ts"
import { type Hiding, quotingOf, type StatusKey, type ViewerState } from "./ViewerState.ts"
import { isPublicOrUnlisted, type RelationFacts, type StatusFacts } from "./Visibility.ts"

/* SQL of `ViewerStates` for a page of statuses, and the decoding of its row. */

/* Bits of a query variant: what a page needs to query. */
const signedIn = 1
const restricted = 2
const own = 4
const hidesAuthors = 8
const remote = 16
const permitted = 32
const polling = 64
const quoted = 128
const following = 256
const asking = 512

/** Returns the ids of a page and its query variant; "quoted" queries how authors are hidden. */
export const parametersOf = (viewer: Viewer, page: ReadonlyArray<StatusKey>, hiding: Hiding | "quoted") => {
  const [statuses, authors, conversations] = [new Set<bigint>(), new Set<bigint>(), new Set<bigint>()]
  let variant = viewer === undefined ? 0 : hiding === "authors" ? signedIn | hidesAuthors : signedIn
  if (hiding === "permitted") variant |= permitted
  if (hiding === "quoted" && viewer !== undefined) variant |= quoted
  const ask = (status: StatusKey) => {
    if (hiding !== "permitted" || status.original === undefined) statuses.add(status.id)
    authors.add(status.accountId)
    if (viewer === undefined) return
    if (status.accountId === viewer) variant |= own
    else if (!isPublicOrUnlisted(status.visibility) && hiding !== "permitted") variant |= restricted
    if (!status.local && hiding === "authors") variant |= remote
    if (status.poll) variant |= polling
    if (status.control !== undefined && !isOpenToAll(status.control, "canLike")) variant |= asking
    if (dependsOnFollows(status.quoting)) variant |= following
  }
  for (const status of page) {
    ask(status)
    if (status.original !== undefined) ask(status.original)
    conversations.add((status.original ?? status).conversationId)
  }
  return { variant, statuses: [...statuses], authors: [...authors], conversations: [...conversations] }
}

const list = (column: string, table: string, condition: string) =>
  `ARRAY(SELECT ${column} FROM ${table} WHERE ${condition})`
const ownList = (column: string, table: string, ids: string) =>
  list(column, table, `account_id = $3::bigint AND ${column} = ANY ($${ids}::bigint[])`)

/**
 * Displayed counters: this server knows only a part of a remote status's reactions, so its origin's totals may be
 * higher.
 */
export const figures =
  "replies_count, greatest(reblogs_count, stated_reblogs), greatest(favourites_count, stated_favourites), quotes_count, reactions_count"

/**
 * Returns the query of a variant: one row of id arrays. $1 statuses, $2 authors, $3 the viewer, $4 conversations, $5
 * the time.
 */
export const textOf = (variant: number): string => {
  const columns = [
    list(
      `unnest(ARRAY[status_id, ${figures}])`,
      "status_stats",
      "status_id = ANY ($1::bigint[]) AND (replies_count > 0 OR reblogs_count > 0 OR favourites_count > 0 " +
        "OR stated_reblogs > 0 OR stated_favourites > 0 OR quotes_count > 0 OR reactions_count > 0)"
    ) + " AS counters"
  ]
  if (!(variant & permitted)) {
    columns.push(
      list("id", "statuses", "id = ANY ($1::bigint[]) AND deleted_at IS NULL") + " AS standing",
      list("id", "accounts", "id = ANY ($2::bigint[]) AND suspended_at IS NOT NULL") + " AS suspended"
    )
    if (variant & signedIn) {
      columns.push(
        list("account_id", "blocks", "target_account_id = $3::bigint AND account_id = ANY ($2::bigint[])") +
          " AS blockers"
      )
    }
  }
  if (variant & signedIn) {
    columns.push(
      ownList("status_id", "favourites", "1") + " AS favourites",
      ownList("status_id", "bookmarks", "1") + " AS bookmarks",
      ownList("reblog_of_id", "statuses", "1").slice(0, -1) + " AND deleted_at IS NULL) AS reblogs",
      ownList("conversation_id", "conversation_mutes", "4") + " AS quiet"
    )
  }
  if (variant & (restricted | following)) columns.push(ownList("target_account_id", "follows", "2") + " AS followed")
  if (variant & following) {
    columns.push(
      list("account_id", "follows", "target_account_id = $3::bigint AND account_id = ANY ($2::bigint[])") +
        " AS followers"
    )
  }
  if (variant & restricted) {
    columns.push(
      ownList("status_id", "mentions", "1").slice(0, -1) + " AND NOT silent) AS mentions"
    )
  }
  if (variant & asking) {
    const asked = ownList("status_id", "interaction_requests", "1").slice(0, -1)
    columns.push(`${asked} AND kind = 'favourite' AND state = 'pending') AS asked`)
  }
  if (variant & own) columns.push(ownList("status_id", "status_pins", "1") + " AS pins")
  if (variant & polling) {
    columns.push(
      list(
        "unnest(ARRAY[status_id, choice])",
        "(SELECT status_id, choice FROM poll_votes WHERE account_id = $3::bigint AND status_id = ANY ($1::bigint[]) " +
          "ORDER BY status_id, place, choice) v",
        "true"
      ) + " AS votes"
    )
  }
  if (variant & hidesAuthors) {
    columns.push(
      hiddenAmong("$3::bigint", "$2::bigint[]", "$5::timestamptz", (variant & remote) !== 0) + " AS hidden"
    )
  }
  if (variant & quoted) {
    const { blocked, domain, muted } = hiddenBy("$3::bigint", "$2::bigint[]", "$5::timestamptz")
    columns.push(`${blocked} AS blocked`, `${muted} AS muted`, `${domain} AS domain`)
  }
  return `SELECT ${columns.join(", ")}`
}

const asked = Schema.optionalKey(BigInts)
/** Columns that the variant omits are undefined. */
export const Row = Schema.Struct({
  counters: BigInts,
  standing: asked,
  suspended: asked,
  blockers: asked,
  favourites: asked,
  bookmarks: asked,
  reblogs: asked,
  quiet: asked,
  followed: asked,
  followers: asked,
  blocked: asked,
  muted: asked,
  domain: asked,
  mentions: asked,
  pins: asked,
  hidden: asked,
  votes: asked,
  asked
})
export type Row = typeof Row.Type

const nobody: ReadonlySet<bigint> = new Set()
export const setOf = (ids: ReadonlyArray<bigint> | undefined) =>
  ids === undefined || ids.length === 0 ? nobody : new Set(ids)

const none: ReadonlyArray<number> = []
export const noReactions: ViewerState["reactions"] = []
/** Decodes `id,number,id,number ...` to a list of numbers for each id. */
export const listsOf = (flat: ReadonlyArray<bigint> = []): ReadonlyMap<bigint, ReadonlyArray<number>> => {
  const found = new Map<bigint, ReadonlyArray<number>>()
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const id = flat[at] ?? 0n
    found.set(id, [...found.get(id) ?? none, Number(flat[at + 1])])
  }
  return found
}

const nothing: Row = { counters: [] }

export const decodeRow = (viewer: Viewer, row: Row = nothing) => {
  const { counters } = row
  const places = new Map<bigint, number>()
  const reacted: Array<bigint> = []
  for (let at = 0; at < counters.length; at += 6) {
    const id = counters[at] ?? 0n
    places.set(id, at)
    if (counters[at + 5] !== 0n) reacted.push(id)
  }
  const countOf = (place: number | undefined, column: number) =>
    place === undefined ? 0 : Number(counters[place + column] ?? 0n)
  const followers = setOf(row.followers)
  const [blockers, followed, mentions] = [setOf(row.blockers), setOf(row.followed), setOf(row.mentions)]
  const asked = setOf(row.asked)
  const [favourites, reblogs, bookmarks] = [setOf(row.favourites), setOf(row.reblogs), setOf(row.bookmarks)]
  const [quiet, pins, votes] = [setOf(row.quiet), setOf(row.pins), listsOf(row.votes)]
  const relations: RelationFacts = {
    // Remote viewers fetch documents, which do not use this query.
    member: viewer !== undefined,
    follows: (author) => followed.has(author),
    blockedBy: (author) => blockers.has(author),
    mentionedIn: (status) => mentions.has(status)
  }
  return {
    standingIds: setOf(row.standing),
    suspended: setOf(row.suspended),
    hidden: setOf(row.hidden),
    hiddenBy: { blocked: setOf(row.blocked), muted: setOf(row.muted), domain: setOf(row.domain) },
    relations,
    /** Statuses with reactions. */
    reacted,
    /** State without reactions. */
    state: (status: StatusKey): ViewerState => {
      const { accountId, conversationId, id } = status
      const place = places.get(id)
      const follows = { follows: followed.has(accountId), followed: followers.has(accountId) }
      return {
        repliesCount: countOf(place, 1),
        reblogsCount: countOf(place, 2),
        favouritesCount: countOf(place, 3),
        quotesCount: countOf(place, 4),
        quoting: quotingOf(viewer, status, follows),
        // A pending favourite counts as one for its account.
        favourited: favourites.has(id) || asked.has(id),
        reblogged: reblogs.has(id),
        bookmarked: bookmarks.has(id),
        muted: quiet.has(conversationId),
        pinned: pins.has(id),
        votes: votes.get(id) ?? none,
        reactions: noReactions
      }
    }
  }
}

/** Returns the facts for `canSee`; a status without a row counts as deleted. */
export const factsOf = (
  status: StatusKey,
  loaded: { readonly standingIds: ReadonlySet<bigint>; readonly suspended: ReadonlySet<bigint> }
): StatusFacts => ({
  id: status.id,
  accountId: status.accountId,
  visibility: status.visibility,
  localOnly: status.localOnly,
  deleted: !loaded.standingIds.has(status.id),
  authorSuspended: loaded.suspended.has(status.accountId),
  reblogOf: status.original === undefined ? undefined : factsOf(status.original, loaded)
})
