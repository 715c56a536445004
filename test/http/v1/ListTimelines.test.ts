import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, idsOf, newPerson, publishedId, settled } from "../../support/Api.ts"
import { create, follow, forget, home, path, put, timeline } from "../../support/ListCalls.ts"
import { links } from "../../support/Requests.ts"
import { TestServer } from "../../support/Server.ts"

layer(TestServer.layer(), { excludeTestServices: true })("timelines of lists", (it) => {
  it.effect("S-204 S-219: a list's timeline has its members' posts like home, from its feed and from Postgres alike", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo, dora] = [
        yield* newPerson("anna4"),
        yield* newPerson("ben4"),
        yield* newPerson("cleo4"),
        yield* newPerson("dora4")
      ]
      yield* follow(anna, ben)
      yield* follow(anna, cleo, { reblogs: false })
      const list = yield* create(anna, { replies_policy: "list" })
      yield* put(anna, list, ben, cleo, dora)
      assert.deepStrictEqual(yield* timeline(anna, list), [])
      const wanted: Array<string> = []
      const keep = (id: string) => wanted.unshift(id)
      keep(yield* publishedId(ben, "public"))
      const hidden = yield* publishedId(ben, "private", { visibility: "private" })
      keep(hidden)
      keep(yield* publishedId(dora, "unlisted of a stranger", { visibility: "unlisted" }))
      yield* publishedId(dora, "private of a stranger", { visibility: "private" })
      yield* publishedId(ben, "@anna4 direct", { visibility: "direct" })
      keep(yield* publishedId(ben, "to a member", { in_reply_to_id: wanted.at(-1) }))
      const eva = yield* newPerson("eva4")
      const elsewhere = yield* publishedId(eva, "of somebody else")
      yield* publishedId(ben, "to somebody else", { in_reply_to_id: elsewhere })
      yield* ask(cleo, "POST", `/api/v1/statuses/${elsewhere}/reblog`)
      keep((yield* ask(ben, "POST", `/api/v1/statuses/${elsewhere}/reblog`)).body.id)
      yield* settled
      assert.deepStrictEqual(yield* timeline(anna, list), wanted)
      yield* forget(anna, eva)
      assert.deepStrictEqual(yield* timeline(anna, list), wanted)

      const page = yield* ask(anna, "GET", `/api/v1/timelines/list/${list}?limit=2`)
      assert.deepStrictEqual(page.body.map(({ id }: { readonly id: string }) => id), wanted.slice(0, 2))
      const { next, prev } = links(page.headers)
      assert.deepStrictEqual(yield* idsOf(anna, next!), wanted.slice(2, 4))
      assert.deepStrictEqual(yield* idsOf(anna, prev!), [])
      assert.deepStrictEqual(yield* timeline(anna, list, `?min_id=${wanted[3]}&limit=1`), [wanted[2]!])
      assert.deepStrictEqual(yield* timeline(anna, list, `?since_id=${wanted[3]}&limit=1`), [wanted[0]!])

      yield* ask(ben, "DELETE", `/api/v1/statuses/${hidden}`)
      yield* settled
      assert.deepStrictEqual(yield* timeline(anna, list), wanted.filter((id) => id !== hidden))
      yield* ask(anna, "POST", `/api/v1/accounts/${dora.accountId}/mute`)
      const others = wanted.filter((id, at) => id !== hidden && at !== 2)
      assert.deepStrictEqual((yield* timeline(anna, list)).length, others.length)
      yield* ask(anna, "POST", `/api/v1/accounts/${ben.accountId}/unfollow`)
      assert.deepStrictEqual(yield* timeline(anna, list), [])
    }))

  it.effect("replies are those to members, to followed accounts, or none, as the list's policy says", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo, dora] = [
        yield* newPerson("anna5"),
        yield* newPerson("ben5"),
        yield* newPerson("cleo5"),
        yield* newPerson("dora5")
      ]
      for (const other of [ben, cleo]) yield* follow(anna, other)
      const [byDora, byCleo, byAnna, byBen] = [
        yield* publishedId(dora, "one"),
        yield* publishedId(cleo, "two"),
        yield* publishedId(anna, "three"),
        yield* publishedId(ben, "four")
      ]
      const list = yield* create(anna)
      yield* put(anna, list, ben, dora)
      const response = (to: string) => publishedId(ben, "@cleo5 well", { in_reply_to_id: to })
      const [toDora, toCleo, toAnna, toSelf] = [
        yield* response(byDora),
        yield* response(byCleo),
        yield* response(byAnna),
        yield* response(byBen)
      ]
      const expected = {
        list: [toSelf, toAnna, toDora],
        followed: [toSelf, toAnna, toCleo],
        none: [toSelf, toAnna]
      }
      for (const [policy, replies] of Object.entries(expected)) {
        yield* ask(anna, "PUT", `${path}/${list}`, { replies_policy: policy })
        assert.deepStrictEqual(yield* timeline(anna, list), [...replies, byBen, byDora], policy)
      }
    }))

  it.effect("S-220: posts of an exclusive list are not in home, until it is no longer exclusive", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna6"), yield* newPerson("ben6"), yield* newPerson("cleo6")]
      for (const other of [ben, cleo]) yield* follow(anna, other)
      const list = yield* create(anna, { exclusive: true })
      yield* ask(anna, "POST", `${path}/${list}/tags`, { tags: ["#Birds"] })
      const plain = yield* publishedId(cleo, "plain")
      const early = yield* publishedId(ben, "early")
      assert.deepStrictEqual(yield* home(anna), [early, plain])
      yield* put(anna, list, ben)
      assert.deepStrictEqual(yield* home(anna), [plain])
      const late = yield* publishedId(ben, "late")
      const direct = yield* publishedId(ben, "@anna6 direct", { visibility: "direct" })
      const birds = yield* publishedId(cleo, "of #birds")
      const fewer = yield* publishedId(cleo, "for fewer, of #birds", { visibility: "unlisted" })
      const mine = yield* publishedId(anna, "my #birds")
      yield* settled
      const apart = [mine, fewer, direct, plain]
      assert.deepStrictEqual(yield* home(anna), apart)
      assert.deepStrictEqual(yield* timeline(anna, list), [mine, birds, late, early])
      yield* forget(anna, cleo)
      assert.deepStrictEqual(yield* home(anna), apart)
      yield* ask(anna, "PUT", `${path}/${list}`, { exclusive: false })
      const all = [mine, fewer, birds, direct, late, early, plain]
      assert.deepStrictEqual(yield* home(anna), all)
      yield* ask(anna, "PUT", `${path}/${list}`, { exclusive: true })
      assert.deepStrictEqual(yield* home(anna), apart)
      yield* ask(anna, "DELETE", `${path}/${list}`)
      assert.deepStrictEqual(yield* home(anna), all)
    }))
})
