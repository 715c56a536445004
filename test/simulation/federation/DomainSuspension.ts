import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { Broadcast } from "../../../src/services/events/Broadcast.ts"
import { DomainBlocks } from "../../../src/services/federation/domains/DomainBlocks.ts"
import * as FaultPlan from "./FaultPlan.ts"
import * as Faults from "./Faults.ts"
import type { SimulatedServer } from "./SimulatedInstance.ts"
import type { Universe } from "./Universe.ts"

/** Maximum time for a domain's task after the last fault, in milliseconds. */
const taskMillis = 30_000

/** Lists rows that remain of a suspended domain on a server. */
const left = Effect.fnUntraced(function*({ host, sql }: SimulatedServer, domain: string) {
  const rows = yield* sql<{ what: string }>`
    SELECT 'the follow ' || f.id AS what FROM (
      SELECT id, account_id, target_account_id FROM follows UNION ALL
      SELECT id, account_id, target_account_id FROM follow_requests) f
    JOIN accounts a ON a.id IN (f.account_id, f.target_account_id) WHERE a.domain = ${domain}
    UNION ALL SELECT 'the account ' || id FROM accounts WHERE domain = ${domain} AND suspended_at IS NULL
    UNION ALL SELECT 'the task of ' || domain FROM domain_tasks`
  return rows.map(({ what }) => `I34: ${what} is left at ${host}, which suspends ${domain}`)
})

/** Suspends another server while processes die. Returns effects of the suspension that are missing (I34). */
export const run = Effect.fnUntraced(function*(
  universe: Universe,
  [site, domain]: readonly [SimulatedServer, string],
  drain: Effect.Effect<void, SqlError>
) {
  const { seed, sites } = universe
  const context = yield* Layer.build(
    Layer.fresh(DomainBlocks.layer).pipe(
      Layer.provide([Layer.succeed(SqlClient.SqlClient, site.sql), Broadcast.layerMemory])
    )
  )
  const faultsOver = yield* Faults.injectFaults(universe, FaultPlan.epilogue(seed, sites.length))
  const done = yield* Effect.option(Context.get(context, DomainBlocks).block(domain, { severity: "suspend" }))
  yield* drain
  yield* faultsOver
  yield* Effect.sleep(taskMillis)
  yield* drain
  if (done._tag === "None") return []
  universe.count("domain suspended")
  return yield* left(site, domain)
}, Effect.scoped)
