import { assert, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { revalidationPeriod } from "../../../src/http/streaming/Hub.ts"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { person } from "../../support/People.ts"
import { connect, layerStreams, listen, tokenOf } from "./Streams.ts"

layer(layerStreams)("Streams over time", (it) => {
  it.effect("S-007: ping every 30 s and close silent connections", () =>
    Effect.gen(function*() {
      const { secret } = yield* tokenOf(yield* person("ping1"))
      const lively = yield* connect({ query: "?stream=user", protocol: secret })
      const silent = yield* connect({ query: "?stream=user", protocol: secret, autoPong: false })
      yield* TestClock.adjust("30 seconds")
      yield* Effect.all([lively.pinged, silent.pinged])
      // The server has read the active client's pong when it has responded to a later message.
      yield* lively.send({ type: "subscribe", stream: "" })
      yield* lively.next
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* silent.closed).code, 1006)
      yield* lively.pinged
    }).pipe(Effect.scoped))

  it.effect("S-007: keep server-sent events alive every 15 s", () =>
    Effect.gen(function*() {
      const { secret } = yield* tokenOf(yield* person("thump2"))
      const { hello, next } = yield* listen("user", secret)
      yield* hello
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(yield* next, Option.some(":thump"))
      yield* TestClock.adjust("15 seconds")
      assert.deepStrictEqual(yield* next, Option.some(":thump"))
    }).pipe(Effect.scoped))

  it.effect("row 70: end with their token even if the message about it was lost, however it was revoked", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const broadcast = yield* Broadcast
      const causes = [
        sql`UPDATE oauth_tokens SET revoked_at = created_at WHERE account_id =`,
        sql`DELETE FROM oauth_tokens WHERE account_id =`,
        sql`UPDATE users SET disabled = true WHERE account_id =`,
        sql`UPDATE accounts SET suspended_at = updated_at WHERE id =`
      ]
      const bystander = yield* person("bystander3")
      const other = yield* connect({ query: "?stream=user", protocol: (yield* tokenOf(bystander)).secret })
      for (const [index, cause] of causes.entries()) {
        const account = yield* person(`lost3${index}`)
        const { secret } = yield* tokenOf(account)
        const socket = yield* connect({ query: "?stream=user", protocol: secret })
        const events = yield* listen("user", secret)
        yield* events.hello
        yield* sql`${cause} ${account}`
        yield* TestClock.adjust(revalidationPeriod)
        assert.strictEqual((yield* socket.closed).code, 1008)
        yield* events.rest
      }
      yield* broadcast.publish({ _tag: "FiltersChanged", accountId: bystander })
      assert.strictEqual((yield* other.next).event, "filters_changed")
    }).pipe(Effect.scoped))
})
