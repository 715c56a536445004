import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TrendingLink } from "../../../src/http/wire/PreviewCard.ts"
import { Tag } from "../../../src/http/wire/Tag.ts"
import { ServerConfig } from "../../../src/services/instance/ServerConfig.ts"
import { TrendRefresh } from "../../../src/services/trends/TrendRefresh.ts"
import { TrendReviews, type TrendSubject } from "../../../src/services/trends/TrendReviews.ts"
import { call, publishedId } from "../../support/Api.ts"
import { configurationOf } from "../../support/Configuration.ts"
import { favouritedBy, linkedBy, refreshTrends, remoteAccounts, taggedBy } from "../../support/Crowd.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const get = (path: string, me?: Person) => call("GET", `/api/v1/${path}`, me?.token)
const ids = (path: string, me?: Person) =>
  Effect.map(get(path, me), ({ body }) => body.map(({ id }: { readonly id: string }) => id))
const names = (path: string) =>
  Effect.map(get(path), ({ body }) => body.map(({ name }: { readonly name: string }) => name))
const urls = (path: string, me?: Person) =>
  Effect.map(get(path, me), ({ body }) => body.map(({ url }: { readonly url: string }) => url))
const discoverable = (me: Person) =>
  call("PATCH", "/api/v1/accounts/update_credentials", me.token, { discoverable: true })
const decide = (subject: TrendSubject, trendable: boolean) =>
  TrendReviews.pipe(
    Effect.flatMap((reviews) => reviews.decide(undefined, subject, trendable)),
    Effect.provide(TrendReviews.layer)
  )
/** Runs a node's refreshes that are due. */
const runOf = Effect.map(TrendRefresh, ({ run }) => run).pipe(Effect.provide(
  Layer.fresh(TrendRefresh.layer).pipe(Layer.provide(Layer.succeed(ServerConfig, configurationOf("here.test"))))
))
const kinds = ["trends of tags", "trends of statuses", "trends of links", "popular accounts"]
const strict = { onExcessProperty: "error" } as const

