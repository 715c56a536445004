import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "../../support/MediaFiles.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { sourcesIn } from "../../support/source.ts"
import { done, note, OtherServer, servers } from "../activitypub/Sending.ts"

const newcomer = (username: string) => TestServer.use(({ createPerson }) => createPerson(username))
const say = (by: Person, status: string, more: Record<string, unknown> = {}) =>
  call("POST", "/api/v1/statuses", by.token, { status, ...more })
const form = (by: Person, path: string, body: string) =>
  TestServer.use(({ fetch }) =>
    fetch(path, {
      method: "POST",
      token: by.token,
      body,
      headers: { "content-type": "application/x-www-form-urlencoded" }
    })
  )

layer(servers, { excludeTestServices: true, timeout: "2 minutes" })("what clients are used to", (it) => {
  it.effect("F30: empty and null languages of a follow mean all; without the parameter they stay", () =>
    Effect.gen(function*() {
      const [reader, author] = [yield* newcomer("reader"), yield* newcomer("author")]
      const path = `/api/v1/accounts/${author.accountId}/follow`
      const follow = (json: Record<string, unknown>) =>
        Effect.map(call("POST", path, reader.token, json), ({ body }) => body.languages)
      assert.isNull(yield* follow({ languages: [] }))
      assert.deepStrictEqual(yield* follow({ languages: ["de", "fr"] }), ["de", "fr"])
      assert.deepStrictEqual(yield* follow({ reblogs: false }), ["de", "fr"])
      assert.isNull(yield* follow({ languages: null }))
      for (const nothing of ["languages[]=", "languages="]) {
        yield* follow({ languages: ["de"] })
        yield* form(reader, path, nothing)
        assert.isNull(yield* follow({}), nothing)
      }
      const { body } = yield* say(author, "Hello", { language: "en" })
      const home = yield* call("GET", "/api/v1/timelines/home", reader.token)
      assert.deepStrictEqual(home.body.map(({ id }: { readonly id: string }) => id), [body.id])
    }))

  it.effect("F31: a public post counts once in its hashtags' history, whoever wrote it and however often it is edited", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newcomer("tagging"), yield* newcomer("tagging2")]
      const zoe = yield* OtherServer.use(({ actor }) => actor("tagger"))
      const today = Effect.map(call("GET", "/api/v1/tags/counted", undefined), ({ body }) => {
        const { accounts, uses } = body.history[0]
        return [Number(uses), Number(accounts)]
      })
      const { body } = yield* say(ada, "#Counted #counted and #other")
      assert.deepStrictEqual(yield* today, [1, 1])
      const edit = (status: string) => call("PUT", `/api/v1/statuses/${body.id}`, ada.token, { status })
      yield* edit("#counted more")
      yield* edit("#counted even more")
      assert.deepStrictEqual(yield* today, [1, 1])
      yield* edit("no more")
      assert.deepStrictEqual(yield* today, [0, 0])
      yield* edit("once #counted")
      assert.deepStrictEqual(yield* today, [1, 1])
      for (const visibility of ["unlisted", "private", "direct"]) yield* say(ada, "#counted", { visibility })
      assert.deepStrictEqual(yield* today, [1, 1])
      yield* say(ada, "again #counted")
      assert.deepStrictEqual(yield* today, [2, 1])
      yield* say(bob, "#COUNTED too")
      assert.deepStrictEqual(yield* today, [3, 2])

      const { baseUrl } = yield* TestServer
      const cc = [`${baseUrl}/users/${ada.username}`]
      const tag = [{ type: "Mention", href: cc[0] }, { type: "Hashtag", name: "#Counted" }]
      const post = note(zoe, "counts", { cc, tag })
      assert.strictEqual(yield* done(zoe, { type: "Create", object: post }), "done")
      assert.deepStrictEqual(yield* today, [4, 3])
      const edited = { ...post, content: "<p>edited</p>", updated: new Date().toISOString() }
      assert.strictEqual(yield* done(zoe, { type: "Update", object: edited }), "done")
      assert.deepStrictEqual(yield* today, [4, 3])
      const secret = note(zoe, "secret", { to: cc, cc: [], tag: [...tag, { type: "Hashtag", name: "#hushed" }] })
      assert.strictEqual(yield* done(zoe, { type: "Create", object: secret }), "done")
      assert.deepStrictEqual(yield* today, [4, 3])
      const { body: hushed } = yield* call("GET", "/api/v1/tags/hushed", undefined)
      assert.deepInclude(hushed.history[0], { uses: "0", accounts: "0" })
    }))

  it("F31: posts get their hashtags in one place", () => {
    const attaching = sourcesIn("src").filter(({ text }) => /INSERT INTO (?:statuses_tags|tag_days)/.test(text))
    assert.deepStrictEqual(attaching.map(({ path }) => path), ["src/services/statuses/Tagging.ts"])
  })
})
