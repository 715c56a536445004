import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import type { ServerResponse } from "node:http"
import { ObjectFetcher } from "../../../src/services/federation/ObjectFetcher.ts"
import { Purges } from "../../../src/services/federation/purge/Purges.ts"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { peer, remote } from "./Peer.ts"

const nameOf = (uri: string) =>
  SqlClient.SqlClient.use((sql) => sql<{ name: string }>`SELECT display_name AS name FROM accounts WHERE uri = ${uri}`)
    .pipe(Effect.map(([row]) => row?.name))

layer(remote, { excludeTestServices: true })("documents that are stored late", (it) => {
  it.effect("F76: a document that was fetched before the stored one changes nothing", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const { id } = yield* there.actor("nora", { name: "Old" })
      const fetcher = yield* ObjectFetcher
      const before = yield* Clock.currentTimeMillis
      const old = yield* fetcher.fetch(id)
      yield* TestClock.adjust("1 second")
      yield* there.actor("nora", { name: "New" })
      yield* RemoteActors.use(({ refresh }) => refresh(id))
      yield* RemoteActors.use(({ renew }) => renew(old, before))
      assert.strictEqual(yield* nameOf(id), "New")
      yield* TestClock.adjust("1 second")
      yield* RemoteActors.use(({ renew }) => Effect.flatMap(Clock.currentTimeMillis, (now) => renew(old, now)))
      assert.strictEqual(yield* nameOf(id), "Old")
    }).pipe(Effect.provide(TestClock.layer())))

  it.effect("F141: an account that is deleted while its document is fetched stays deleted", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const { id } = yield* there.actor("pia")
      const { id: accountId } = yield* RemoteActors.use(({ refresh }) => refresh(id))
      const finger = there.fingers.get(`acct:pia@${there.domain}`)
      const asked = yield* Deferred.make<ServerResponse>()
      there.fingers.set(
        `acct:pia@${there.domain}`,
        (_, response) => Effect.runSync(Deferred.succeed(asked, response))
      )
      const fetched = yield* Effect.forkChild(Effect.flip(RemoteActors.use(({ refresh }) => refresh(id))))
      const response = yield* Deferred.await(asked)
      yield* SqlClient.SqlClient.use((sql) => Purges.use(({ begin }) => sql.withTransaction(begin(accountId))))
      response.writeHead(200, { "content-type": "application/jrd+json" }).end(JSON.stringify(finger))
      assert.strictEqual((yield* Fiber.join(fetched))._tag, "Implausible")
      assert.isUndefined(yield* nameOf(id))
    }))
})
