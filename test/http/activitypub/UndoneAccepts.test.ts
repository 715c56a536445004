import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json, newPerson } from "../../support/Api.ts"
import { found, there } from "./InboxCalls.ts"
import { sentOf } from "./QuoteDocuments.ts"
import { deliverFrom, servers } from "./Sending.ts"

layer(servers, { excludeTestServices: true })("accepts that are undone", (it) => {
  it.effect("F80: an Undo finds its Accept in every form of its id, and embedded", () =>
    Effect.gen(function*() {
      const accepts: Readonly<Record<string, (type: string, id: string) => unknown>> = {
        id: (_, id) => id,
        listOfId: (_, id) => [id],
        object: (_, id) => ({ id }),
        part: (type, id) => ({ type, id }),
        listOfPart: (type, id) => [{ type, id }],
        dated: (type, id) => ({ type, id, published: new Date().toISOString() })
      }
      for (const [form, named] of Object.entries(accepts)) {
        const [ben, yan] = [yield* newPerson(`bea${form.toLowerCase()}`), yield* there(`yul${form.toLowerCase()}`)]
        const { id } = yield* found(ben, yan.name)
        const following = Effect.map(
          json(ben, `/api/v1/accounts/relationships?id[]=${id}`),
          ([relation]) => relation.following
        )
        yield* json(ben, `/api/v1/accounts/${id}/follow`, {})
        const request = yield* Effect.map(sentOf("Follow"), (all) => all.findLast(({ object }) => object === yan.id))
        const accept = { id: `${yan.id}/accepts/1`, type: "Accept", object: request }
        yield* deliverFrom(yan, accept)
        assert.isTrue(yield* following, form)
        assert.strictEqual(yield* deliverFrom(yan, { type: "Undo", object: named("Accept", accept.id) }), "done", form)
        assert.isFalse(yield* following, form)
      }
      const [ben, yan, eve] = [
        yield* newPerson("beaembedded"),
        yield* there("yulembedded"),
        yield* there("eveembedded")
      ]
      const { id } = yield* found(ben, yan.name)
      yield* json(ben, `/api/v1/accounts/${id}/follow`, {})
      const request = yield* Effect.map(sentOf("Follow"), (all) => all.findLast(({ object }) => object === yan.id))
      const accept = { id: `${yan.id}/accepts/1`, type: "Accept", actor: yan.id, object: request?.["id"] }
      yield* deliverFrom(yan, accept)
      // An account cannot undo another one's Accept.
      yield* deliverFrom(eve, { type: "Undo", object: accept.id })
      yield* deliverFrom(eve, { type: "Undo", object: accept })
      const [standing] = yield* json(ben, `/api/v1/accounts/relationships?id[]=${id}`)
      assert.isTrue(standing.following)
      yield* deliverFrom(yan, { type: "Undo", object: accept })
      const [gone] = yield* json(ben, `/api/v1/accounts/relationships?id[]=${id}`)
      assert.isFalse(gone.following)
    }))
})
