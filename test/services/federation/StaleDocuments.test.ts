import { assert, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { ObjectFetcher } from "../../../src/services/federation/ObjectFetcher.ts"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { peer, remote } from "./Peer.ts"

const nameOf = (uri: string) =>
  SqlClient.SqlClient.use((sql) => sql<{ name: string }>`SELECT display_name AS name FROM accounts WHERE uri = ${uri}`)
    .pipe(Effect.map(([row]) => row?.name))

layer(remote, { excludeTestServices: true })("documents that are stored late", (it) => {
  it.effect("F76: a document that was fetched before the one that is stored changes nothing", () =>
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
})
