import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, publishedId, settled } from "../../support/Api.ts"
import { countedServer, repeatedIn, runsOf, totalOf } from "../../support/CountedServer.ts"
import { allTrends } from "../../support/Crowd.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

const write = (by: Person, status: string, more: Record<string, unknown> = {}) =>
  Effect.map(ask(by, "POST", "/api/v1/statuses", { status, ...more }), ({ body }) => String(body.id))
const follow = (by: Person, whom: Person) => ask(by, "POST", `/api/v1/accounts/${whom.accountId}/follow`, {})

/** Maximum statements of a page, for any number of rows. */
const statementsMax = 40

layer(countedServer, { excludeTestServices: true })("pages of the web client", (it) => {
  it.effect("take as many queries for 40 rows as for one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { createPerson } = yield* TestServer
      const [own, guide] = [yield* createPerson("own"), yield* createPerson("guide")]
      const browser = yield* staffBrowser(own)
      yield* ask(own, "PATCH", "/api/v1/accounts/update_credentials", { locked: true })
      yield* ask(own, "PATCH", "/api/v2/notifications/policy", {
        for_not_following: "filter",
        for_private_mentions: "accept"
      })
      yield* follow(own, guide)
      const { body: list } = yield* ask(own, "POST", "/api/v1/lists", { title: "All" })
      const { body: { collection } } = yield* ask(own, "POST", "/api/v1/collections", { name: "Some" })

      const people: Array<string> = []
      /** Adds a person to each of the pages. */
      const add = Effect.fnUntraced(function*(name: string) {
        const [friend, stranger] = [yield* createPerson(`friend_${name}`), yield* createPerson(`stranger_${name}`)]
        people.push(String(friend.accountId))
        for (const one of [friend, stranger]) {
          yield* ask(one, "PATCH", "/api/v1/accounts/update_credentials", { discoverable: true })
        }
        yield* follow(own, friend)
        yield* follow(friend, own)
        yield* follow(guide, stranger)
        yield* write(friend, `@own a post #tag_${name}`)
        yield* write(friend, "@own psst", { visibility: "direct" })
        yield* write(stranger, "@own hello")
        yield* ask(own, "POST", `/api/v1/lists/${list.id}/accounts`, { account_ids: [String(friend.accountId)] })
        yield* ask(own, "POST", `/api/v1/tags/tag_${name}/follow`)
        yield* ask(own, "POST", `/api/v1/collections/${collection.id}/items`, { account_id: String(friend.accountId) })
      })
      const paths = [
        "/notifications",
        "/notifications?type=mentions",
        "/notifications/requests",
        "/conversations",
        "/follow_requests",
        "/followed_tags",
        "/@own/following",
        `/lists/${list.id}`,
        `/lists/${list.id}/members`,
        `/lists/${list.id}/members?q=stranger`,
        "/explore",
        "/explore/tags",
        "/explore/links",
        "/explore/suggestions",
        "/search?q=friend",
        "/search?q=friend&type=accounts",
        "/collections",
        `/collections/${collection.id}/edit?q=stranger`,
        "/catchup",
        "/web/unread",
        "/web/follows?ids=PEOPLE"
      ]
      const queriesOf = (path: string) =>
        runsOf(Effect.map(browser.get(path.replace("PEOPLE", people.join(","))), ({ status, text }) => {
          assert.strictEqual(status, 200, path)
          if (path.includes("PEOPLE")) assert.lengthOf(text.match(/<form /g) ?? [], people.length)
        }))
      const measure = Effect.gen(function*() {
        yield* settled
        yield* sql`DELETE FROM status_trends`
        yield* sql`DELETE FROM card_trends`
        yield* sql`DELETE FROM status_cards`
        yield* sql`DELETE FROM preview_cards`
        yield* allTrends("https://news.example/story")
        yield* sql`UPDATE tags SET trendable = true`
        return yield* Effect.forEach(paths, queriesOf)
      })
      yield* add("a")
      const few = yield* measure
      for (let at = 0; at < 40; at++) yield* add(`n${at}`)
      const many = yield* measure
      assert.include((yield* browser.get("/search?q=friend&type=accounts")).text, "rel=\"next\"")
      for (const [at, path] of paths.entries()) {
        assert.deepStrictEqual(repeatedIn(few[at]!, many[at]!), [], path)
        assert.isAtMost(totalOf(many[at]!), statementsMax, path)
      }
    }))

  it.effect("take as many queries for a thread of 40 posts as for one post", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const ada = yield* createPerson("ada")
      const browser = yield* staffBrowser(ada)
      const root = yield* publishedId(ada, "the root #cats")
      const paths = ["/home", `/@ada/${root}`, "/@ada/with_replies", "/tags/cats"]
      const queriesOf = (path: string) =>
        runsOf(Effect.map(browser.get(path), ({ status }) => assert.strictEqual(status, 200, path)))
      const few = yield* Effect.forEach(paths, queriesOf)
      for (let at = 0; at < 40; at++) {
        yield* ask(ada, "POST", "/api/v1/statuses", { status: `reply ${at} #cats`, in_reply_to_id: root })
      }
      const many = yield* Effect.forEach(paths, queriesOf)
      for (const [at, path] of paths.entries()) {
        assert.deepStrictEqual(repeatedIn(few[at]!, many[at]!), [], path)
        assert.isAtMost(totalOf(many[at]!), statementsMax, path)
      }
      // The author's 40 replies are folded below their post.
      const { text } = yield* browser.get("/home")
      assert.include(text, "class=\"feed\"")
    }))
})
