import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createServer, type Server, type Socket } from "node:net"
import { eventually } from "../../support/Eventually.ts"
import { startInstance } from "../../support/Fediverse.ts"
import { pushService } from "../../support/PushService.ts"
import {
  everything,
  follow,
  idle,
  type Json,
  name,
  responseOf,
  secondApp,
  subscribed,
  toldOf,
  World,
  world
} from "../push/PushDevices.ts"

const typesOf = (device: { readonly told: ReadonlyArray<Json> }) =>
  device.told.map(({ message }) => message.notification_type)

layer(world, { excludeTestServices: true })("pushes", (it) => {
  it.effect("S-089, S-263: only requested alerts of accounts that the policy allows are sent, each once and in order", () =>
    Effect.gen(function*() {
      const { here } = yield* World
      const anna = yield* here.person(name("anna"))
      const [friend, fan, stranger] = yield* Effect.forEach(
        ["friend", "fan", "stranger"],
        (one) => here.person(name(one))
      )
      yield* follow(anna, friend!)
      yield* follow(fan!, anna)
      yield* idle(here)
      const device = (data: Json) =>
        Effect.flatMap(secondApp(here, anna), (app) => subscribed(app, { standard: true }, data))
      const alerts = { mention: true, favourite: false, follow: true }
      const [all, followed, follower, none, silent] = yield* Effect.forEach(
        [{ alerts }, { alerts, policy: "followed" }, { alerts, policy: "follower" }, { alerts, policy: "none" }, {}],
        device
      )
      const people = [friend!, fan!, stranger!]
      for (const [at, one] of people.entries()) yield* one.post(`@${anna.username} ${at}`)
      const status = yield* anna.post("mine")
      yield* fan!.ask("POST", `/api/v1/statuses/${status.id}/favourite`)
      yield* follow(stranger!, anna)
      yield* toldOf(all!, 4)
      yield* idle(here)
      assert.deepStrictEqual(typesOf(all!), ["mention", "mention", "mention", "follow"])
      assert.deepStrictEqual(
        all!.told.slice(0, 3).map(({ message }) => message.body),
        people.map((_, at) => `@${anna.username} ${at}`)
      )
      assert.deepStrictEqual(followed!.told.map(({ message }) => message.body), [`@${anna.username} 0`])
      // An account that follows now counts as a follower.
      assert.deepStrictEqual(typesOf(follower!), ["mention", "follow"])
      assert.deepStrictEqual([none!.told.length, silent!.told.length], [0, 0])
    }).pipe(Effect.scoped))

  it.effect("row 58: nothing is sent about deleted posts or blocked accounts, to ended tokens or to disabled users", () =>
    Effect.gen(function*() {
      const { here, service } = yield* World
      const [anna, ben] = [yield* here.person(name("anna")), yield* here.person(name("ben"))]
      const device = yield* subscribed(anna)
      const failed = eventually(
        Effect.orDie(here.sql`SELECT FROM push_subscriptions WHERE rests_until IS NOT NULL`),
        (rows) => rows.length > 0
      )
      // The service is down for a while, so that there is time for all of that.
      service.state.status = 503
      service.state.headers = { "retry-after": "1" }
      yield* ben.post(`@${anna.username} first`)
      const later = yield* ben.post(`@${anna.username} taken back`)
      // A push in flight is also tried and not due: the service works again after its response has arrived.
      yield* failed
      yield* eventually(
        Effect.orDie(here.sql<{ n: number }>`SELECT count(*)::int AS n FROM pushes`),
        ([row]) => row?.n === 2
      )
      yield* ben.ask("DELETE", `/api/v1/statuses/${later.id}`)
      service.state.status = 201
      const hurry = Effect.andThen(
        here.sql`UPDATE push_subscriptions SET rests_until = NULL`,
        here.sql`UPDATE pushes SET due_at = ${new Date(0)}`
      )
      yield* hurry
      yield* idle(here)
      assert.deepStrictEqual(device.told.map(({ message }) => message.body), [`@${anna.username} first`])

      const waiting = Effect.fnUntraced(function*(text: string, meanwhile: Effect.Effect<unknown, unknown>) {
        service.state.status = 503
        yield* ben.post(`@${anna.username} ${text}`)
        yield* failed
        yield* Effect.orDie(meanwhile)
        service.state.status = 201
        yield* hurry
        yield* idle(here)
        assert.lengthOf(device.told, 1, text)
      })
      yield* waiting("while blocked", anna.ask("POST", `/api/v1/accounts/${ben.accountId}/block`))
      yield* anna.ask("POST", `/api/v1/accounts/${ben.accountId}/unblock`)
      yield* waiting("while disabled", here.sql`UPDATE users SET disabled = true WHERE account_id = ${anna.accountId}`)
      yield* here.sql`UPDATE users SET disabled = false WHERE account_id = ${anna.accountId}`
      const app = yield* secondApp(here, anna)
      const doomed = yield* subscribed(app)
      assert.deepStrictEqual(yield* app.revoke, {})
      assert.lengthOf(yield* here.sql`SELECT FROM push_subscriptions WHERE endpoint = ${doomed.endpoint}`, 0)
      yield* ben.post(`@${anna.username} for the other`)
      yield* toldOf(device, 2)
      yield* idle(here)
      assert.lengthOf(doomed.told, 0)
    }).pipe(Effect.scoped))

  it.effect("scenario F25: a failing service is retried in order and delays no other; 404 and 410 end the subscription", () =>
    Effect.gen(function*() {
      const { here, serverKey } = yield* World
      const service = yield* pushService("127.0.0.4")
      const [anna, ben, cleo] = yield* Effect.forEach(["anna", "ben", "cleo"], (one) => here.person(name(one)))
      const device = service.device("device", serverKey)
      const { endpoint, keys } = device
      const subscription = { endpoint, keys, standard: true }
      yield* anna!.ask("POST", "/api/v1/push/subscription", { subscription, data: { alerts: everything } })
      const other = yield* subscribed(cleo!)
      service.state.status = 500
      for (const text of ["one", "two", "three"]) yield* ben!.post(`@${anna!.username} ${text}`)
      yield* ben!.post(`@${cleo!.username} hello`)
      yield* toldOf(other, 1)
      const rows = () =>
        here.sql<{ tries: number; dueAt: Date }>`
        SELECT p.tries, p.due_at FROM pushes p JOIN push_subscriptions s ON s.id = p.subscription_id
        WHERE s.endpoint = ${endpoint} ORDER BY p.notification_id`
      const rested = eventually(
        Effect.orDie(here.sql`
          SELECT FROM push_subscriptions WHERE endpoint = ${endpoint} AND rests_until > ${new Date()}`),
        (all) => all.length === 1
      )
      yield* rested
      const waits = yield* eventually(Effect.orDie(rows()), (all) => all.length === 3)
      assert.deepStrictEqual(waits.map(({ tries }) => tries), [1, 0, 0])
      assert.lengthOf(service.requests, 1)
      service.state.status = 201
      yield* here.sql`UPDATE pushes SET due_at = ${new Date(0)}`
      yield* idle(here)
      assert.deepStrictEqual(
        device.told.map(({ message }) => message.body),
        ["one", "two", "three"].map((text) => `@${anna!.username} ${text}`)
      )
      for (const status of [410, 404]) {
        yield* anna!.ask("POST", "/api/v1/push/subscription", { subscription, data: { alerts: everything } })
        service.state.status = status
        yield* ben!.post(`@${anna!.username} gone`)
        yield* eventually(responseOf(here, anna!, "GET"), (response) => response.status === 404)
        yield* idle(here)
      }
      // Redirects are not followed.
      service.state.status = 302
      service.state.headers = { location: `${service.origin}/elsewhere` }
      yield* anna!.ask("POST", "/api/v1/push/subscription", { subscription, data: { alerts: everything } })
      yield* ben!.post(`@${anna!.username} away`)
      yield* rested
      assert.notInclude(service.requests, "/elsewhere")
      yield* here.sql`DELETE FROM pushes`
    }).pipe(Effect.scoped))

  it.effect("row 25: an endpoint whose name resolves to a private address is never contacted", () =>
    Effect.gen(function*() {
      const guarded = yield* startInstance({ OUTBOUND_ALLOW: "127.0.0.1/32" })
      const service = yield* pushService("127.0.0.5")
      const [anna, ben] = [yield* guarded.person(name("anna")), yield* guarded.person(name("ben"))]
      const { endpoint, keys } = service.device("device", "")
      const refused = yield* responseOf(guarded, anna, "POST", { subscription: { endpoint, keys } })
      assert.strictEqual(refused.status, 422)
      yield* anna.ask("POST", "/api/v1/push/subscription", {
        subscription: { endpoint: endpoint.replace("127.0.0.5", "127.0.0.1"), keys },
        data: { alerts: everything }
      })
      yield* guarded.sql`UPDATE push_subscriptions SET endpoint = ${endpoint}`
      yield* ben.post(`@${anna.username} hello`)
      yield* eventually(
        Effect.orDie(guarded.sql<{ n: number }>`SELECT (SELECT count(*) FROM notifications)::int AS n`),
        ([row]) => row?.n === 1
      )
      yield* idle(guarded)
      assert.lengthOf(service.requests, 0)
    }).pipe(Effect.scoped))

  it.effect("row 92 F110: services that accept messages and never respond do not delay others", () =>
    Effect.gen(function*() {
      const { here } = yield* World
      const anna = yield* here.person(name("anna"))
      const device = yield* subscribed(anna)
      const heard = new Set<Socket>()
      let givenUp = 0
      const silent = yield* Effect.acquireRelease(
        Effect.callback<Server>((resume) => {
          const server = createServer((socket) => {
            heard.add(socket.on("error", () => {}).on("close", () => givenUp++).resume())
          })
          server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
        }),
        (server) =>
          Effect.sync(() => {
            for (const socket of heard) socket.destroy()
            server.close()
          })
      )
      const address = silent.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      const { sql } = here
      // More than a node's concurrent pushes, each for its own token, and due longer than later ones.
      const fan = yield* here.person(name("fan"))
      const status = yield* fan.post("one")
      yield* anna.ask("POST", `/api/v1/statuses/${status.id}/favourite`)
      const notified = sql<{ id: bigint }>`SELECT id FROM notifications WHERE account_id = ${fan.accountId}`
      const [notification] = yield* eventually(Effect.orDie(notified), (rows) => rows.length > 0)
      yield* sql`WITH tokens AS (INSERT INTO oauth_tokens (id, token_hash, account_id, scopes, created_at)
          SELECT next_id(0), sha256(n::text::bytea), ${fan.accountId}, 'push', now() FROM generate_series(1, 200) n RETURNING id),
        devices AS (INSERT INTO push_subscriptions (token_id, account_id, endpoint, p256dh, auth, standard, policy, alerts,
            sealed_token, created_at)
          SELECT t.id, ${fan.accountId}, ${`http://127.0.0.1:${port}/push`}, s.p256dh, s.auth, true, 'all', '{}', s.sealed_token, now()
          FROM tokens t, push_subscriptions s WHERE s.account_id = ${anna.accountId} RETURNING id)
        INSERT INTO pushes (subscription_id, notification_id, due_at, created_at)
        SELECT id, ${notification!.id}, ${new Date(0)}, now() FROM devices`
      yield* eventually(Effect.sync(() => heard.size), (count) => count >= 8)
      yield* fan.post(`@${anna.username} hello`)
      yield* eventually(Effect.sync(() => device.told.length), (count) => count > 0)
      assert.strictEqual(givenUp, 0, "the first of them are still waited for")
      yield* sql`DELETE FROM pushes`
    }).pipe(Effect.scoped))
})
