import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { AccountId } from "../../../src/services/database/Ids.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { Feeds } from "../../../src/services/feeds/Feeds.ts"
import { emptyTables } from "../../support/EmptyTables.ts"
import { eventually } from "../../support/Eventually.ts"
import { get, ids, links } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"

const at = new Date("2026-06-01T12:00:00Z")

/** Inserts accounts 1 to 5; 4 is silenced, 5 remote. 1 follows 2. */
const settle = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* emptyTables("accounts", "statuses", "tags")
  yield* sql`INSERT INTO accounts (id, username, domain, silenced_at, created_at, updated_at)
    SELECT i, 'account' || i, CASE WHEN i = 5 THEN 'remote.example' END,
      CASE WHEN i = 4 THEN ${at}::timestamptz END, ${at}, ${at} FROM generate_series(1::bigint, 5) i`
  yield* sql`INSERT INTO users (account_id, email, password_hash, confirmed_at, created_at)
    SELECT id, id || '@local.example', '', ${at}, ${at} FROM accounts WHERE domain IS NULL`
  yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at) VALUES (1, 1, 2, ${at})`
  yield* (yield* Feeds).drop([1n, 2n, 3n].map((id) => AccountId.make(id)))
})

const status = Effect.fnUntraced(function*(id: number, by: number, more: Record<string, unknown> = {}) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO statuses ${
    sql.insert({ id, accountId: by, visibility: "public", conversationId: id, createdAt: at, local: by !== 5, ...more })
  }`
})

/** Publishes the message of a command after its commit. */
const changed = (kind: "status" | "relations", ...ids: ReadonlyArray<bigint>) =>
  Broadcast.use((broadcast) => broadcast.publish({ _tag: "Changed", kind, ids }))

