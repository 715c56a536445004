import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { HostNames } from "../../../services/federation/outbox/Outbox.ts"
import { DomainActors } from "../../domain/DomainActors.ts"

/**
 * Builds the function that writes deliveries in the current transaction, and wakes their hosts after the commit; once
 * per node.
 */
export const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const domainActors = yield* DomainActors
  return (written: Effect.Effect<HostNames, SqlError>): Effect.Effect<void, SqlError> =>
    Effect.flatMap(written, (hosts) => hosts.length === 0 ? Effect.void : sql.afterCommit(domainActors.wake(hosts)))
})
