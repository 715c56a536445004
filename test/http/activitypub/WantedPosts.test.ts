import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, newPerson } from "../../support/Api.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

const there = (name: string) => OtherServer.use(({ actor }) => actor(name))

layer(servers, { excludeTestServices: true })("posts of unfollowed accounts", (it) => {
  it.effect("public ones are stored for a followed hashtag, and public or unlisted ones for a list", () =>
    Effect.gen(function*() {
      const [ida, wim, una] = [yield* newPerson("ida"), yield* there("wim"), yield* there("una")]
      const birds = { tag: [{ type: "Hashtag", name: "#Birds", href: "https://else.test/tags/birds" }] }
      const create = (by: typeof wim, name: string, more = {}) =>
        deliverFrom(by, { type: "Create", object: note(by, name, { ...birds, ...more }) })
      const nothing = "ignored: irrelevant to local accounts"
      assert.strictEqual(yield* create(wim, "unwanted"), nothing)
      yield* ask(ida, "POST", "/api/v1/tags/birds/follow")
      assert.strictEqual(yield* create(wim, "wanted"), "done")
      assert.strictEqual(
        yield* create(wim, "unlisted", { to: [`${wim.id}/followers`], cc: note(wim, "x")["to"] }),
        nothing
      )
      assert.strictEqual(yield* create(wim, "few", { to: [`${wim.id}/followers`], cc: [] }), nothing)
      const uris = (path: string) =>
        Effect.map(ask(ida, "GET", path), ({ body }) => body.map(({ uri }: { readonly uri: string }) => uri))
      assert.deepStrictEqual(yield* uris("/api/v1/timelines/home"), [`${wim.id}/notes/wanted`])

      assert.strictEqual(yield* create(una, "before", { tag: [] }), nothing)
      const handle = encodeURIComponent(`una@${(yield* OtherServer).domain}`)
      const found = yield* ask(ida, "GET", `/api/v1/accounts/search?q=${handle}`)
      const { body: list } = yield* ask(ida, "POST", "/api/v1/lists", { title: "Strangers" })
      yield* ask(ida, "POST", `/api/v1/lists/${list.id}/accounts`, { account_ids: [found.body[0].id] })
      assert.strictEqual(yield* create(una, "listed", { tag: [] }), "done")
      assert.strictEqual(yield* create(una, "private", { tag: [], to: [`${una.id}/followers`], cc: [] }), nothing)
      assert.deepStrictEqual(yield* uris(`/api/v1/timelines/list/${list.id}`), [`${una.id}/notes/listed`])
    }))
})
