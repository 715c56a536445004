import { assert, layer } from "@effect/vitest"
import { Clock, Deferred, Effect, Fiber, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import * as ArchiveExports from "../../../src/actors/transfers/ArchiveExports.ts"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { Storage } from "../../../src/services/media/Storage.ts"
import { StoredFiles, unheldMillisMax } from "../../../src/services/media/StoredFiles.ts"
import { ArchiveRequests } from "../../../src/services/transfers/archives/ArchiveRequests.ts"
import { ImportLines } from "../../../src/services/transfers/ImportLines.ts"
import { LiveImports } from "../../../src/services/transfers/live/LiveImports.ts"
import { LiveSources, SourceFailed } from "../../../src/services/transfers/live/LiveSources.ts"
import { isLeaseLost, TransferQueue } from "../../../src/services/transfers/TransferQueue.ts"
import { Transfers } from "../../../src/services/transfers/Transfers.ts"
import { mastodonArchive, mover, picturedPosts, planOf, runTransfer } from "../../support/Archives.ts"
import { eventually } from "../../support/Eventually.ts"
import { account, askingOnly, consented, liveServices, sourceOf } from "../../support/LiveServer.ts"
import { user } from "../../support/SignedIn.ts"

/** Deletes an account, and waits until its rows are removed. */
const deleteAccount = Effect.fnUntraced(function*(owner: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const actors = yield* AccountActors
  yield* actors.tell(owner, { _tag: "DeleteAccount", own: true })
  yield* eventually(
    Effect.andThen(actors.wake(owner), sql`SELECT FROM agenda WHERE account_id = ${owner}`),
    (rows) => rows.length === 0
  )
})

/** Ends abandoned imports on a new node. */
const round = (service: LiveSources["Service"]) =>
  Effect.provide(LiveImports.use(({ endAbandoned }) => endAbandoned), askingOnly(service))

const rowsOf = Effect.fnUntraced(function*(owner: AccountId) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ state: string; secret: boolean }>`SELECT state, options -> 'secrets' IS NOT NULL AS secret
    FROM transfers WHERE account_id = ${owner} ORDER BY id`
})

const revokedIn = ({ asked }: ReturnType<typeof sourceOf>) => asked.filter((url) => url === "revoked").length

