import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as ListImports from "../../../src/actors/transfers/ListImports.ts"
import { Implausible } from "../../../src/services/federation/ObjectFetcher.ts"
import { RemoteActors } from "../../../src/services/federation/RemoteActors.ts"
import { Unreachable } from "../../../src/services/outbound/OutboundError.ts"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import { TransferQueue } from "../../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { abandon, archiveServer, runTransfer, slowed } from "../../support/Archives.ts"
import { followers, person } from "../../support/People.ts"
import { user } from "../../support/SignedIn.ts"

const live = FileImports.layer.pipe(Layer.provideMerge(archiveServer))

layer(live, { excludeTestServices: true })("imports of lists", (it) => {
  it.effect("F253: a step commits before its lease ends, however long its lines take", () =>
    Effect.gen(function*() {
      const [imports, queue, transfers] = [yield* FileImports, yield* TransferQueue, yield* Transfers]
      const ada = yield* user("ada")
      const filters = Array.from({ length: 3 }, (_, n) => ({ title: `filter ${n}`, context: ["home"] }))
      const { id } = yield* imports.begin(ada, {
        bytes: new TextEncoder().encode(JSON.stringify({ custom_filters: filters })),
        fileName: "",
        kind: "filters",
        overwrite: false,
        follow: false
      }, true)
      const handler = yield* ListImports.make
      const [claimed] = yield* queue.claim(1)
      const { claimed: next, end } = yield* slowed(handler.step(claimed!), 31_000)
      assert.deepInclude(yield* transfers.find(ada, id), { processed: 1, state: "in_progress" })
      yield* queue.release(next, end)
      yield* runTransfer(handler)
      assert.deepInclude(yield* transfers.find(ada, id), { processed: 3, added: 3, failed: 0 })
    }))

  it.effect("F254: an overwriting import keeps entries that lines of an unavailable server may refer to", () =>
    Effect.gen(function*() {
      const [imports, sql, transfers] = [yield* FileImports, yield* SqlClient.SqlClient, yield* Transfers]
      const eve = yield* user("eve")
      const hosts = ["silent.example", "other.example"]
      for (const host of hosts) {
        const followed = yield* person(host.replace(".", ""), { locked: true })
        yield* sql`UPDATE accounts SET domain = ${host}, uri = ${`https://${host}/users/1`} WHERE id = ${followed}`
        yield* followers(followed, [eve])
      }
      const followed = Effect.map(
        sql<{ readonly domain: string }>`SELECT a.domain FROM follows f JOIN accounts a ON a.id = f.target_account_id
          WHERE f.account_id = ${eve} ORDER BY f.id`,
        (rows) => rows.map(({ domain }) => domain)
      )
      const { id } = yield* imports.begin(eve, {
        bytes: new TextEncoder().encode("https://silent.example/@followed\n"),
        fileName: "",
        kind: "follows",
        overwrite: true,
        follow: false
      }, true)
      const asked: Array<string> = []
      const remote = yield* RemoteActors
      const silent = RemoteActors.of({
        ...remote,
        find: (url) => Effect.andThen(Effect.sync(() => asked.push(url)), new Unreachable({ url, reason: "timeout" }))
      })
      const handler = yield* Effect.provideService(ListImports.make, RemoteActors, silent)
      for (let tries = 1; tries <= 3; tries++) {
        assert.deepStrictEqual(yield* followed, hosts)
        yield* runTransfer(handler)
        assert.lengthOf(asked, tries)
        yield* sql`UPDATE transfer_lines SET due_at = now() - interval '1 day' WHERE transfer_id = ${id}`
        yield* abandon(id)
      }
      assert.deepInclude(yield* transfers.find(eve, id), { state: "finished", failed: 1, removed: 1 })
      assert.deepStrictEqual(yield* followed, ["silent.example"])
    }))

  it.effect("F383: lines of other servers do not wait for those of a slow one that the file names before", () =>
    Effect.gen(function*() {
      const [imports, queue, transfers] = [yield* FileImports, yield* TransferQueue, yield* Transfers]
      const max = yield* user("max")
      const named = (host: string, count: number) => Array.from({ length: count }, (_, n) => `bird${n}@${host}`)
      const others = named("other.example", 3)
      const { id } = yield* imports.begin(max, {
        bytes: new TextEncoder().encode([...named("slow.example", 60), ...others].join("\n")),
        fileName: "",
        kind: "mutes",
        overwrite: false,
        follow: false
      }, true)
      const asked: Array<string> = []
      const remote = yield* RemoteActors
      const missing = RemoteActors.of({
        ...remote,
        findByHandle: (handle) =>
          Effect.andThen(
            Effect.sync(() => asked.push(handle)),
            new Implausible({ url: handle, reason: "not an actor" })
          )
      })
      const handler = yield* Effect.provideService(ListImports.make, RemoteActors, missing)
      const [claimed] = yield* queue.claim(1)
      // Each look-up takes several seconds, so that the time of the step ends before all of its lines were looked up.
      const { claimed: next } = yield* slowed(handler.step(claimed!), 4_000)
      assert.isBelow(asked.length, 25)
      assert.notIncludeMembers(asked, others)
      const { claimed: after, end } = yield* handler.step(next)
      assert.includeMembers(asked, others)
      yield* queue.release(after, end)
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE transfer_lines SET due_at = now() - interval '1 day' WHERE transfer_id = ${id}`
      yield* abandon(id)
      yield* runTransfer(handler)
      assert.deepInclude(yield* transfers.find(max, id), { state: "finished", processed: 63, failed: 63 })
      assert.lengthOf(asked, 63)
    }))
})
