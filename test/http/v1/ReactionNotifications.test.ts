import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Notification } from "../../../src/http/wire/Notification.ts"
import { call, newPerson, publish } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { type Person, TestServer } from "../../support/Server.ts"
import { watching } from "../../support/WatchedStream.ts"

const strict = { onExcessProperty: "error" } as const
const react = (by: Person, id: string, name: string, method = "PUT") =>
  call(method, `/api/v1/pleroma/statuses/${id}/reactions/${encodeURIComponent(name)}`, by.token)
const reactionsOf = (by: Person, query = "?types[]=pleroma:emoji_reaction") =>
  Effect.map(call("GET", `/api/v1/notifications${query}`, by.token), ({ body }) => body)

layer(TestServer.layer(), { excludeTestServices: true })("notifications of reactions", (it) => {
  it.effect("D-006: notify the author, and only apps that request the type see it", () =>
    Effect.gen(function*() {
      const [kai, lea] = [yield* newPerson("kai"), yield* newPerson("lea")]
      const { id } = yield* publish(kai, "hello")
      const [plain, knowing] = [
        yield* watching(kai),
        yield* watching(kai, "&supported_types[]=pleroma:emoji_reaction")
      ]
      yield* react(lea, id, "🔥")
      yield* react(lea, id, "🦆")
      const [told] = yield* eventually(reactionsOf(kai), ({ length }) => length > 0)
      yield* Schema.decodeUnknownEffect(Notification)(told, strict)
      assert.deepInclude(told, { type: "pleroma:emoji_reaction", emoji: "🦆", emoji_url: null })
      assert.strictEqual(told.account.username, "lea")
      assert.strictEqual(told.status.id, id)
      assert.strictEqual(JSON.parse((yield* knowing.next("notification"))[1]).type, "pleroma:emoji_reaction")
      yield* call("POST", `/api/v1/statuses/${id}/favourite`, lea.token)
      assert.strictEqual(JSON.parse((yield* plain.next("notification"))[1]).type, "favourite")

      const types = (all: ReadonlyArray<{ readonly type: string }>) => all.map(({ type }) => type)
      assert.deepStrictEqual(types(yield* reactionsOf(kai, "")), ["favourite"])
      const grouped = (query: string) =>
        Effect.map(call("GET", `/api/v2/notifications${query}`, kai.token), ({ body }) => body.notification_groups)
      assert.deepStrictEqual(types(yield* grouped("")), ["favourite"])
      const [group] = yield* grouped("?types[]=pleroma:emoji_reaction")
      assert.deepInclude(group, { type: "pleroma:emoji_reaction", emoji: "🦆", status_id: id })
      const count = (query: string) =>
        Effect.map(call("GET", `/api/v1/notifications/unread_count${query}`, kai.token), ({ body }) => body.count)
      assert.strictEqual(yield* count(""), 1)
      assert.strictEqual(yield* count("?include_types[]=pleroma:emoji_reaction"), 1)
      // An app that names its known types gets others as text.
      const [, worded] = yield* reactionsOf(kai, "?supported_types[]=favourite")
      assert.strictEqual(worded.fallback.title, "@lea reacted to your post")

      yield* react(lea, id, "🦆", "DELETE")
      assert.strictEqual((yield* reactionsOf(kai))[0].emoji, "🔥")
      yield* react(lea, id, "🔥", "DELETE")
      assert.deepStrictEqual(yield* reactionsOf(kai), [])
      // Own actions do not notify.
      yield* react(kai, id, "🔥")
      yield* react(lea, id, "🔥")
      const after = yield* eventually(reactionsOf(kai), ({ length }) => length > 0)
      assert.lengthOf(after, 1)
    }))
})
