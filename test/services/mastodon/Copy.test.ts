import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { call, json } from "../../support/Api.ts"
import { rejects, servers, source, transferred } from "../../support/mastodon/Copies.ts"
import type { Version } from "../../support/mastodon/Schema.ts"
import { password } from "../../support/mastodon/Server.ts"
import { TestServer } from "../../support/Server.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"

const publicDocument = (path: string) =>
  TestServer.use(({ fetch }) =>
    Effect.gen(function*() {
      const response = yield* fetch(path, { headers: { accept: "application/activity+json" } })
      const text = yield* Effect.promise(() => response.text())
      return { status: response.status, json: JSON.parse(text) }
    })
  )

const hourMillis = 3_600_000
const began = Date.now() - 24 * hourMillis
const id = (n: number) => (BigInt(began) << 16n) + BigInt(n)

/** Sends a browser request to the server under test. */
const send = (path: string, init: RequestInit = {}) =>
  TestServer.use(({ fetch }) =>
    Effect.gen(function*() {
      const response = yield* fetch(path, { redirect: "manual", ...init })
      const text = yield* Effect.promise(() => response.text())
      return { status: response.status, headers: response.headers, text, body: undefined }
    })
  )

/** Fills a Mastodon server with people, posts and relations, and with invalid data. */
const sourceServer = Effect.fnUntraced(function*(version: Version) {
  const from = yield* source(version)
  const { insert } = from
  const ada = yield* from.person(id(1), "ada", {
    account: { displayName: "Ada", note: "Hello @zoe@far.example #birds\nhttps://ada.example", locked: true },
    user: {
      settings: JSON.stringify({ ["default_privacy"]: "unlisted", ["default_sensitive"]: true }),
      chosenLanguages: ["de", "fr"]
    }
  })
  const bert = yield* from.person(id(2), "bert", version === "4.3" ? {} : { account: { idScheme: 1 } })
  const zoe = yield* from.stranger(id(3), "zoe", {
    displayName: "Zoe",
    note: "<p>Hi <script>alert(1)</script><b onclick=x>there</b></p>",
    fields: JSON.stringify([{ name: "Site", value: "<a href=\"javascript:x\">x</a>" }])
  })
  yield* insert("accounts", { id: id(4), username: "old", domain: "ostatus.example", uri: "", inboxUrl: "" })
  yield* insert("oauth_applications", {
    id: 5n,
    name: "Phone app",
    uid: "client-of-the-phone",
    secret: "secret-of-the-phone",
    redirectUri: "https://app.example/back\nurn:ietf:wg:oauth:2.0:oob",
    scopes: "read write follow push"
  }, { id: 6n, name: "Web", uid: "web", secret: "web", redirectUri: "urn:x", scopes: "read", superapp: true })
  yield* insert(
    "oauth_access_tokens",
    { id: 7n, token: "token-of-ada", applicationId: 5n, scopes: "read write", resourceOwnerId: ada.userId },
    {
      id: 8n,
      token: "revoked",
      applicationId: 5n,
      scopes: "read",
      resourceOwnerId: ada.userId,
      revokedAt: new Date(0)
    },
    { id: 9n, token: "of-the-web", applicationId: 6n, scopes: "read", resourceOwnerId: ada.userId },
    { id: 10n, token: "of-nobody", applicationId: 5n, scopes: "read", resourceOwnerId: 999n }
  )
  yield* insert("tags", { id: 11n, name: "birds", displayName: "Birds" })
  yield* insert("conversations", { id: 12n })
  yield* insert(
    "statuses",
    {
      id: id(20),
      accountId: ada.id,
      local: true,
      uri: "tag:old,2016-11-24:objectId=1:objectType=Status",
      text: "First #birds by @zoe@far.example & <b>friends</b>",
      conversationId: 12n,
      language: "en"
    },
    {
      id: id(21),
      accountId: zoe.id,
      uri: "https://far.example/posts/1",
      text: "<p>A reply <script>x</script></p>",
      inReplyToId: id(20),
      inReplyToAccountId: ada.id,
      conversationId: 12n
    },
    { id: id(22), accountId: bert.id, local: true, text: "for Ada only", visibility: 3 },
    { id: id(23), accountId: bert.id, local: true, reblogOfId: id(20) },
    { id: id(24), accountId: ada.id, local: true, text: "deleted", deletedAt: new Date() },
    { id: id(25), accountId: bert.id, local: true, reblogOfId: id(99) },
    { id: id(26), accountId: zoe.id, local: false, text: "without an id", createdAt: new Date() },
    { id: id(27), accountId: ada.id, local: true, text: "of an unknown kind", visibility: 9 },
    { id: id(28), accountId: ada.id, local: true, text: "Which?", pollId: 30n }
  )
  yield* insert("mentions", { statusId: id(20), accountId: zoe.id }, { statusId: id(22), accountId: ada.id })
  yield* insert("statuses_tags", { statusId: id(20), tagId: 11n })
  yield* insert("polls", {
    id: 30n,
    accountId: ada.id,
    statusId: id(28),
    options: ["A", "B"],
    cachedTallies: [1, 0],
    votersCount: 1n
  })
  yield* insert("poll_votes", { accountId: bert.id, pollId: 30n, choice: 0 })
  yield* insert(
    "follows",
    { id: 40n, accountId: zoe.id, targetAccountId: ada.id, uri: "https://far.example/follows/1" },
    { id: 41n, accountId: bert.id, targetAccountId: ada.id, languages: ["en"] },
    { id: 42n, accountId: bert.id, targetAccountId: 777n }
  )
  yield* insert("favourites", { id: 50n, accountId: bert.id, statusId: id(20) }, {
    id: 51n,
    accountId: zoe.id,
    statusId: id(20)
  })
  yield* insert("bookmarks", { id: 52n, accountId: ada.id, statusId: id(21) })
  yield* insert("lists", { id: 60n, accountId: ada.id, title: "Friends", repliesPolicy: 1 })
  yield* insert("list_accounts", { id: 61n, listId: 60n, accountId: zoe.id })
  yield* insert("users", { id: 9_999n, accountId: 888n, email: "lost@mail.example", encryptedPassword: "x" })
  return { ...from, ada, bert, zoe }
})