layer(liveServices, { excludeTestServices: true })("transfers of accounts that end", (it) => {
  it.effect("F358: the import of an account that was suspended ends, and its token is revoked", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* user("sus")
      const from = sourceOf(account(5))
      const { id } = yield* consented(from, owner)
      yield* (yield* LiveImports).confirm(owner, id, { withFollows: true, withBlocks: true, withLikes: true })
      const queue = yield* TransferQueue
      const [claimed] = yield* queue.claim(1)
      yield* sql`UPDATE accounts SET suspended_at = ${new Date()} WHERE id = ${owner}`
      yield* round(from.service)
      assert.strictEqual(revokedIn(from), 1)
      assert.deepStrictEqual(yield* rowsOf(owner), [{ state: "cancelled", secret: false }])
      // A step that another node runs meanwhile writes nothing.
      assert.isTrue(isLeaseLost(yield* Effect.flip(queue.commit(claimed!, { added: 1 }))))
      yield* round(from.service)
      assert.strictEqual(revokedIn(from), 1)
    }))

  it.effect("F358: the token of an import whose account was deleted is revoked after the purge and a restart", () =>
    Effect.gen(function*() {
      const owner = yield* user("del")
      const from = sourceOf(account(5))
      const { id } = yield* consented(from, owner)
      yield* (yield* LiveImports).confirm(owner, id, { withFollows: true, withBlocks: true, withLikes: true })
      yield* deleteAccount(owner)
      assert.deepStrictEqual(yield* rowsOf(owner), [{ state: "scheduled", secret: true }])
      // The first node dies while it asks the other server.
      const asks = yield* Deferred.make<void>()
      const silent = { ...from.service, revoke: () => Effect.andThen(Deferred.succeed(asks, undefined), Effect.never) }
      const dying = yield* Effect.forkChild(round(LiveSources.of(silent)))
      yield* Deferred.await(asks)
      yield* Fiber.interrupt(dying)
      assert.deepStrictEqual(yield* rowsOf(owner), [{ state: "cancelled", secret: true }])
      yield* round(from.service)
      assert.strictEqual(revokedIn(from), 1)
      assert.deepStrictEqual(yield* rowsOf(owner), [])
    }))

  it.effect("F358: a node that dies after a cancellation revokes the token after its restart", () =>
    Effect.gen(function*() {
      const owner = yield* user("can")
      const from = sourceOf(account(5))
      const { id } = yield* consented(from, owner)
      // The node dies before it asks the other server.
      yield* (yield* Transfers).cancel(owner, id)
      yield* round(from.service)
      assert.strictEqual(revokedIn(from), 1)
      assert.deepStrictEqual(yield* rowsOf(owner), [{ state: "cancelled", secret: false }])
    }))

  it.effect("F358: a server that does not respond is asked again, for a day; then the secrets are deleted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* user("off")
      const from = sourceOf(account(5))
      const { id } = yield* consented(from, owner)
      let asked = 0
      const failed = new SourceFailed({ problem: "silent", retrySeconds: 30 })
      const silent = LiveSources.of({
        ...from.service,
        revoke: () => Effect.andThen(Effect.sync(() => asked++), Effect.fail(failed))
      })
      yield* (yield* Transfers).cancel(owner, id)
      const due = sql`UPDATE transfers SET due_at = ${new Date(0)} WHERE id = ${id}`
      yield* round(silent)
      yield* round(silent)
      assert.strictEqual(asked, 1, "the next request is due later")
      yield* due
      yield* round(silent)
      assert.strictEqual(asked, 2)
      assert.deepStrictEqual(yield* rowsOf(owner), [{ state: "cancelled", secret: true }])
      // Final transfers beyond the maximum are deleted when others begin, but not this one.
      yield* sql`INSERT INTO transfers (id, account_id, kind, state, due_at, created_at, expires_at)
        SELECT ${id} + n, ${owner}, 'live_in', 'failed', now(), now(), now() FROM generate_series(1, 12) n`
      const next = yield* (yield* LiveImports).begin(owner, "ann@old.example")
      assert.isTrue((yield* rowsOf(owner))[0]!.secret)
      yield* (yield* Transfers).cancel(owner, next.id)
      yield* due
      yield* sql`UPDATE transfers SET finished_at = ${new Date((yield* Clock.currentTimeMillis) - 25 * 3_600_000)}
        WHERE id = ${id}`
      yield* round(silent)
      assert.isFalse((yield* rowsOf(owner))[0]!.secret)
    }))

  it.effect("F358: a token that arrives after its import was cancelled is revoked", () =>
    Effect.gen(function*() {
      const owner = yield* user("rac")
      const from = sourceOf(account(5))
      const transfers = yield* Transfers
      const racing = {
        ...from,
        service: LiveSources.of({
          ...from.service,
          exchange: (...given) =>
            Effect.flatMap(
              from.service.exchange(...given),
              (token) =>
                Effect.as(Effect.ignore(Effect.flatMap(newest(owner), (id) => transfers.cancel(owner, id))), token)
            )
        })
      }
      const newest = (of: AccountId) => Effect.map(transfers.list(of), ([first]) => first!.id)
      yield* Effect.exit(consented(racing, owner))
      assert.strictEqual(revokedIn(from), 1)
    }))

  it.effect("F359: nothing stays of the archives, imports and uploads of an account that was deleted", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const storage = yield* Storage
      const [owner, actor] = yield* mover("all")
      const transfers = yield* Transfers
      const begin = { options: {}, total: 0, failed: 0, unconfirmed: false }
      // An archive to download, and one that a node is writing.
      yield* transfers.begin(owner, { ...begin, kind: "archive_out" })
      assert.strictEqual((yield* runTransfer(yield* ArchiveExports.make))._tag, "Finished")
      // An import whose files and posts wait for its owner.
      const { files, items } = yield* picturedPosts(actor, 3, 3)
      const { state } = yield* planOf(owner, mastodonArchive(actor, items, files))
      assert.strictEqual(state, "unconfirmed")
      // An import of lists.
      const lines = yield* ImportLines
      yield* transfers.begin(
        owner,
        { ...begin, kind: "follows" },
        (to) => lines.add(to, [{ name: "a@b.example", host: "b.example", details: {} }], 0)
      )
      yield* ArchiveRequests.use((archives) => archives.setWeekly(owner, true))
      const held = yield* sql<
        { name: string }
      >`SELECT f.name FROM stored_files f JOIN transfers t ON t.id = f.transfer_id
        WHERE t.account_id = ${owner}`
      assert.isAtLeast(held.length, 4)
      const ids = (yield* transfers.list(owner)).map(({ id }) => id)
      yield* deleteAccount(owner)
      for (const table of ["transfer_lines", "archive_items", "archive_files", "archive_entries", "archive_parts"]) {
        assert.lengthOf(yield* sql`SELECT FROM ${sql(table)} WHERE transfer_id = ANY (${ids})`, 0, table)
      }
      for (const table of ["transfers", "archive_schedules", "imported_statuses"]) {
        assert.lengthOf(yield* sql`SELECT FROM ${sql(table)} WHERE account_id = ${owner}`, 0, table)
      }
      const names = held.map(({ name }) => name)
      yield* sql`UPDATE stored_files SET created_at = ${new Date(
        (yield* Clock.currentTimeMillis) - 2 * unheldMillisMax
      )}
        WHERE name = ANY (${names})`
      yield* StoredFiles.use((stored) => stored.sweep)
      for (const name of names) {
        assert.isUndefined(yield* storage.size(name))
      }
    }))

  it.effect("F359: an upload that ends after its account was deleted begins no import", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* user("late")
      const files = yield* StoredFiles
      const { bytes, name } = yield* files.receive("upload", Stream.make(new Uint8Array(9)), 9)
      yield* deleteAccount(owner)
      const begun = yield* Effect.exit(
        ArchiveRequests.use((archives) => archives.read(owner, { bytes, name, type: undefined }, "a.zip"))
      )
      assert.strictEqual(begun._tag, "Failure")
      assert.deepStrictEqual(yield* rowsOf(owner), [])
      const [file] = yield* sql`SELECT transfer_id FROM stored_files WHERE name = ${name}`
      assert.deepStrictEqual(file, { transferId: null }, "the sweep deletes the file")
    }))
})
