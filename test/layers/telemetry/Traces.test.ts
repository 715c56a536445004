import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { keyOperations, listener } from "../../federation/Listener.ts"
import { sendTo } from "../../federation/SentActivity.ts"
import { startCollector } from "../../safety/Collector.ts"
import { json } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { freePort } from "../../support/ports.ts"
import { pushService } from "../../support/PushService.ts"
import { TestServer } from "../../support/Server.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { pathOf, spansOf } from "../../support/Traces.ts"

/** Headers with which a client would choose the trace. */
const foreign = {
  traceparent: "00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00",
  b3: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-0"
}

/** Spans on a path that the test names; statements and services are between them. */
const stations = new Set([
  "POST",
  "AccountActors.tell",
  "Account.Do",
  "Account.Publish",
  "Fanout.slice",
  "InboundActivities.enqueue",
  "Inbox.process",
  "DeliveryRound.attempt",
  "PushRunner.send",
  "Outbound.post"
])

it.live(
  "F280, F281: one trace leads from a request over actor and fan-out to deliveries and pushes, across retries and a restart",
  () =>
    Effect.gen(function*() {
      const collector = yield* startCollector
      const database = yield* Layer.build(TestDatabase.layer)
      const sql = Context.get(database, SqlClient.SqlClient)
      const port = String(yield* freePort)
      const origin = `http://127.0.0.1:${port}`
      const variables = { PORT: port, PUBLIC_URL: origin, OUTBOUND_ALLOW: "127.0.0.0/8", OTLP_URL: collector.url }
      /** Runs a server on the database until the effect ends. */
      const serving = <A, E, R>(use: Effect.Effect<A, E, R>) =>
        Effect.scoped(Effect.provide(use, Layer.fresh(TestServer.layerOnly(variables)))).pipe(
          Effect.provideContext(database)
        )
      const there = yield* listener()
      const phones = yield* pushService()
      const zoe = yield* there.actor("zoe")
      const phone = yield* serving(Effect.gen(function*() {
        const { createPerson, fetch } = yield* TestServer
        const [anna, bob] = [yield* createPerson("anna"), yield* createPerson("bob")]
        yield* sendTo({ fetch, origin }, zoe)({
          id: `${zoe.id}#follow`,
          type: "Follow",
          object: `${origin}/users/anna`
        })
        yield* eventually(Effect.sync(() => there.received.length), (count) => count === 1)
        const instance = yield* json(undefined, "/api/v2/instance")
        const phone = phones.device("phone", instance.configuration.vapid.public_key)
        yield* json(bob, "/api/v1/push/subscription", {
          subscription: { endpoint: phone.endpoint, keys: phone.keys },
          data: { alerts: { mention: true } }
        })
        there.state.status = 503
        const status = { status: "@bob hello" }
        yield* fetch("/api/v1/statuses", { method: "POST", token: anna.token, json: status, headers: foreign })
        yield* eventually(sql`SELECT FROM deliveries WHERE error IS NOT NULL`, (rows) => rows.length === 1)
        yield* eventually(Effect.sync(() => phone.told.length), (count) => count === 1)
        return phone
      }))
      there.state.status = 202
      yield* sql`UPDATE deliveries SET due_at = now()`
      yield* serving(eventually(sql`SELECT FROM deliveries`, (rows) => rows.length === 0))

      const spans = spansOf(collector.received)
      const ids = new Set(spans.map(({ id }) => id))
      assert.deepStrictEqual(
        spans.filter(({ parent }) => parent !== undefined && !ids.has(parent)).map(({ name }) => name),
        [],
        "each parent was exported as well"
      )
      /** Returns the paths from the request to requests to other servers. */
      const waysFrom = (path: string) => {
        const trace = spans.find(({ attributes, name }) => name === "POST" && attributes["url.path"] === path)?.traceId
        assert.notInclude([undefined, "a".repeat(32)], trace, "a client does not choose the trace")
        const all = spans.filter(({ traceId }) => traceId === trace)
        return all.filter(({ name }) => name === "Outbound.post").map((span) =>
          pathOf(all, span).filter((name) => stations.has(name)).join(" > ")
        )
      }
      const command = "POST > AccountActors.tell > Account.Do > Account.Publish > Fanout.slice"
      const delivery = "Fanout.slice > DeliveryRound.attempt > Outbound.post"
      assert.sameMembers(waysFrom("/api/v1/statuses"), [
        `${command} > ${delivery}`,
        `${command} > ${delivery}`,
        `${command} > PushRunner.send > Outbound.post`
      ])
      assert.deepStrictEqual(waysFrom("/inbox"), [
        "POST > InboundActivities.enqueue > Inbox.process > DeliveryRound.attempt > Outbound.post"
      ])

      for (const { headers } of [...there.received, ...phone.told]) {
        assert.notProperty(headers, "traceparent", "other servers do not get the trace")
        assert.notProperty(headers, "b3")
      }
    }).pipe(Effect.provide(Layer.merge(keyOperations, NodeServices.layer)), Effect.scoped)
)
