import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { allTrends } from "../../support/Crowd.ts"
import { issueToken } from "../../support/SignedIn.ts"

/* Readers of each status: the rule as a table, and data for it. */

const at = new Date("2026-06-01T12:00:00Z")
const author = 1n
export const people = {
  follower: 2n,
  mentioned: 3n,
  silent: 4n,
  blocked: 5n,
  blocking: 6n,
  stranger: 7n,
  muting: 8n,
  author
}
type Role = keyof typeof people | "anonymous"
export const roles = ["anonymous", ...Object.keys(people)] as ReadonlyArray<Role>
export const suspended = 9n
export const root = 90n
/** One status of each kind; most are replies to the root, which is public. */
export const statuses = {
  public: 100n,
  unlisted: 101n,
  private: 102n,
  direct: 103n,
  deleted: 104n,
  reblog: 105n,
  reblogOfDeleted: 106n,
  suspended: 107n,
  local: 108n,
  localPrivate: 109n,
  localUnlisted: 110n,
  localDirect: 111n,
  localLimited: 112n,
  held: 114n
}
/** Pending request of the stranger's reply. */
export const request = 500n
export type Kind = keyof typeof statuses
export const kinds = Object.keys(statuses) as ReadonlyArray<Kind>

const everybody: ReadonlyArray<Role> = roles
const except = (...left: ReadonlyArray<Role>) => everybody.filter((role) => !left.includes(role))
/** The rule as a table: who may read what. */
const readers: Record<Kind, ReadonlyArray<Role>> = {
  public: except("blocked"),
  unlisted: except("blocked"),
  private: ["author", "follower", "mentioned", "muting"],
  direct: ["author", "mentioned"],
  deleted: [],
  // Another account's reblog of the public post: hidden from accounts that its author blocks.
  reblog: except("blocked"),
  reblogOfDeleted: [],
  suspended: [],
  // Only for signed-in local users.
  local: except("blocked", "anonymous"),
  localPrivate: ["author", "follower", "mentioned", "muting"],
  localUnlisted: except("blocked", "anonymous"),
  localDirect: ["author", "mentioned"],
  localLimited: ["author", "mentioned"],
  // A reply of the stranger that the author has not approved yet.
  held: ["author", "stranger"]
}
export const mayRead = (role: Role, kind: Kind) => readers[kind].includes(role)
export const idsFor = (role: Role, among: ReadonlyArray<Kind>) =>
  among.filter((kind) => mayRead(role, kind)).map((kind) => String(statuses[kind]))
export const hiding: ReadonlySet<Role> = new Set(["blocking", "muting"])

export const listOf = (account: bigint) => 1000n + account
export const tagListOf = (account: bigint) => 2000n + account