const forVersion = (version: Version) =>
  layer(servers, { excludeTestServices: true })(`a copy of Mastodon ${version}`, (it) => {
    it.effect("F427: shows its plan, copies accounts, posts and relations, and lists invalid data", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { baseUrl } = yield* TestServer
        const from = yield* sourceServer(version)
        const { ada, bert, zoe } = from
        const plan = yield* transferred(from, "plan")
        assert.include(plan, `Mastodon ${version}`)
        assert.include(plan, "queues of Sidekiq")
        // F427: each post is counted once. One was deleted.
        assert.match(plan, /^posts +6 at most$/m)
        assert.match(plan, /^boosts +2 at most$/m)
        assert.include(plan, "About 1 minute at 4000 rows a second")
        assert.deepStrictEqual(yield* sql`SELECT FROM transfer_cursors`, [])
        yield* transferred(from, "copy")
        const rows = yield* rejects(from)
        for (
          const [step, row, reason] of [
            ["remote accounts", "", "speaks no ActivityPub"],
            ["boosts", "", "the post of reblog_of_id was not copied"],
            ["posts", "", "the post of another server has no id"],
            ["posts", "", "the visibility is unknown"],
            ["follows", "42", "the account of target_account_id was not copied"],
            ["users", "9999", "the account of account_id was not copied"],
            ["tokens", "10", "the user was not copied"]
          ] as const
        ) assert.match(rows, new RegExp(`^${step}\t${row}\\d*\t.*${reason}`, "m"))
        assert.strictEqual(rows.trim().split("\n").length, 7, rows)

        // The app of Ada's phone is still signed in, with her old token and her old id.
        const phone = { token: "token-of-ada" }
        const me = yield* json(phone, "/api/v1/accounts/verify_credentials")
        assert.deepInclude(me, {
          id: String(ada.id),
          username: "ada",
          locked: true,
          followers_count: 2,
          statuses_count: 2
        })
        assert.deepInclude(me.source, {
          privacy: "unlisted",
          sensitive: true,
          note: "Hello @zoe@far.example #birds\nhttps://ada.example"
        })
        assert.include(me.note, `href="https://far.example/@zoe"`)
        for (const token of ["revoked", "of-the-web", "of-nobody"]) {
          assert.strictEqual((yield* call("GET", "/api/v1/accounts/verify_credentials", token)).status, 401, token)
        }
        const client = { client_id: "client-of-the-phone", client_secret: "secret-of-the-phone" }
        assert.strictEqual(
          (yield* call("POST", "/oauth/token", undefined, { ...client, grant_type: "client_credentials" })).status,
          200
        )

        const first = yield* json(phone, `/api/v1/statuses/${id(20)}`)
        assert.deepInclude(first, {
          visibility: "public",
          language: "en",
          favourites_count: 2,
          reblogs_count: 1,
          replies_count: 1
        })
        assert.include(first.content, "&lt;b&gt;friends&lt;/b&gt;")
        assert.include(first.content, `href="https://far.example/@zoe"`)
        assert.deepStrictEqual(first.tags.map(({ name }: { readonly name: string }) => name), ["birds"])
        const { descendants: [reply] } = yield* json(phone, `/api/v1/statuses/${id(20)}/context`)
        assert.deepInclude(reply, { id: String(id(21)), bookmarked: true, uri: "https://far.example/posts/1" })
        assert.notInclude(reply.content, "script")
        assert.deepInclude(yield* json(phone, `/api/v1/statuses/${id(22)}`), {
          visibility: "direct",
          content: "<p>for Ada only</p>"
        })
        assert.strictEqual((yield* call("GET", `/api/v1/statuses/${id(22)}`, undefined)).status, 404)
        assert.strictEqual((yield* call("GET", `/api/v1/statuses/${id(24)}`, "token-of-ada")).status, 404)
        const { poll } = yield* json(phone, `/api/v1/statuses/${id(28)}`)
        assert.deepStrictEqual(poll.options.map((one: { readonly votes_count: number }) => one.votes_count), [1, 0])
        const lists = yield* json(phone, "/api/v1/lists")
        assert.deepInclude(lists[0], { id: "60", title: "Friends", replies_policy: "followed" })
        const there = yield* json(phone, `/api/v1/accounts/${zoe.id}`)
        assert.notMatch(there.note + there.fields[0].value, /script|onclick/)

        // Other servers find the same actors with the same keys.
        const { json: actor } = yield* publicDocument("/users/ada")
        assert.strictEqual(actor.id, `${baseUrl}/users/ada`)
        assert.deepStrictEqual(actor.publicKey, {
          id: `${baseUrl}/users/ada#main-key`,
          owner: `${baseUrl}/users/ada`,
          publicKeyPem: ada.pair.publicPem
        })
        const { json: other } = yield* publicDocument(`/ap/users/${bert.id}`)
        const base = version === "4.3" ? `${baseUrl}/users/bert` : `${baseUrl}/ap/users/${bert.id}`
        assert.deepInclude(other, { id: base, inbox: `${base}/inbox` })
        assert.strictEqual(other.publicKey.id, `${base}#main-key`)
        assert.deepStrictEqual(yield* sql`SELECT uri, target_id, type FROM undoable_activities`, [
          { uri: "https://far.example/follows/1", targetId: ada.id, type: "Follow" }
        ])
        const { json: note } = yield* publicDocument(`/users/ada/statuses/${id(20)}`)
        assert.match(note.conversation, /:objectId=12:objectType=Conversation$/)
        // F261: the signing key is checked, whatever its name is.
        yield* sql`UPDATE signing_keys SET fragment = 'another-name' WHERE owner_id = ${bert.id}`
        assert.include(yield* transferred(from, "verify"), "The keys of all 2 local accounts sign and verify.")
      }))

    it.effect("signs in with the old password, copies nothing twice, and copies later changes", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { baseUrl } = yield* TestServer
        const from = yield* source(version)
        const cora = yield* from.person(id(70), "cora")
        yield* from.insert("statuses", { id: id(71), accountId: cora.id, local: true, text: "one" })
        yield* from.insert("statuses", { id: id(72), accountId: cora.id, local: true, text: "two" })
        yield* sql`DELETE FROM transfer_cursors`
        yield* sql`INSERT INTO transfer_cursors (step, begun_at) VALUES ('roles', ${new Date()})`
        assert.match(yield* transferred(from, "copy"), /^posts +2 copied$/m)
        assert.match(yield* transferred(from, "copy"), /^posts +0 copied$/m)
        yield* from.insert("statuses", { id: id(73), accountId: cora.id, local: true, text: "three" })
        yield* from.sql`UPDATE statuses SET text = 'one, edited', updated_at = ${new Date()} WHERE id = ${id(71)}`
        yield* from.sql`DELETE FROM statuses WHERE id = ${id(72)}`
        yield* transferred(from, "delta")
        const texts =
          yield* sql`SELECT text FROM statuses WHERE account_id = ${cora.id} AND deleted_at IS NULL ORDER BY id`
        assert.deepStrictEqual(texts, [{ text: "one, edited" }, { text: "three" }])
        const browser = TestBrowser.makeWith(send, { origin: baseUrl })
        const done = yield* browser.submit(yield* browser.get("/auth/sign_in"), {
          email: "cora@mail.example",
          password
        })
        assert.strictEqual(done.headers.get("location"), "/home")
        const [user] = yield* sql<
          { passwordHash: string }
        >`SELECT password_hash FROM users WHERE account_id = ${cora.id}`
        assert.match(user?.passwordHash ?? "", /^\$argon2id\$/)
      }))
  })

forVersion("4.7")
forVersion("4.5")
forVersion("4.3")
