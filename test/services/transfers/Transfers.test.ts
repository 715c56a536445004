import { assert, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { ArchiveRequests } from "../../../src/services/transfers/archives/ArchiveRequests.ts"
import type { TransferKind } from "../../../src/services/transfers/Transfer.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { behindGate } from "../../support/Gates.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const live = Layer.mergeAll(ArchiveRequests.layer, Transfers.layer).pipe(Layer.provideMerge(TestDatabase.layer))
const transfer = (kind: TransferKind) => ({ kind, options: {}, total: 0, failed: 0, unconfirmed: true })

layer(live, { excludeTestServices: true })("transfers of an account", (it) => {
  it.effect("F256: an import of posts that can be undone is not deleted by later transfers of other kinds", () =>
    Effect.gen(function*() {
      const [transfers, ada] = [yield* Transfers, yield* person("ada")]
      const posts = yield* transfers.begin(ada, transfer("archive_in"))
      yield* transfers.cancel(ada, posts.id)
      for (let n = 0; n < 12; n++) {
        const { id } = yield* transfers.begin(ada, transfer("blocks"))
        yield* transfers.cancel(ada, id)
      }
      const kinds = (yield* transfers.list(ada)).map(({ kind }) => kind)
      assert.strictEqual(kinds.filter((kind) => kind === "blocks").length, 11)
      assert.include(kinds, "archive_in")
    }))

  it.effect("an account imports one archive at a time, and has five open transfers at most", () =>
    Effect.gen(function*() {
      const [transfers, bob] = [yield* Transfers, yield* person("bob")]
      const refusal = (kind: TransferKind) =>
        Effect.map(Effect.flip(transfers.begin(bob, transfer(kind))), ({ text }) => text)
      yield* transfers.begin(bob, transfer("archive_in"))
      assert.include(yield* refusal("archive_in"), "Transfers are too many (maximum is 1)")
      for (let n = 0; n < 4; n++) yield* transfers.begin(bob, transfer("mutes"))
      assert.include(yield* refusal("mutes"), "Transfers are too many (maximum is 5)")
    }))

  it.effect("of two imports of an archive that begin at the same time, one is refused", () =>
    Effect.gen(function*() {
      const [transfers, mia] = [yield* Transfers, yield* person("mia")]
      const begun = Effect.exit(transfers.begin(mia, transfer("archive_in")))
      const exits = yield* behindGate("transfers", "INSERT", [begun, begun, begun])
      assert.lengthOf(exits.filter(Exit.isSuccess), 1)
      assert.lengthOf(yield* transfers.list(mia), 1)
    }))

  it.effect("F256: a weekly archive is not lost if the node dies at its start", () =>
    Effect.gen(function*() {
      const [sql, archives, eve] = [yield* SqlClient.SqlClient, yield* ArchiveRequests, yield* person("eve")]
      const transfers = yield* Transfers
      yield* archives.setWeekly(eve, true)
      yield* sql`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''died''; END'`
      yield* sql`CREATE TRIGGER die BEFORE INSERT ON transfers EXECUTE FUNCTION die()`
      assert.isTrue(Exit.isFailure(yield* Effect.exit(archives.beginDue)))
      yield* sql`DROP FUNCTION die CASCADE`
      yield* archives.beginDue
      yield* archives.beginDue
      assert.deepStrictEqual((yield* transfers.list(eve)).map(({ kind }) => kind), ["archive_out"])
    }))

  it.effect("F256: a confirmation sets its own options only, because the plan may be written at the same time", () =>
    Effect.gen(function*() {
      const [transfers, liv] = [yield* Transfers, yield* person("liv")]
      const { id } = yield* transfers.begin(liv, { ...transfer("archive_in"), options: { confirmed: false, plan: 1 } })
      const { options, state } = yield* transfers.confirm(liv, id, { confirmed: true })
      assert.deepStrictEqual([state, options], ["scheduled", { confirmed: true, plan: 1 }])
    }))
})
