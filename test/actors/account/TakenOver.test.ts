import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AccountActors } from "../../../src/actors/account/core/AccountActors.ts"
import type { AccountId } from "../../../src/services/database/Ids.ts"
import { AgendaEntries } from "../../../src/services/intents/AgendaEntries.ts"
import { AccountActions } from "../../../src/services/moderation/AccountActions.ts"
import { config, layerActors, settled } from "../../support/Actors.ts"
import { migrationNamed } from "../../support/MigrationFiles.ts"
import { followers, person } from "../../support/People.ts"
import { remoteAccount } from "./Rendezvous.ts"

const layerActions = AccountActions.layer.pipe(
  Layer.provide([AgendaEntries.layer, config]),
  Layer.provideMerge(layerActors)
)

/** Creates a user with the owner's role. */
const owner = Effect.fnUntraced(function*(username: string) {
  const sql = yield* SqlClient.SqlClient
  const id = yield* person(username)
  yield* sql`UPDATE users SET role_id = 3 WHERE account_id = ${id}`
  return id
})

/** Blocks a domain and its known accounts, like the server. */
const block = Effect.fnUntraced(function*(domain: string, severity: "silence" | "suspend") {
  const sql = yield* SqlClient.SqlClient
  const now = yield* Clock.currentTimeMillis
  const at = new Date(now)
  yield* sql`INSERT INTO domain_blocks (id, domain, severity, reject_media, reject_reports, obfuscate, created_at, updated_at)
    VALUES (next_id(${now}), ${domain}, ${severity}, false, false, false, ${at}, ${at})`
  yield* severity === "suspend"
    ? sql`UPDATE accounts SET suspended_at = ${at}, suspended_by_domain = true WHERE domain = ${domain}`
    : sql`UPDATE accounts SET silenced_at = ${at}, silenced_by_domain = true WHERE domain = ${domain}`
})

/** Returns the restrictions of an account, their source, and the days until its suspension becomes irreversible. */
const stateOf = Effect.fnUntraced(function*(id: AccountId) {
  const sql = yield* SqlClient.SqlClient
  const now = new Date(yield* Clock.currentTimeMillis)
  const [row] = yield* sql<{ suspended: string; silenced: string; days: number | null }>`SELECT
      CASE WHEN a.suspended_at IS NULL THEN 'no' WHEN a.suspended_by_domain THEN 'by domain'
        WHEN r.suspended_by_origin THEN 'by origin' ELSE 'here' END AS suspended,
      CASE WHEN a.silenced_at IS NULL THEN 'no' WHEN a.silenced_by_domain THEN 'by domain' ELSE 'here' END AS silenced,
      (SELECT round(extract(epoch FROM due_at - ${now}::timestamptz) / 86400)::int FROM agenda g
        WHERE g.account_id = a.id AND g.kind = 'suspension_end') AS days
    FROM accounts a JOIN remote_actors r ON r.account_id = a.id WHERE a.id = ${id}`
  return row
})

const acts = (target: AccountId) =>
  SqlClient.SqlClient.use((sql) =>
    Effect.map(
      sql<{ action: string }>`SELECT action FROM audit_log WHERE target_id = ${target} ORDER BY id`,
      (rows) => rows.map(({ action }) => action)
    )
  )

layer(layerActions, { excludeTestServices: true })("restrictions that others take over", (it) => {
  it.effect("F120: a moderator's suspension ends in a purge, also if the origin or a domain block had suspended the account before", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { tell } = yield* AccountActors
      const by = yield* owner("boss1")
      const [own, blocked, silent] = [
        yield* remoteAccount("own1", "kind.test"),
        yield* remoteAccount("blocked1", "evil.test"),
        yield* remoteAccount("silent1", "loud.test")
      ]
      yield* block("evil.test", "suspend")
      yield* block("loud.test", "silence")
      yield* sql`UPDATE accounts SET suspended_at = ${new Date(0)} WHERE id = ${own}`
      yield* sql`UPDATE remote_actors SET suspended_by_origin = true WHERE account_id = ${own}`
      const take = (id: AccountId, type: "suspend" | "silence") =>
        tell(id, { _tag: "TakeAction", by, type, text: "", reportId: null, tells: false })
      const lift = (id: AccountId, type: "suspend" | "silence") => tell(id, { _tag: "LiftAction", by, type })
      for (const id of [own, blocked]) {
        yield* take(id, "suspend")
        assert.deepStrictEqual(yield* stateOf(id), { suspended: "here", silenced: "no", days: 30 })
        yield* lift(id, "suspend")
      }
      yield* take(silent, "silence")
      assert.deepStrictEqual(yield* stateOf(silent), { suspended: "no", silenced: "here", days: null })
      yield* lift(silent, "silence")
      // The domain block still applies to its other accounts.
      assert.deepStrictEqual(yield* stateOf(own), { suspended: "no", silenced: "no", days: null })
      assert.deepStrictEqual(yield* stateOf(blocked), { suspended: "by domain", silenced: "no", days: null })
      assert.deepStrictEqual(yield* stateOf(silent), { suspended: "no", silenced: "by domain", days: null })
      yield* settled
    }))

  it.effect("F120: the operator and spam rules take over with a log entry and a strike, and do not lift restrictions of others", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { tell } = yield* AccountActors
      const { limitForSpam } = yield* AccountActions
      const [blocked, silent, spammer] = [
        yield* remoteAccount("blocked2", "evil2.test"),
        yield* remoteAccount("silent2", "loud2.test"),
        yield* remoteAccount("spammer2", "loud2.test")
      ]
      yield* block("evil2.test", "suspend")
      yield* block("loud2.test", "silence")
      const operate = (id: AccountId, measure: "suspend" | "silence", inForce: boolean) =>
        tell(id, { _tag: "Moderate", measure, stands: inForce })
      yield* operate(blocked, "suspend", false)
      yield* operate(silent, "silence", false)
      assert.strictEqual((yield* stateOf(blocked))?.suspended, "by domain")
      assert.strictEqual((yield* stateOf(silent))?.silenced, "by domain")
      yield* operate(blocked, "suspend", true)
      yield* operate(silent, "silence", true)
      yield* operate(silent, "silence", true)
      assert.deepStrictEqual([yield* acts(blocked), yield* acts(silent)], [["suspend"], ["silence"]])
      assert.deepStrictEqual(yield* stateOf(blocked), { suspended: "here", silenced: "no", days: 30 })
      const strike = yield* sql.withTransaction(limitForSpam(spammer, undefined))
      assert.isDefined(strike)
      assert.isUndefined(yield* sql.withTransaction(limitForSpam(spammer, undefined)))
      assert.deepStrictEqual(yield* acts(spammer), ["silence"])
      yield* settled
    }))

  it.effect("F120: suspensions that were taken over before get their end, a week later at the earliest", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [old, emptyTables, blocked] = [
        yield* remoteAccount("old3", "kind3.test"),
        yield* remoteAccount("emptied3", "kind3.test"),
        yield* remoteAccount("blocked3", "evil3.test")
      ]
      yield* followers(old, [blocked])
      yield* block("evil3.test", "suspend")
      yield* sql`UPDATE accounts SET suspended_at = ${new Date(0)} WHERE ${sql.in("id", [old, emptyTables])}`
      yield* yield* migrationNamed("taken_over_suspensions")
      assert.strictEqual((yield* stateOf(old))?.days, 7)
      assert.isNull((yield* stateOf(emptyTables))?.days)
      assert.isNull((yield* stateOf(blocked))?.days)
    }))
})
