import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { strFromU8, unzipSync } from "fflate"
import { waitUntilWritten } from "../../src/cli/AccountArchive.ts"
import { ArchiveRequests } from "../../src/services/transfers/archives/ArchiveRequests.ts"
import { Transfers } from "../../src/services/transfers/Transfers.ts"
import { newPerson, publish } from "../support/Api.ts"
import { archiveServer } from "../support/Archives.ts"
import { cli } from "../support/CommandLine.ts"
import { jumpingClock } from "../support/JumpingClock.ts"
import { TestServer } from "../support/Server.ts"
import { user } from "../support/SignedIn.ts"

const folder = Effect.flatMap(
  FileSystem.FileSystem,
  (fs) => fs.makeTempDirectoryScoped({ prefix: "murmuration-archive-" })
)

layer(TestServer.layer().pipe(Layer.provideMerge(NodeServices.layer)), { excludeTestServices: true })(
  "npm run cli -- account archive",
  (it) => {
    const archive = (...args: ReadonlyArray<string>) =>
      TestServer.use(({ variables }) => cli(["account", "archive", ...args], variables))

    it.effect("makes the running server write an archive, and saves it again without a new one", () =>
      Effect.scoped(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sql = yield* SqlClient.SqlClient
        const ada = yield* newPerson("ada")
        yield* publish(ada, "A post for the archive")
        const file = `${yield* folder}/ada.zip`
        const { code, err, out } = yield* archive("@ada", file)
        assert.deepStrictEqual([code, err], [0, ""])
        assert.match(out, /ada\.zip has the archive of @ada of \d{4}-\d\d-\d\dT.*: \d+ entries, \d+ bytes\./)
        assert.strictEqual(Number((yield* fs.stat(file)).mode) & 0o777, 0o600)
        const entries = unzipSync(yield* fs.readFile(file))
        assert.includeMembers(Object.keys(entries), ["actor.json", "outbox.json", "likes.json", "bookmarks.json"])
        assert.include(strFromU8(entries["outbox.json"]!), "A post for the archive")

        const again = `${file}.second`
        assert.strictEqual((yield* archive("ada", again)).code, 0)
        assert.deepStrictEqual(yield* fs.readFile(again), yield* fs.readFile(file))
        const [row] = yield* sql`SELECT count(*)::int AS count FROM transfers WHERE account_id = ${ada.accountId}`
        assert.deepStrictEqual(row, { count: 1 })
      })))

    it.effect("refuses an existing file and names that are not members, and starts no archive then", () =>
      Effect.scoped(Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const sql = yield* SqlClient.SqlClient
        const eve = yield* newPerson("eve")
        const file = `${yield* folder}/eve.zip`
        yield* fs.writeFileString(file, "precious")
        const existing = yield* archive("eve", file)
        assert.strictEqual(existing.code, 1)
        assert.include(existing.err, "exists already")
        assert.strictEqual(yield* fs.readFileString(file), "precious")
        const [row] = yield* sql`SELECT count(*)::int AS count FROM transfers WHERE account_id = ${eve.accountId}`
        assert.deepStrictEqual(row, { count: 0 })
        for (const name of ["nobody", "eve@far.example"]) {
          const { code, err } = yield* archive(name, `${file}.${name}`)
          assert.strictEqual(code, 1)
          assert.include(err, `There is no account ${name} here`)
          assert.isFalse(yield* fs.exists(`${file}.${name}`))
        }
      })))
  }
)

layer(archiveServer, { excludeTestServices: true })("the wait for an archive", (it) => {
  it.effect("ends after a minute without progress, and the archive continues", () =>
    Effect.gen(function*() {
      const begun = yield* (yield* ArchiveRequests).request(yield* user("tim"))
      const { jump, within } = yield* jumpingClock
      const failed = yield* Effect.raceFirst(
        within(Effect.flip(waitUntilWritten(begun))),
        Effect.forever(Effect.delay(Effect.sync(() => jump(61_000)), "20 millis"))
      )
      assert.include(failed.message, "waits for a running server (0 entries are written)")
      assert.strictEqual((yield* (yield* Transfers).find(begun.accountId, begun.id)).state, "scheduled")
    }))
})
