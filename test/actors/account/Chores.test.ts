import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import { PersistedCommand } from "../../../src/actors/account/core/AccountProtocol.ts"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { agendaBackoff, AgendaEntries } from "../../../src/services/intents/AgendaEntries.ts"
import { operatorBackoff, OperatorCommands } from "../../../src/services/intents/OperatorCommands.ts"
import { layerActors } from "../../support/Actors.ts"
import { eventually } from "../../support/Eventually.ts"
import { person } from "../../support/People.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const queues = Layer.merge(AgendaEntries.layer, OperatorCommands.layer)

/** Inserts a post of a later program version, which this one cannot publish. */
const scheduled = Effect.fnUntraced(function*(accountId: AccountId, id: bigint) {
  const sql = yield* SqlClient.SqlClient
  const past = new Date((yield* Clock.currentTimeMillis) - 1_000)
  yield* sql`INSERT INTO scheduled_statuses (id, account_id, scheduled_at, params, created_at)
    VALUES (${id}, ${accountId}, ${past}, '{"version": 99}', ${past})`
  yield* sql`INSERT INTO agenda (kind, subject_id, account_id, due_at)
    VALUES ('scheduled_status', ${id}, ${accountId}, ${past})`
})

layer(queues.pipe(Layer.provideMerge(layerActors)), { excludeTestServices: true })(
  "An account's work besides its commands",
  (it) => {
    it.effect("a failing entry of the agenda does not delay later ones, and is retried later", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const actors = yield* AccountActors
        const account = yield* person("chores1")
        yield* scheduled(account, 11n)
        const at = new Date(yield* Clock.currentTimeMillis)
        // The subjects of these two no longer exist, which is not a failure. The second is of a later version.
        yield* sql`INSERT INTO agenda (kind, subject_id, account_id, due_at)
          VALUES ('mute_end', 12, ${account}, ${at}), ('of tomorrow', 13, ${account}, ${at})`
        yield* actors.wake(account)
        yield* eventually(
          sql`SELECT subject_id FROM agenda WHERE account_id = ${account} AND kind = 'mute_end'`,
          ({ length }) => length === 0
        )
        const rows = yield* sql`SELECT subject_id, tries, due_at > ${at} AS later, failed_at FROM agenda
          WHERE account_id = ${account} ORDER BY subject_id`
        assert.deepStrictEqual(rows, [
          { subjectId: 11n, tries: 1, later: true, failedAt: null },
          { subjectId: 13n, tries: 0, later: false, failedAt: null }
        ])
      }))

    it.effect("a failing operator's command delays later ones until it has failed permanently", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const actors = yield* AccountActors
        const commands = yield* OperatorCommands
        const [account, target] = [yield* person("chores2"), yield* person("chores3")]
        yield* commands.enqueue(account, "Nobody", `{"_tag": "Nobody"}`)
        yield* commands.enqueue(account, "Block", yield* PersistedCommand.encode({ _tag: "Block", target }))
        const tries = sql`SELECT tries FROM account_intents WHERE account_id = ${account} ORDER BY id`
        yield* actors.wake(account)
        yield* eventually(tries, ([first]) => first?.["tries"] === 1)
        assert.lengthOf(yield* tries, 2)
        assert.deepStrictEqual(yield* commands.claim(account), [])
        yield* sql`UPDATE account_intents SET tries = ${operatorBackoff.triesMax - 1}, due_at = 'epoch'
          WHERE account_id = ${account} AND tries > 0`
        yield* actors.wake(account)
        yield* eventually(tries, ({ length }) => length === 0)
        assert.lengthOf(yield* sql`SELECT FROM blocks WHERE account_id = ${account}`, 1)
      }))
  }
)

layer(queues.pipe(Layer.provideMerge(TestDatabase.layer)))("Attempts are counted", (it) => {
  it.effect("an entry of the agenda is set aside after the last one, until it is enqueued or requeued", () =>
    Effect.gen(function*() {
      const agenda = yield* AgendaEntries
      const account = yield* person("chores4")
      yield* scheduled(account, 21n)
      const tried = Effect.gen(function*() {
        let count = 0
        for (let again = true; again; count++) {
          const [entry] = yield* agenda.claim(account)
          assert.isDefined(entry)
          assert.deepStrictEqual(yield* agenda.due(10), [account])
          again = yield* agenda.retry(entry!)
          assert.deepStrictEqual(yield* agenda.claim(account), [])
          yield* TestClock.adjust(agendaBackoff.capMillis)
        }
        assert.deepStrictEqual([yield* agenda.claim(account), yield* agenda.due(10), yield* agenda.failed], [[], [], 1])
        return count
      })
      assert.strictEqual(yield* tried, agendaBackoff.triesMax)
      yield* agenda.requeue
      assert.strictEqual(yield* agenda.failed, 0)
      assert.strictEqual(yield* tried, agendaBackoff.triesMax)
      yield* agenda.enqueue("scheduled_status", 21n, account, yield* Clock.currentTimeMillis)
      assert.strictEqual(yield* tried, agendaBackoff.triesMax)
    }))

  it.effect("a delivery enqueued again during an attempt is not postponed", () =>
    Effect.gen(function*() {
      const agenda = yield* AgendaEntries
      const account = yield* person("chores5")
      yield* scheduled(account, 31n)
      const [entry] = yield* agenda.claim(account)
      const later = (yield* Clock.currentTimeMillis) + 5_000
      yield* agenda.enqueue("scheduled_status", 31n, account, later)
      yield* agenda.retry(entry!)
      yield* TestClock.adjust("5 seconds")
      assert.deepStrictEqual(yield* agenda.claim(account), [{ kind: "scheduled_status", subjectId: 31n, tries: 0 }])
    }))
})