layer(TestServer.layer(), { excludeTestServices: true })("trends with reviews by staff", (it) => {
  it.effect("S-112, S-158, S-306: a hashtag trends after staff have allowed it, by how many more accounts use it than the day before", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const me = yield* createPerson("tagger")
      yield* publishedId(me, "#Rising #steady #few #noisy")
      const many = yield* remoteAccounts("tags.test", 30)
      yield* taggedBy("rising", many.slice(0, 9))
      yield* taggedBy("steady", many.slice(0, 20))
      yield* taggedBy("steady", many.slice(0, 25), 1)
      yield* taggedBy("few", many.slice(0, 3))
      for (let again = 0; again < 9; again++) yield* taggedBy("noisy", many.slice(0, 1))
      assert.deepStrictEqual(yield* refreshTrends, kinds)
      assert.deepStrictEqual(yield* names("trends/tags"), [])
      yield* decide({ kind: "tag", name: "#RISING" }, true)
      assert.deepStrictEqual(yield* names("trends/tags"), ["Rising"])
      assert.deepStrictEqual(yield* names("trends"), ["Rising"])
      const { body } = yield* get("trends/tags", me)
      const [tag] = yield* Schema.decodeUnknownEffect(Schema.Array(Tag))(body, strict)
      assert.deepInclude(tag, { following: false, featuring: false })
      assert.deepInclude(tag?.history[0], { uses: "10", accounts: "10" })
      // Unchanged use does not raise it again when recomputed, and its score decays.
      yield* sql`UPDATE tag_trends SET max_score_at = max_score_at - interval '40 hours'`
      yield* refreshTrends
      assert.deepStrictEqual(yield* names("trends/tags"), [])
      yield* taggedBy("rising", many.slice(9, 20))
      yield* refreshTrends
      assert.deepStrictEqual(yield* names("trends/tags"), ["Rising"])
      yield* decide({ kind: "tag", name: "rising" }, false)
      assert.deepStrictEqual(yield* names("trends/tags"), [])
      assert.strictEqual((yield* Effect.flip(decide({ kind: "tag", name: "nothing" }, true)))._tag, "RecordNotFound")
    }))

  it.effect("posts trend that different accounts like, one per author, and only those that everybody may see", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const people = yield* Effect.forEach(["ada", "bob", "cyd", "dan"], (name) => createPerson(name))
      const [ada, bob, cyd, dan] = people
      if (ada === undefined || bob === undefined || cyd === undefined || dan === undefined) return
      for (const one of [ada, bob, cyd]) yield* discoverable(one)
      const many = yield* remoteAccounts("likes.test", 20)
      const best = yield* publishedId(ada, "the best")
      const second = yield* publishedId(ada, "the second best of the same author")
      const german = yield* publishedId(bob, "auf Deutsch", { language: "de" })
      const out = {
        sensitive: yield* publishedId(cyd, "x", { sensitive: true }),
        warned: yield* publishedId(cyd, "x", { spoiler_text: "careful" }),
        unlisted: yield* publishedId(cyd, "x", { visibility: "unlisted" }),
        response: yield* publishedId(cyd, "x", { in_reply_to_id: best }),
        hidden: yield* publishedId(dan, "by one who does not want to be found"),
        few: yield* publishedId(cyd, "x")
      }
      yield* favouritedBy(best, many)
      yield* favouritedBy(second, many.slice(0, 15))
      yield* favouritedBy(german, many.slice(0, 8))
      yield* favouritedBy(out.few, many.slice(0, 4))
      // The author's own use, and a boost by the same account, do not count.
      yield* call("POST", `/api/v1/statuses/${out.few}/favourite`, cyd.token)
      for (const id of [out.sensitive, out.warned, out.unlisted, out.response, out.hidden]) {
        yield* favouritedBy(id, many)
      }
      yield* refreshTrends
      assert.deepStrictEqual(yield* ids("trends/statuses"), [])
      for (const one of people) yield* decide({ kind: "account", id: one.accountId }, true)
      assert.deepStrictEqual(yield* ids("trends/statuses"), [best, german])
      // Languages: those of the URL, of the browser, and first of all chosen ones.
      assert.deepStrictEqual(yield* ids("trends/statuses?lang=de"), [german, best])
      yield* sql`UPDATE users SET chosen_languages = ARRAY['de'] WHERE account_id = ${dan.accountId}`
      assert.deepStrictEqual(yield* ids("trends/statuses?lang=en", dan), [german, best])
      const first = yield* get("trends/statuses?limit=1", dan)
      assert.deepStrictEqual(first.body.map(({ id }: { readonly id: string }) => id), [german])
      assert.match(
        first.headers.get("link") ?? "",
        /^<[^>]*\/api\/v1\/trends\/statuses\?limit=1&offset=1>; rel="next"$/
      )
      const last = yield* get("trends/statuses?limit=1&offset=1", dan)
      assert.deepStrictEqual(last.body.map(({ id }: { readonly id: string }) => id), [best])
      assert.match(last.headers.get("link") ?? "", /offset=0>; rel="prev"$/)
      assert.deepStrictEqual((yield* get("trends/statuses?offset=99999999999999")).body, [])
      // Hiding in both directions, and filters.
      yield* call("POST", `/api/v1/accounts/${ada.accountId}/mute`, dan.token)
      assert.deepStrictEqual(yield* ids("trends/statuses", dan), [german])
      yield* call("POST", `/api/v1/accounts/${dan.accountId}/block`, bob.token)
      assert.deepStrictEqual(yield* ids("trends/statuses", dan), [])
      yield* call("POST", "/api/v2/filters", cyd.token, {
        title: "f",
        context: ["public"],
        filter_action: "hide",
        keywords_attributes: [{ keyword: "Deutsch" }]
      })
      assert.deepStrictEqual(yield* ids("trends/statuses", cyd), [best])
      // A changed decision removes it at once.
      yield* decide({ kind: "status", id: BigInt(best) }, false)
      assert.deepStrictEqual(yield* ids("trends/statuses"), [german])
      yield* refreshTrends
      assert.deepStrictEqual(yield* ids("trends/statuses"), [second, german])
      yield* call("DELETE", `/api/v1/statuses/${second}`, ada.token)
      yield* call("PATCH", "/api/v1/accounts/update_credentials", bob.token, { discoverable: false })
      assert.deepStrictEqual(yield* ids("trends/statuses"), [])
    }))

  it.effect("links trend by site or singly, with their history, and have a timeline as long as they do", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const me = yield* createPerson("reader")
      const many = yield* remoteAccounts("links.test", 20)
      const [news, blog] = ["https://news.test/a?b=1", "https://blog.test/"]
      const card = yield* linkedBy(news, many)
      yield* linkedBy(blog, many.slice(0, 9), "de")
      yield* linkedBy("https://rare.test/", many.slice(0, 4))
      yield* refreshTrends
      assert.deepStrictEqual(yield* urls("trends/links"), [])
      yield* decide({ kind: "site", site: "news.test" }, true)
      yield* decide({ kind: "site", site: "rare.test" }, true)
      assert.deepStrictEqual(yield* urls("trends/links"), [news])
      yield* decide({ kind: "site", site: "blog.test" }, true)
      assert.deepStrictEqual(yield* urls("trends/links"), [news, blog])
      assert.deepStrictEqual(yield* urls("trends/links?lang=de-CH", me), [blog, news])
      const { body } = yield* get("trends/links", me)
      const [link] = yield* Schema.decodeUnknownEffect(Schema.Array(TrendingLink))(body, strict)
      assert.lengthOf(link?.history ?? [], 7)
      assert.deepInclude(link?.history[0], { uses: "20", accounts: "20" })

      const timeline = (url: string, more = "") => get(`timelines/link?url=${encodeURIComponent(url)}${more}`, me)
      const all = yield* timeline(news)
      assert.lengthOf(all.body, 20)
      const page = yield* timeline(news, "&limit=3")
      assert.match(
        page.headers.get("link") ?? "",
        /timelines\/link\?limit=3&url=https%3A%2F%2Fnews\.test%2Fa%3Fb%3D1&max_id=\d+>; rel="next"/
      )
      const below = yield* timeline(news, `&limit=3&max_id=${page.body[2].id}`)
      assert.deepStrictEqual(
        [...page.body, ...below.body].map(({ id }) => id),
        all.body.slice(0, 6).map(({ id }: { readonly id: string }) => id)
      )
      assert.lengthOf((yield* get(`timelines/link?url=${encodeURIComponent(`${news}#there`)}`)).body, 20)
      for (const url of ["https://rare.test/", "https://never.test/", "nonsense", ""]) {
        assert.strictEqual((yield* timeline(url)).status, 404, url)
      }
      assert.strictEqual((yield* get("timelines/link")).status, 404)
      // Undiscoverable, limited, suspended and hidden accounts are left out.
      yield* sql`UPDATE accounts SET discoverable = false WHERE id = ${many[0] ?? 0n}`
      yield* sql`UPDATE accounts SET silenced_at = now() WHERE id = ${many[1] ?? 0n}`
      yield* sql`UPDATE accounts SET suspended_at = now() WHERE id = ${many[2] ?? 0n}`
      yield* call("POST", `/api/v1/accounts/${many[3]}/block`, me.token)
      yield* sql`UPDATE statuses SET visibility = 'private' WHERE account_id = ${many[4] ?? 0n}`
      assert.lengthOf((yield* timeline(news)).body, 15)
      yield* decide({ kind: "link", cardId: card }, false)
      assert.strictEqual((yield* timeline(news)).status, 404)
      assert.deepStrictEqual(yield* urls("trends/links"), [blog])
    }))
})

