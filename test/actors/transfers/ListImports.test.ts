import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as ListImports from "../../../src/actors/transfers/ListImports.ts"
import { Implausible } from "../../../src/services/federation/ObjectFetcher.ts"
import { RemoteActors, type RemoteError } from "../../../src/services/federation/RemoteActors.ts"
import { ErrorResponse, Unreachable } from "../../../src/services/outbound/OutboundError.ts"
import { FileImports } from "../../../src/services/transfers/FileImports.ts"
import { lookUpMillis, lookUpsAtOnce } from "../../../src/services/transfers/LookupPaces.ts"
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
      while ((yield* transfers.find(max, id))?.state !== "finished") {
        yield* sql`UPDATE transfer_lines SET due_at = now() - interval '1 day' WHERE transfer_id = ${id}`
        yield* sql`DELETE FROM lookup_paces`
        yield* abandon(id)
        yield* runTransfer(handler)
      }
      assert.deepInclude(yield* transfers.find(max, id), { processed: 63, failed: 63 })
      assert.lengthOf(asked, 63)
    }))

  /** Imports these mutes; look-ups respond as `respond` says, which gets their number. */
  const mutesOf = Effect.fnUntraced(function*(
    name: string,
    handles: ReadonlyArray<string>,
    respond: (handle: string, count: number) => RemoteError
  ) {
    const [imports, sql, transfers] = [yield* FileImports, yield* SqlClient.SqlClient, yield* Transfers]
    const member = yield* user(name)
    const { id } = yield* imports.begin(member, {
      bytes: new TextEncoder().encode(handles.join("\n")),
      fileName: "",
      kind: "mutes",
      overwrite: false,
      follow: false
    }, true)
    const asked: Array<string> = []
    const remote = yield* RemoteActors
    const handler = yield* Effect.provideService(
      ListImports.make,
      RemoteActors,
      RemoteActors.of({
        ...remote,
        findByHandle: (handle) => Effect.suspend(() => Effect.fail(respond(handle, asked.push(handle))))
      })
    )
    /** Runs it until it waits, at a later time each time. */
    const proceed = Effect.gen(function*() {
      yield* sql`UPDATE transfer_lines SET due_at = now() - interval '1 day' WHERE transfer_id = ${id}`
      yield* sql`UPDATE transfers SET due_at = now() - interval '1 day' WHERE id = ${id} AND state = 'in_progress'`
      return yield* runTransfer(handler)
    })
    return { asked, proceed, status: transfers.find(member, id) }
  })
  const missing = (url: string) => new Implausible({ url, reason: "not an actor" })
  const paced = (host: string) => Array.from({ length: 30 }, (_, n) => `bird${n}@${host}`)

  it.effect("F432: look-ups at one host wait for its pace, which all imports share, and those at others do not", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const first = yield* mutesOf("lea", [...paced("paced.example"), ...paced("free.example")], missing)
      yield* first.proceed
      const at = (asked: ReadonlyArray<string>, host: string) => asked.filter((handle) => handle.endsWith(host)).length
      assert.strictEqual(at(first.asked, "@paced.example"), lookUpsAtOnce)
      assert.strictEqual(at(first.asked, "@free.example"), lookUpsAtOnce)
      const second = yield* mutesOf("lou", paced("paced.example"), missing)
      yield* second.proceed
      assert.lengthOf(second.asked, 0)
      yield* sql`UPDATE lookup_paces SET rested_at = rested_at - ${lookUpMillis * 3}::int * interval '1 millisecond'`
      yield* first.proceed
      yield* second.proceed
      assert.strictEqual(at([...first.asked, ...second.asked], "@paced.example"), lookUpsAtOnce + 3)
    }))

  it.effect("F432: lines of a host that responds to some look-ups only (429) do not fail as unreachable", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const limited = yield* mutesOf(
        "liz",
        paced("limited.example"),
        (url, count) =>
          count % 6 === 0 ? new ErrorResponse({ url, status: 429, retryAfterSeconds: undefined }) : missing(url)
      )
      for (let round = 0; round < 6; round++) {
        yield* limited.proceed
        yield* sql`DELETE FROM lookup_paces`
      }
      const reasons = yield* sql`SELECT reason, count(*)::int AS lines FROM transfer_lines
        WHERE name LIKE '%@limited.example' GROUP BY 1`
      assert.deepStrictEqual(reasons, [{ reason: "not_found", lines: 30 }])
      assert.deepInclude(yield* limited.status, { state: "finished", processed: 30, failed: 30 })
    }))
})