const tag = Effect.fnUntraced(function*(id: number, name: string, statuses: ReadonlyArray<number>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO tags (id, name, display_name, created_at) VALUES (${id}, ${name}, ${name}, ${at})`
  yield* sql`INSERT INTO statuses_tags (tag_id, status_id) SELECT ${id}, s FROM unnest(${
    statuses.map(BigInt)
  }::bigint[]) s`
})

layer(server(), { excludeTestServices: true })("timelines", (it) => {
  it.effect("S-142, S-178: the public timeline has posts of all authors but silenced ones, no reblogs, no replies to others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      yield* status(10, 1, { language: "de" })
      yield* status(11, 2, { inReplyToId: 10, inReplyToAccountId: 1 })
      yield* status(12, 2, { inReplyToId: 11, inReplyToAccountId: 2, language: "en" })
      yield* status(13, 4)
      yield* status(14, 5)
      yield* status(15, 3, { reblogOfId: 10 })
      yield* status(16, 3, { visibility: "unlisted" })
      const path = "/api/v1/timelines/public"
      assert.deepStrictEqual(yield* ids(path), ["14", "12", "10"])
      assert.deepStrictEqual(yield* ids(`${path}?local=true`), ["12", "10"])
      assert.deepStrictEqual(yield* ids(`${path}?remote=1&local=false`), ["14"])
      assert.deepStrictEqual(yield* ids(`${path}?only_media=true`), [])
      const reader = yield* issueToken(3n)
      assert.deepStrictEqual(yield* ids(path, reader), ["14", "12", "10"])
      yield* sql`UPDATE users SET chosen_languages = '{de}' WHERE account_id = 3`
      assert.deepStrictEqual(yield* ids(path, reader), ["14", "10"])
      yield* sql`INSERT INTO domain_mutes (id, account_id, domain) VALUES (1, 3, 'remote.example')`
      assert.deepStrictEqual(yield* ids(path, reader), ["10"])
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id) VALUES (1, 3, 1)`
      assert.deepStrictEqual(yield* ids(path, reader), [])

      const page = yield* get(`${path}?limit=2&local=true`)
      assert.deepStrictEqual(links(page.headers), {
        next: `${path}?limit=2&local=true&max_id=10`,
        prev: `${path}?limit=2&local=true&min_id=12`
      })
      // A page that is not full also has a next one, unless it is empty.
      assert.include(Object.keys(links((yield* get(`${path}?limit=30`)).headers)), "next")
      assert.strictEqual((yield* get(`${path}?max_id=10`)).headers.get("link"), null)
    }))

  it.effect("S-143: hashtags in any spelling, with any, all and none", () =>
    Effect.gen(function*() {
      yield* settle
      yield* Effect.forEach([20, 21, 22, 23], (id) => status(id, 1))
      yield* status(24, 2, { inReplyToId: 20, inReplyToAccountId: 1 })
      yield* status(25, 1, { visibility: "unlisted" })
      yield* tag(1, "rot", [20, 21, 24, 25])
      yield* tag(2, "gelb", [21, 22])
      yield* tag(3, "blau", [20, 22, 23])
      const path = "/api/v1/timelines/tag"
      assert.deepStrictEqual(yield* ids(`${path}/ROT`), ["24", "21", "20"])
      assert.deepStrictEqual(yield* ids(`${path}/rot?any[]=gelb`), ["24", "22", "21", "20"])
      assert.deepStrictEqual(yield* ids(`${path}/rot?any[]=gelb&any[]=BLAU&limit=3`), ["24", "23", "22"])
      assert.deepStrictEqual(yield* ids(`${path}/rot?all[]=blau`), ["20"])
      assert.deepStrictEqual(yield* ids(`${path}/rot?none[]=gelb`), ["24", "20"])
      assert.deepStrictEqual(yield* ids(`${path}/rot?all[]=unknown`), [])
      assert.deepStrictEqual(yield* ids(`${path}/unknown`), [])
      assert.deepStrictEqual(yield* ids(`${path}/rot?any[]=gelb&min_id=20&limit=2`), ["22", "21"])
      const page = yield* get(`${path}/rot?any[]=gelb&any[]=blau&limit=1`)
      const next = links(page.headers).next ?? ""
      assert.strictEqual(next, `${path}/rot?limit=1&any%5B%5D=gelb&any%5B%5D=blau&max_id=24`)
      assert.deepStrictEqual(yield* ids(next), ["23"])
      const long = yield* get(`${path}/${encodeURIComponent("größe…日本")}`)
      assert.deepStrictEqual([long.status, long.body], [200, []])
    }))

  it.effect("S-204, S-124: home continues from the feed into Postgres, page by page, down and up again", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const feeds = yield* Feeds
      yield* settle
      const reader = AccountId.make(1n)
      const bearer = yield* issueToken(1n)
      yield* sql`INSERT INTO statuses (id, account_id, visibility, conversation_id, created_at)
        SELECT i, 1 + i % 3, 'public', i, ${at} FROM generate_series(1000, 1599) i`
      const expected = Array.from({ length: 600 }, (_, index) => 1599 - index).filter((id) => id % 3 !== 2).map(String)
      const walk = Effect.fnUntraced(function*(limit: number) {
        const seen: Array<string> = []
        let url: string | undefined = `/api/v1/timelines/home?limit=${limit}`
        while (url !== undefined) {
          const { body, headers }: { body: ReadonlyArray<{ readonly id: string }>; headers: Headers } = yield* get(
            url,
            bearer
          )
          seen.push(...body.map(({ id }) => id))
          url = links(headers).next
        }
        return seen
      })
      assert.isUndefined(yield* feeds.read(reader))
      assert.deepStrictEqual(yield* walk(40), expected)
      yield* eventually(feeds.read(reader), (entries) => entries?.length === 400)
      assert.deepStrictEqual(yield* walk(40), expected)
      const last = expected.at(-1)
      const upwards: Array<string> = []
      let url: string | undefined = `/api/v1/timelines/home?limit=40&min_id=${last}`
      while (url !== undefined) {
        const { body, headers }: { body: ReadonlyArray<{ readonly id: string }>; headers: Headers } = yield* get(
          url,
          bearer
        )
        upwards.unshift(...body.map(({ id }) => id))
        url = links(headers).prev
      }
      assert.deepStrictEqual(upwards, expected.slice(0, -1))
      const between = `min_id=${expected[30]}&max_id=${expected[10]}`
      assert.deepStrictEqual(yield* ids(`/api/v1/timelines/home?limit=5&${between}`, bearer), expected.slice(25, 30))
      assert.deepStrictEqual(
        yield* ids(`/api/v1/timelines/home?limit=5&since_id=${expected[30]}`, bearer),
        expected.slice(0, 5)
      )
    }))

  it.effect("S-128: muted and newly invisible posts do not end paging", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      yield* settle
      const bearer = yield* issueToken(1n)
      yield* Effect.forEach([30, 31, 32, 33, 34], (id) => status(id, 2))
      yield* status(35, 1)
      assert.deepStrictEqual(yield* ids("/api/v1/timelines/home", bearer), ["35", "34", "33", "32", "31", "30"])
      // The feed still has posts that a mute and a deletion have hidden.
      yield* sql`UPDATE statuses SET deleted_at = ${at} WHERE id IN (32, 33)`
      yield* changed("status", 32n, 33n)
      const page = yield* get("/api/v1/timelines/home?limit=3", bearer)
      assert.deepStrictEqual(page.body.map(({ id }: { readonly id: string }) => id), ["35", "34"])
      const next = links(page.headers).next ?? ""
      assert.deepStrictEqual(yield* ids(next, bearer), ["31", "30"])
      yield* sql`INSERT INTO mutes (id, account_id, target_account_id) VALUES (1, 1, 2)`
      yield* changed("relations", 1n, 2n)
      const muted = yield* get("/api/v1/timelines/home?limit=3&max_id=35", bearer)
      assert.deepStrictEqual(muted.body, [])
      assert.include(links(muted.headers).next, "max_id=32")
    }))

  it.effect("home omits a reblog of a post that is at most 80 entries below", () =>
    Effect.gen(function*() {
      yield* settle
      const bearer = yield* issueToken(1n)
      yield* status(40, 3)
      yield* status(41, 2)
      yield* status(42, 1, { reblogOfId: 40 })
      yield* status(43, 2, { reblogOfId: 40 })
      yield* status(44, 1, { reblogOfId: 41 })
      assert.deepStrictEqual(yield* ids("/api/v1/timelines/home", bearer), ["42", "41"])
      const first = yield* get("/api/v1/timelines/home?limit=1", bearer)
      assert.deepStrictEqual(first.body.map(({ id }: { readonly id: string }) => id), ["42"])
      assert.deepStrictEqual(yield* ids(links(first.headers).next ?? "", bearer), ["41"])
      assert.deepStrictEqual(yield* ids("/api/v1/timelines/home?min_id=41&limit=1", bearer), ["42"])
      // After eighty other posts, the reblog is shown again.
      yield* Effect.forEach(Array.from({ length: 80 }, (_, index) => index + 50), (id) => status(id, 2))
      yield* status(130, 2, { reblogOfId: 41 })
      yield* (yield* Feeds).drop([AccountId.make(1n)])
      assert.deepStrictEqual(yield* ids("/api/v1/timelines/home?limit=2&min_id=128", bearer), ["130", "129"])
    }))
})

