import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { publishedId } from "../support/Api.ts"
import { type Person, TestServer } from "../support/Server.ts"
import { call, follow, get, post, type Reply } from "./Calls.ts"

/** Id of a status that never existed. */
const never = "4711"

/** Requests about a status, by its id. */
const actions: ReadonlyArray<readonly [name: string, attempt: (id: string, by: Person) => ReturnType<typeof call>]> = [
  ...[
    "favourite",
    "unfavourite",
    "reblog",
    "unreblog",
    "bookmark",
    "unbookmark",
    "pin",
    "unpin",
    "mute",
    "unmute"
  ].map((verb) => [verb, (id: string, by: Person) => post(`/api/v1/statuses/${id}/${verb}`, by)] as const),
  ["reblog in private", (id, by) => post(`/api/v1/statuses/${id}/reblog`, by, { visibility: "private" })],
  ["reply", (id, by) => post("/api/v1/statuses", by, { status: "So?", in_reply_to_id: id })],
  [
    "scheduled reply",
    (id, by) =>
      post("/api/v1/statuses", by, { status: "So?", in_reply_to_id: id, scheduled_at: "2099-01-01T00:00:00Z" })
  ],
  ["edit", (id, by) => call("PUT", `/api/v1/statuses/${id}`, by, { status: "Mine now" })],
  ["edit by PATCH", (id, by) => call("PATCH", `/api/v1/statuses/${id}`, by, { status: "Mine now" })],
  ["delete", (id, by) => call("DELETE", `/api/v1/statuses/${id}`, by)],
  ["read", (id, by) => get(`/api/v1/statuses/${id}`, by)],
  ["read its source", (id, by) => get(`/api/v1/statuses/${id}/source`, by)],
  ["react", (id, by) => call("PUT", `/api/v1/pleroma/statuses/${id}/reactions/%F0%9F%94%A5`, by)],
  ["remove a reaction", (id, by) => call("DELETE", `/api/v1/pleroma/statuses/${id}/reactions/%F0%9F%94%A5`, by)],
  ["read its reactions", (id, by) => get(`/api/v1/pleroma/statuses/${id}/reactions`, by)],
  ["translate", (id, by) => post(`/api/v1/statuses/${id}/translate`, by)]
]

/** Headers that are unrelated to the status. */
const volatile = new Set(["date", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id"])
const comparable = ({ headers, status, text }: Reply) => ({
  status,
  text,
  headers: [...headers].filter(([name]) => !volatile.has(name))
})

layer(TestServer.layer(), { excludeTestServices: true })("rows 56, 57", (it) => {
  it.effect(
    "every action on a hidden status gets the same bytes as on a missing one",
    () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const [author, stranger, blocked, friend] = [
          yield* createPerson("author"),
          yield* createPerson("stranger"),
          yield* createPerson("blocked"),
          yield* createPerson("friend")
        ]
        yield* follow(friend, author)
        yield* post(`/api/v1/accounts/${blocked.accountId}/block`, author)
        const open = yield* publishedId(author, "For everybody")
        const gone = yield* publishedId(author, "To be deleted")
        yield* call("DELETE", `/api/v1/statuses/${gone}`, author)
        const secret = yield* publishedId(author, "For friends", { visibility: "private" })
        const direct = yield* publishedId(author, "@friend psst", { visibility: "direct" })
        const { body: scheduled } = yield* post("/api/v1/statuses", author, {
          status: "For later",
          scheduled_at: "2099-01-01T00:00:00Z"
        })
        const hidden: ReadonlyArray<readonly [Person, ReadonlyArray<string>]> = [
          [stranger, [gone, secret, direct, scheduled.id, "0", "9223372036854775807", "99999999999999999999", "x"]],
          [blocked, [open, gone, secret, direct]]
        ]
        for (const [person, ids] of hidden) {
          for (const [name, attempt] of actions) {
            const missing = comparable(yield* attempt(never, person))
            assert.strictEqual(missing.status, 404, `${name}: ${missing.text}`)
            for (const id of ids) {
              assert.deepStrictEqual(
                comparable(yield* attempt(id, person)),
                missing,
                `${person.username}: ${name} ${id}`
              )
            }
          }
        }
        // The attempts have had no effect, and those who may read it still can.
        for (const [id, text] of [[open, "everybody"], [secret, "friends"], [direct, "psst"]] as const) {
          const { body } = yield* get(`/api/v1/statuses/${id}`, friend)
          assert.include(body.content, text)
          assert.deepInclude(body, { favourites_count: 0, reblogs_count: 0, replies_count: 0 })
        }
        const { body: notifications } = yield* get("/api/v1/notifications", author)
        assert.deepStrictEqual(notifications.map(({ type }: { readonly type: string }) => type), ["follow"])
      })
  )

  it.effect(
    "row 57: a hidden status takes as long as a missing one",
    () =>
      Effect.gen(function*() {
        const { createPerson } = yield* TestServer
        const [author, stranger] = [yield* createPerson("quiet"), yield* createPerson("clocker")]
        const secret = yield* publishedId(author, `Between us ${"so ".repeat(100)}`, { visibility: "private" })
        const requests = [
          (id: string) => get(`/api/v1/statuses/${id}`, stranger),
          (id: string) => get(`/api/v1/statuses/${id}/context`, stranger),
          (id: string) => post(`/api/v1/statuses/${id}/favourite`, stranger)
        ]
        for (const request of requests) {
          const millis = Effect.fnUntraced(function*(id: string) {
            const began = performance.now()
            yield* request(id)
            return performance.now() - began
          })
          // In turns, so that other load on this machine affects both alike.
          const pairs = yield* Effect.replicateEffect(Effect.all([millis(secret), millis(never)]), 80)
          const quartiles = ([0, 1] as const).map((index) => {
            const sorted = pairs.map((pair) => pair[index]).toSorted((a, b) => a - b)
            return { low: sorted[20]!, high: sorted[60]! }
          })
          const [hidden, missing] = [quartiles[0]!, quartiles[1]!]
          assert.isTrue(hidden.low <= missing.high && missing.low <= hidden.high, JSON.stringify({ hidden, missing }))
        }
      })
  )

  it.effect("S-127, row 56: interactions with a post that became private can be undone, and disclose none of its content", () =>
    Effect.gen(function*() {
      const { createPerson } = yield* TestServer
      const [author, fan] = [yield* createPerson("writer"), yield* createPerson("fan")]
      yield* follow(fan, author)
      const secret = yield* publishedId(author, "Between us", { visibility: "private" })
      const open = yield* publishedId(author, "Aloud")
      for (const verb of ["favourite", "bookmark"]) yield* post(`/api/v1/statuses/${secret}/${verb}`, fan)
      yield* post(`/api/v1/statuses/${open}/reblog`, fan)
      yield* post(`/api/v1/accounts/${fan.accountId}/block`, author)
      for (const [verb, id] of [["unfavourite", secret], ["unbookmark", secret], ["unreblog", open]] as const) {
        const { body, status, text } = yield* post(`/api/v1/statuses/${id}/${verb}`, fan)
        assert.strictEqual(status, 200, verb)
        assert.strictEqual(body.id, id)
        assert.notInclude(text, "Between us")
      }
      const { body } = yield* get(`/api/v1/statuses/${secret}`, author)
      assert.strictEqual(body.favourites_count, 0)
    }))
})
