import { cachedTables } from "../../src/services/database/CachedTables.ts"
import type { Source } from "./source.ts"

/** Tables whose new rows are in no cache yet. */
const unknownWhenNew = new Set([
  "account_stats",
  "accounts",
  "media_attachments",
  "mentions",
  "polls",
  "preview_cards",
  "quotes",
  "status_stats",
  "statuses",
  "users"
])

/** Kinds of changes by table. */
const kinds = new Map(
  cachedTables.flatMap(([kind, tables]) => tables.map((table) => [table, kind] as const))
)

const write = /\b(INSERT INTO|UPDATE|DELETE FROM) ([a-z_]+)\b(?! SET NULL)/g

/** Returns the kinds of changes that a statement makes. */
export const kindsOf = (statement: string): ReadonlyArray<string> => [
  ...new Set([
    ...(/\bupdate\(sql,/.test(statement) ? ["status"] : []),
    ...[...statement.matchAll(write)].flatMap(([, verb, table = ""]) => {
      const kind = kinds.get(table)
      const isNew = verb === "INSERT INTO" && unknownWhenNew.has(table) && !statement.includes("DO UPDATE")
      return kind === undefined || isNew ? [] : [kind]
    })
  ])
]

/** Returns the index after the bracket that closes the one at `at`; skips strings and templates. */
const closing = (text: string, at: number): number => {
  let depth = 0
  for (let i = at; i < text.length; i++) {
    const char = text[i] ?? ""
    if (char === "`" || char === "\"" || char === "'") i = quoteEnd(text, i)
    else if (text.startsWith("//", i)) i = text.indexOf("\n", i)
    else if (text.startsWith("/*", i)) i = text.indexOf("*/", i) + 1
    else if ("([{".includes(char)) depth++
    else if (")]}".includes(char) && --depth === 0) return i + 1
  }
  return text.length
}

/** Returns the index of the quote that ends the string or template at `at`. */
const quoteEnd = (text: string, at: number): number => {
  const quote = text[at]
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === "\\") i++
    else if (quote === "`" && text.startsWith("${", i)) i = closing(text, i + 1) - 1
    else if (text[i] === quote) return i
  }
  return text.length
}

