import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { allTrends } from "../../support/Crowd.ts"
import { get, ids, postJson, send } from "../../support/Requests.ts"
import { token } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const at = new Date("2026-06-01T12:00:00Z")
const author = 1n
const people = { follower: 2n, mentioned: 3n, silent: 4n, blocked: 5n, blocking: 6n, stranger: 7n, muting: 8n, author }
type Role = keyof typeof people | "anonymous"
const roles = ["anonymous", ...Object.keys(people)] as ReadonlyArray<Role>
const suspended = 9n
const root = 90n
/** One status of each kind; most are answers to the root, which is public. */
const statuses = {
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
/** What waits for its approval by the author, as the stranger asked. */
const request = 500n
type Kind = keyof typeof statuses
const kinds = Object.keys(statuses) as ReadonlyArray<Kind>

const everybody: ReadonlyArray<Role> = roles
const except = (...left: ReadonlyArray<Role>) => everybody.filter((role) => !left.includes(role))
/** The rule in a table: who may read what. */
const readers: Record<Kind, ReadonlyArray<Role>> = {
  public: except("blocked"),
  unlisted: except("blocked"),
  private: ["author", "follower", "mentioned", "muting"],
  direct: ["author", "mentioned"],
  deleted: [],
  // Somebody else's reblog of the public one: gone for whom its author blocks.
  reblog: except("blocked"),
  reblogOfDeleted: [],
  suspended: [],
  // For people of this server: nobody who is not signed in, and nobody from elsewhere.
  local: except("blocked", "anonymous"),
  localPrivate: ["author", "follower", "mentioned", "muting"],
  localUnlisted: except("blocked", "anonymous"),
  localDirect: ["author", "mentioned"],
  localLimited: ["author", "mentioned"],
  // A reply of the stranger that the author has still to let in.
  held: ["author", "stranger"]
}
const mayRead = (role: Role, kind: Kind) => readers[kind].includes(role)
const idsFor = (role: Role, among: ReadonlyArray<Kind>) =>
  among.filter((kind) => mayRead(role, kind)).map((kind) => String(statuses[kind]))
const hiding: ReadonlySet<Role> = new Set(["blocking", "muting"])

const listOf = (account: bigint) => 1000n + account
const tagListOf = (account: bigint) => 2000n + account

const settle = Effect.gen(function*() {
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
  const answer = { inReplyToId: root, inReplyToAccountId: author }
  yield* status(root, author, "public")
  yield* status(statuses.public, author, "public", answer)
  yield* status(statuses.unlisted, author, "unlisted", answer)
  yield* status(statuses.private, author, "private", answer)
  yield* status(statuses.direct, author, "direct", answer)
  yield* status(statuses.deleted, author, "public", { ...answer, deletedAt: at })
  yield* status(statuses.reblog, people.stranger, "public", { reblogOfId: statuses.public })
  yield* status(statuses.reblogOfDeleted, people.stranger, "public", { reblogOfId: statuses.deleted })
  yield* status(statuses.suspended, suspended, "public")
  yield* status(statuses.local, author, "public", { ...answer, localOnly: true })
  yield* status(statuses.localPrivate, author, "private", { ...answer, localOnly: true })
  yield* status(statuses.localUnlisted, author, "unlisted", { ...answer, localOnly: true })
  yield* status(statuses.localDirect, author, "direct", { ...answer, localOnly: true })
  yield* status(statuses.localLimited, author, "direct", { ...answer, localOnly: true, limited: true })
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
  // Everybody has a list of all who write here and one of the hashtag.
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
  // Marks and notifications that point at everything, as they may be left over from when it could be read.
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
  yield* status(statuses.held, people.stranger, "direct", answer)
  yield* sql`INSERT INTO status_stats (status_id) VALUES (${statuses.held})`
  yield* sql`INSERT INTO mentions (status_id, account_id, quiet) VALUES (${statuses.held}, ${author}, true)`
  yield* sql`INSERT INTO interaction_requests (id, kind, account_id, target_account_id, status_id, interaction_id, visibility, state, created_at)
    VALUES (${request}, 'reply', ${people.stranger}, ${author}, ${root}, ${statuses.held}, 'public', 'pending', ${at})`
  const tokens = yield* Effect.forEach(
    Object.entries(people),
    ([role, id]) => Effect.map(token(id), (bearer): readonly [string, string] => [role, bearer])
  )
  return (role: Role) => new Map(tokens).get(role)
})

layer(server(), { excludeTestServices: true })("who reads what", (it) => {
  it.effect(
    "rows 55, 56, 57, 62: every route shows each status to exactly those who may read it, and to others as if it did not exist",
    () =>
      Effect.gen(function*() {
        const bearer = yield* settle
        const originals = kinds.filter((kind) => !["reblog", "reblogOfDeleted", "held"].includes(kind))
        for (const role of roles) {
          const by = bearer(role)
          const missing = yield* get("/api/v1/statuses/4711", by)
          assert.strictEqual(missing.status, 404)
          for (const kind of kinds) {
            const path = `/api/v1/statuses/${statuses[kind]}`
            const readable = mayRead(role, kind)
            const routes = [
              ...["", "/context", "/history", "/favourited_by", "/reblogged_by"].map((part) => path + part),
              `/api/v1/pleroma/statuses/${statuses[kind]}/reactions`,
              ...(by === undefined ? [] : [`${path}/source`, `${path}/quotes`])
            ]
            for (const route of routes) {
              const answer = yield* get(route, by)
              assert.strictEqual(answer.status, readable ? 200 : 404, `${role} ${kind} ${route}`)
              if (readable) continue
              assert.strictEqual(answer.text, missing.text)
              assert.notInclude(answer.text, "secret")
              assert.deepStrictEqual([...answer.headers.keys()], [...missing.headers.keys()])
            }
            if (by !== undefined) {
              const marked = yield* postJson(`${path}/bookmark`, by)
              assert.strictEqual(marked.status, readable ? 200 : 404, `${role} bookmarks ${kind}`)
            }
          }

          const all = kinds.map((kind) => `id[]=${statuses[kind]}`).join("&")
          const welcome = hiding.has(role) ? [] : kinds
          assert.deepStrictEqual(yield* ids(`/api/v1/statuses?${all}`, by), idsFor(role, welcome), `${role} batch`)

          const own: ReadonlyArray<Kind> = [
            "localLimited",
            "localDirect",
            "localUnlisted",
            "localPrivate",
            "local",
            "direct",
            "private",
            "unlisted",
            "public"
          ]
          const published = role === "blocked" ? [] : [...idsFor(role, own), String(root)]
          assert.deepStrictEqual(yield* ids("/api/v1/accounts/1/statuses", by), published, `${role} account`)
          assert.deepStrictEqual(yield* ids("/api/v1/accounts/9/statuses", by), [])
          // What waits is on its author's profile for that author alone.
          const his = yield* ids(`/api/v1/accounts/${people.stranger}/statuses`, by)
          assert.strictEqual(his.includes(String(statuses.held)), role === "stranger", `${role} held`)
          const open: ReadonlyArray<Kind> = hiding.has(role) || role === "blocked" ? [] : ["local", "public"]
          const newest = idsFor(role, open)
          const rootToo = open.length === 0 ? [] : [String(root)]
          assert.deepStrictEqual(yield* ids("/api/v1/timelines/public", by), [...newest, ...rootToo], `${role} public`)
          assert.deepStrictEqual(yield* ids("/api/v1/timelines/tag/KATZE", by), [...newest, ...rootToo], `${role} tag`)

          const linked = yield* ids("/api/v1/timelines/link?url=https://page.test/", by)
          assert.deepStrictEqual(linked, [...newest, ...rootToo], `${role} link`)
          // Answers do not trend.
          assert.deepStrictEqual(yield* ids("/api/v1/trends/statuses", by), rootToo, `${role} trends`)

          if (role !== "blocked") {
            const { body } = yield* get(`/api/v1/statuses/${root}/context`, by)
            const below = body.descendants.map(({ id }: { readonly id: string }) => id)
            const waiting = role === "stranger" ? [String(statuses.held)] : []
            const seen = [...idsFor(role, own).toReversed(), ...waiting]
            assert.deepStrictEqual(below, hiding.has(role) ? [] : seen, `${role} context`)
          }
          if (role === "anonymous") continue
          const marked = idsFor(role, originals).toReversed()
          assert.deepStrictEqual(yield* ids("/api/v1/favourites", by), marked, `${role} favourites`)
          const kept = yield* ids("/api/v1/bookmarks", by)
          assert.deepStrictEqual(
            kept.toSorted(),
            [...marked, ...idsFor(role, ["held"])].toSorted(),
            `${role} bookmarks`
          )
          const told = yield* get("/api/v1/notifications", by)
          const about = told.body.map(({ status }: { readonly status: { readonly id: string } }) => status.id)
          assert.deepStrictEqual(about, marked, `${role} notifications`)
          assert.strictEqual((yield* get("/api/v1/notifications/unread_count", by)).body.count, marked.length)
          const [conversation] = (yield* get("/api/v1/conversations", by)).body
          assert.strictEqual(conversation.last_status?.id ?? null, mayRead(role, "direct") ? "103" : null)
          const home = yield* ids("/api/v1/timelines/home", by)
          const expected = role === "follower"
            ? ["110", "109", "108", "102", "101", "100", "90"]
            : role === "author"
            ? ["112", "111", "110", "109", "108", "103", "102", "101", "100", "90"]
            : role === "stranger"
            ? ["114", "105"]
            : []
          assert.deepStrictEqual(home, expected, `${role} home`)
          const listed = (list: bigint) => ids(`/api/v1/timelines/list/${list}`, by)
          // The reblog repeats what stands below it.
          const shown: ReadonlyArray<Kind> = ["localUnlisted", "localPrivate", "local", "private", "unlisted", "public"]
          const inList = open.length === 0 ? [] : [...idsFor(role, shown), String(root)]
          assert.deepStrictEqual(yield* listed(listOf(people[role])), inList, `${role} list`)
          assert.deepStrictEqual(
            yield* listed(tagListOf(people[role])),
            [...newest, ...rootToo],
            `${role} list of a tag`
          )
          const { status, text } = yield* get(`/api/v1/timelines/list/${listOf(suspended)}`, by)
          assert.deepStrictEqual([status, text], [404, missing.text], `${role} list of another`)
          const asked = yield* ids("/api/v1/interaction_requests", by)
          assert.deepStrictEqual(asked, role === "author" ? [String(request)] : [], `${role} requests`)
          if (role === "author") continue
          for (const way of ["", "/authorize", "/reject"]) {
            const path = `/api/v1/interaction_requests/${request}${way}`
            const answer = yield* way === "" ? get(path, by) : postJson(path, by)
            assert.deepStrictEqual([answer.status, answer.text], [404, missing.text], `${role} ${path}`)
          }
        }
      }),
    120_000
  )

  it.effect("row 63: whatever belongs to somebody is not there for others, by whatever id", () =>
    Effect.gen(function*() {
      const other = yield* token(people.stranger)
      const mine = yield* token(people.mentioned)
      const [notification] = (yield* get("/api/v1/notifications", mine)).body
      const [conversation] = (yield* get("/api/v1/conversations", mine)).body
      const attempts = [
        get(`/api/v1/notifications/${notification.id}`, other),
        get(`/api/v2/notifications/ungrouped-${notification.id}`, other),
        postJson(`/api/v1/conversations/${conversation.id}/read`, other),
        postJson(`/api/v1/conversations/${conversation.id}/unread`, other),
        send(`/api/v1/conversations/${conversation.id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${other}` }
        })
      ]
      for (const attempt of attempts) {
        const { body, status } = yield* attempt
        assert.deepStrictEqual([status, body], [404, { error: "Record not found" }])
      }
      // A dismissal says nothing, and does nothing either.
      yield* postJson(`/api/v1/notifications/${notification.id}/dismiss`, other)
      yield* postJson(`/api/v2/notifications/ungrouped-${notification.id}/dismiss`, other)
      assert.strictEqual((yield* get(`/api/v1/notifications/${notification.id}`, mine)).status, 200)
      assert.strictEqual((yield* get("/api/v1/conversations", mine)).body.length, 1)
    }))
})