layer(TestServer.layer({ TRENDS_REVIEW: "off" }), { excludeTestServices: true })("trends without review", (it) => {
  it.effect("TRENDS_REVIEW=off shows unreviewed trends, and no rejected ones", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const me = yield* createPerson("anna")
      yield* discoverable(me)
      const liked = yield* publishedId(me, "#good #bad #forbidden")
      const many = yield* remoteAccounts("off.test", 9)
      for (const tag of ["good", "bad"]) yield* taggedBy(tag, many)
      yield* favouritedBy(liked, many)
      yield* linkedBy("https://off.test/", many)
      yield* decide({ kind: "tag", name: "bad" }, false)
      yield* refreshTrends
      assert.deepStrictEqual(yield* names("trends/tags"), ["good"])
      assert.deepStrictEqual(yield* ids("trends/statuses"), [liked])
      assert.deepStrictEqual(yield* urls("trends/links"), ["https://off.test/"])
    }))

  it.effect("of concurrent nodes only one computes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const nodes = yield* Effect.forEach([1, 2, 3, 4], () => Effect.suspend(() => runOf))
      yield* sql`DELETE FROM chores`
      const done = yield* Effect.forEach(nodes, (run) => run, { concurrency: "unbounded" })
      assert.deepStrictEqual(done.flat().toSorted(), kinds.toSorted())
      assert.deepStrictEqual(yield* Effect.flatten(runOf), [])
      // A wrong clock does not block refreshes.
      yield* sql`UPDATE chores SET begun_at = begun_at + interval '10 days'`
      assert.deepStrictEqual(yield* Effect.flatten(runOf), kinds)
    }))
})

/** Server on a database without computed trends. */
const first = TestServer.layerOnly().pipe(
  Layer.provideMerge(Layer.effectDiscard(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`DELETE FROM chores`))),
  Layer.provideMerge(TestDatabase.layer)
)
layer(first, { excludeTestServices: true })("trends of a server that starts", (it) => {
  it.effect("S-306: they are computed without a request", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const begun = yield* eventually(sql`SELECT FROM chores`, ({ length }) => length === kinds.length)
      assert.strictEqual(begun.length, kinds.length)
    }))
})