/** Returns the ranges of a file within `tracked(kind, ...)(...)`, or piped to it, by kind. */
const toldRanges = (text: string) =>
  [...text.matchAll(/\btracked\(\s*"([a-z_]+)"/g)].flatMap(({ 0: call, 1: kind, index }) => {
    const end = closing(text, index + call.indexOf("("))
    if (text[end] === "(") return [{ kind, from: index, to: closing(text, end) }]
    return [{ kind, from: pipedFrom(text, index), to: end }]
  })

/** Returns the start of the template that is piped to the call at `index`; `index` if no template is. */
const pipedFrom = (text: string, index: number): number => {
  const pipe = text.lastIndexOf("`.pipe(", index)
  if (pipe === -1 || closing(text, pipe + "`.pipe".length) < index) return index
  for (let at = text.indexOf("sql`"); at !== -1; at = text.indexOf("sql`", at + 1)) {
    if (quoteEnd(text, at + "sql".length) === pipe) return at
  }
  return index
}

/**
 * Writes that need not be published, by file and start of the statement, with the reason. An entry without a statement
 * fails.
 */
const untold: Readonly<Record<string, string>> = {
  "src/actors/account/verbs/Drafting.ts: UPDATE media_attachments SET scheduled_status_id": "files of scheduled posts",
  "src/layers/redis/MissedFeeds.ts: INSERT INTO settings": "notes of the feeds",
  "src/layers/redis/MissedFeeds.ts: DELETE FROM settings": "notes of the feeds",
  "src/services/cards/Cards.ts: WITH busy": "claims a fetch",
  "src/services/cards/Cards.ts: UPDATE preview_cards SET due_at = ${dueAt}": "time of the next fetch",
  "src/services/cards/StatusCards.ts: UPDATE preview_cards SET due_at": "time of the next fetch",
  "src/services/cards/StatusCards.ts: WITH asked": "links of a new or edited post, which is told",
  "src/services/database/Counters.ts: UPDATE account_stats": "part of a statement of StatusWriter, which is tracked",
  "src/services/federation/domains/PublishedBlocks.ts: INSERT INTO settings": "read at each request",
  "src/services/federation/inbox/QuoteConsents.ts: UPDATE quotes SET checked_at": "time of the last check",
  "src/services/federation/inbox/RemoteEmojis.ts: INSERT INTO custom_emojis":
    "the kind covers all posts: remote emoji are renewed as cached posts expire",
  "src/services/federation/outbox/FollowActivities.ts: UPDATE follow_requests SET uri": "id of an activity",
  "src/services/federation/purge/PurgedPosts.ts: DELETE FROM media_attachments": "Purges tracks its result",
  "src/services/federation/purge/PurgedPosts.ts: WITH gone": "Purges tracks its result",
  "src/services/federation/purge/PurgedRows.ts: DELETE FROM interaction_requests": "Purges tracks its result",
  "src/services/federation/purge/PurgedRows.ts: DELETE FROM media_attachments": "files without a post",
  "src/services/federation/purge/PurgedRows.ts: WITH gone": "Purges tracks its result",
  "src/services/federation/purge/PurgedRows.ts: WITH voted": "Purges tracks its result",
  "src/services/identity/TwoFactor.ts: UPDATE users SET otp_last_step": "last accepted code",
  "src/services/identity/Users.ts: UPDATE users SET last_sign_in_at": "shown to staff only",
  "src/services/intents/Retention.ts: DELETE FROM accounts": "never confirmed, so never shown",
  "src/services/intents/Retention.ts: DELETE FROM statuses": "deleted for days",
  "src/services/mastodon/": "copies from another server, before this one runs",
  "src/services/media/Emojis.ts: UPDATE status_stats": "the deletion of the emoji covers all posts",
  "src/services/media/MediaAttachments.ts: UPDATE media_attachments": "files without a post",
  "src/services/media/MediaAttachments.ts: WITH gone": "files without a post",
  "src/services/media/MediaJobs.ts: UPDATE media_attachments": "only ready files are attached to posts",
  "src/services/media/RemoteFiles.ts: UPDATE accounts SET avatar_hash": "read by spam rules only",
  "src/services/media/RemoteRefreshes.ts: INSERT INTO settings": "read at each fetch",
  "src/services/oauth/Visits.ts: WITH seen": "day of the last use",
  "src/services/statuses/HeldStatuses.ts: UPDATE account_stats": "the caller counts the post of the same account",
  "src/services/statuses/InteractionRequests.ts: DELETE FROM interaction_requests WHERE id":
    "the interaction itself is deleted or told",
  "src/services/statuses/StatusRows.ts: UPDATE statuses": "part of statements that are tracked",
  "src/services/trends/StatusTrends.ts: UPDATE accounts SET requested_review_at": "read by trends only",
  "src/services/trends/TrendReviews.ts: UPDATE accounts SET trendable": "read by trends only",
  "src/services/trends/TrendReviews.ts: UPDATE preview_cards SET trendable": "read by trends only"
}

/** Returns the entries whose statements no longer exist. */
export const staleReasons = (sources: ReadonlyArray<Source>): ReadonlyArray<string> => {
  const writes = sources.flatMap((file) => [...outside(file)].map(({ statement }) => `${file.path}: ${statement}`))
  return Object.keys(untold).filter((known) => !writes.some((write) => write.startsWith(known)))
}

/** Finds statements that write cached tables outside of `tracked(kind, ...)`, as "path: kind: statement". */
export const silentWrites = (file: Source): ReadonlyArray<string> =>
  outside(file).filter(({ statement }) =>
    !Object.keys(untold).some((known) => `${file.path}: ${statement}`.startsWith(known))
  ).map(({ kind, statement }) => `${file.path}: ${kind}: ${statement.slice(0, 70)}`)

/** Finds writes of cached tables outside `tracked`. */
const outside = ({ text }: Source) => {
  const ranges = toldRanges(text)
  const found: Array<{ readonly kind: string; readonly statement: string }> = []
  for (let at = text.indexOf("`"); at !== -1; at = text.indexOf("`", at + 1)) {
    const end = quoteEnd(text, at)
    const statement = text.slice(at + 1, end)
    for (const kind of kindsOf(statement)) {
      if (!ranges.some((range) => range.kind === kind && range.from <= at && end <= range.to)) {
        found.push({ kind, statement: statement.replaceAll(/\s+/g, " ").trim() })
      }
    }
    at = end
  }
  return found
}