layer(server({ publicTimelines: "members" }), { excludeTestServices: true })("timelines for members", (it) => {
  it.effect("S-249: public and hashtag timelines require a user if the preview is off", () =>
    Effect.gen(function*() {
      yield* settle
      yield* status(10, 2)
      for (const path of ["/api/v1/timelines/public", "/api/v1/timelines/tag/x"]) {
        const refused = yield* get(path)
        assert.deepStrictEqual([refused.status, refused.body], [422, {
          error: "This method requires an authenticated user"
        }])
        assert.strictEqual((yield* get(path, yield* issueToken(1n))).status, 200)
      }
      assert.strictEqual((yield* get("/api/v1/statuses/10")).status, 200)
    }))
})

layer(server({ limitedFederation: true }), { excludeTestServices: true })("a restricted server", (it) => {
  it.effect("S-019: reads require a user", () =>
    Effect.gen(function*() {
      yield* settle
      yield* status(10, 2)
      const paths = [
        "timelines/public",
        "timelines/tag/x",
        "statuses/10",
        "accounts/2",
        "accounts/2/statuses",
        "accounts/lookup?acct=account2"
      ]
      for (const path of paths) {
        const refused = yield* get(`/api/v1/${path}`)
        assert.deepStrictEqual([refused.status, refused.body], [401, {
          error: "This method requires an authenticated user"
        }])
        assert.strictEqual((yield* get(`/api/v1/${path}`, yield* issueToken(1n))).status, 200, path)
      }
    }))
})
