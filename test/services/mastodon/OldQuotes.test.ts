import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { idOf, servers, source, transferred } from "../../support/mastodon/Copies.ts"
import { TestServer } from "../../support/Server.ts"

layer(servers, { excludeTestServices: true })("old quotes of local posts at a Mastodon server", (it) => {
  it.effect("F469: other servers find the consents that local accounts gave to their old quotes", () =>
    Effect.gen(function*() {
      const { fetch } = yield* TestServer
      const from = yield* source("4.5")
      const ada = yield* from.person(idOf(1), "ada")
      const zoe = yield* from.stranger(idOf(2), "zoe")
      yield* from.insert("statuses", { id: idOf(10), accountId: ada.id, local: true, text: "post" })
      const uri = "https://far.example/notes/11"
      yield* from.insert("statuses", { id: idOf(11), accountId: zoe.id, local: false, uri, text: "quote" })
      yield* from.insert("quotes", {
        id: 50n,
        accountId: zoe.id,
        statusId: idOf(11),
        quotedStatusId: idOf(10),
        quotedAccountId: ada.id,
        state: 1
      })
      yield* transferred(from, "copy")
      const response = yield* fetch("/users/ada/quote_authorizations/50", {
        headers: { accept: "application/activity+json" }
      })
      assert.strictEqual(response.status, 200)
      assert.deepInclude(yield* Effect.promise(() => response.json()), { interactingObject: uri })
    }))
})