export const settle = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO accounts (id, username, suspended_at, created_at, updated_at)
    SELECT i, 'account' || i, CASE WHEN i = ${suspended} THEN ${at}::timestamptz END, ${at}, ${at} FROM generate_series(1::bigint, 9) i`
  yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, created_at)
    SELECT id, id || '@local.example', '', ${at}, ${at} FROM accounts`
  yield* sql`INSERT INTO account_stats (account_id) SELECT id FROM accounts`
  const status = (id: bigint, by: bigint, visibility: string, more: Record<string, unknown> = {}) =>
    sql`INSERT INTO statuses ${
      sql.insert({
        id,
        accountId: by,
        visibility,
        text: "secret",
        html: "<p>secret</p>",
        conversationId: root,
        createdAt: at,
        ...more
      })
    }`
  const response = { inReplyToId: root, inReplyToAccountId: author }
  yield* status(root, author, "public")
  yield* status(statuses.public, author, "public", response)
  yield* status(statuses.unlisted, author, "unlisted", response)
  yield* status(statuses.private, author, "private", response)
  yield* status(statuses.direct, author, "direct", response)
  yield* status(statuses.deleted, author, "public", { ...response, deletedAt: at })
  yield* status(statuses.reblog, people.stranger, "public", { reblogOfId: statuses.public })
  yield* status(statuses.reblogOfDeleted, people.stranger, "public", { reblogOfId: statuses.deleted })
  yield* status(statuses.suspended, suspended, "public")
  yield* status(statuses.local, author, "public", { ...response, localOnly: true })
  yield* status(statuses.localPrivate, author, "private", { ...response, localOnly: true })
  yield* status(statuses.localUnlisted, author, "unlisted", { ...response, localOnly: true })
  yield* status(statuses.localDirect, author, "direct", { ...response, localOnly: true })
  yield* status(statuses.localLimited, author, "direct", { ...response, localOnly: true, limited: true })
  yield* sql`INSERT INTO status_stats (status_id) SELECT id FROM statuses`
  yield* sql`INSERT INTO mentions (status_id, account_id, silent)
    SELECT s.id, m.account, m.silent FROM statuses s, (VALUES (3::bigint, false), (4::bigint, true)) m (account, silent)
    WHERE s.reblog_of_id IS NULL AND s.id <> ${root}`
  yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (1, 2, 1, ${at}), (2, 8, 1, ${at})`
  yield* sql`INSERT INTO blocks (id, account_id, target_account_id) VALUES (1, 1, 5), (2, 6, 1)`
  yield* sql`INSERT INTO mutes (id, account_id, target_account_id, hide_notifications) VALUES (1, 8, 1, false)`
  yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (1, 'katze', 'Katze', ${at})`
  yield* sql`INSERT INTO statuses_tags (tag_id, status_id) SELECT 1, id FROM statuses WHERE reblog_of_id IS NULL`
  yield* allTrends("https://page.test/")
  // Everybody has a list of all authors and one of the hashtag.
  yield* sql`INSERT INTO lists (id, account_id, title, replies_policy, exclusive)
    SELECT id + ${listOf(0n)}::bigint, id, 'people', 'list', false FROM accounts
    UNION ALL SELECT id + ${tagListOf(0n)}::bigint, id, 'words', 'none', false FROM accounts`
  yield* sql`INSERT INTO list_accounts (id, list_id, account_id)
    SELECT row_number() OVER (), a.id + ${listOf(0n)}::bigint, m FROM accounts a, unnest(${[
    author,
    people.stranger,
    suspended
  ]}::bigint[]) m`
  yield* sql`INSERT INTO list_tags (id, list_id, tag_id)
    SELECT row_number() OVER (), id + ${tagListOf(0n)}::bigint, 1 FROM accounts`
  // Interactions and notifications for everything, as may remain from when it was readable.
  yield* sql`INSERT INTO favourites (id, account_id, status_id)
    SELECT row_number() OVER (), a.id, s.id FROM accounts a, statuses s WHERE s.reblog_of_id IS NULL AND s.id <> ${root}`
  yield* sql`INSERT INTO bookmarks (id, account_id, status_id)
    SELECT row_number() OVER (), a.id, s.id FROM accounts a, statuses s WHERE s.reblog_of_id IS NULL AND s.id <> ${root}`
  yield* sql`INSERT INTO notifications (id, account_id, type, from_account_id, status_id, created_at)
    SELECT row_number() OVER (), a.id, 'mention', 7, s.id, ${at} FROM accounts a, statuses s
    WHERE s.reblog_of_id IS NULL AND s.id <> ${root}`
  yield* sql`INSERT INTO account_conversations (id, account_id, conversation_id, participant_ids, status_ids, last_status_id)
    SELECT row_number() OVER (), a.id, ${root}, '{1}', ARRAY[s.id], s.id FROM accounts a, statuses s
    WHERE s.id = ${statuses.direct}`
  yield* status(statuses.held, people.stranger, "direct", response)
  yield* sql`INSERT INTO status_stats (status_id) VALUES (${statuses.held})`
  yield* sql`INSERT INTO mentions (status_id, account_id, quiet) VALUES (${statuses.held}, ${author}, true)`
  yield* sql`INSERT INTO interaction_requests (id, kind, account_id, target_account_id, status_id, interaction_id, visibility, state, created_at)
    VALUES (${request}, 'reply', ${people.stranger}, ${author}, ${root}, ${statuses.held}, 'public', 'pending', ${at})`
  const tokens = yield* Effect.forEach(
    Object.entries(people),
    ([role, id]) => Effect.map(issueToken(id), (bearer): readonly [string, string] => [role, bearer])
  )
  return (role: Role) => new Map(tokens).get(role)
})
