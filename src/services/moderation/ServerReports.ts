import { Clock, Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { AccountId } from "../database/Ids.ts"
import { idRows, singleRow } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { reportStatusesMax } from "./Reports.ts"

/** Reports by the server itself, without a reporting account. */
export class ServerReports extends Context.Service<ServerReports, {
  /**
   * Files a report in the current transaction of the account's actor and returns its id. Adds the status to an open
   * report instead, if there is one, so that a flood makes a single report.
   */
  readonly file: (
    target: AccountId,
    comment: string,
    statusId: bigint | undefined
  ) => Effect.Effect<bigint | undefined, SqlError>
}>()("murmuration/services/moderation/ServerReports") {
  static readonly layer = Layer.effect(
    ServerReports,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      return ServerReports.of({
        file: traced("ServerReports.file")(function*(target, comment, statusId) {
          const now = yield* Clock.currentTimeMillis
          const [at, statuses] = [new Date(now), statusId === undefined ? [] : [statusId]]
          const open = yield* idRows(sql`UPDATE reports SET updated_at = ${at},
              status_ids = CASE WHEN cardinality(status_ids) < ${reportStatusesMax}
                THEN status_ids || ${statuses}::bigint[] ELSE status_ids END
            WHERE id = (SELECT id FROM reports WHERE target_account_id = ${target} AND account_id IS NULL
              AND action_taken_at IS NULL ORDER BY id DESC LIMIT 1) AND action_taken_at IS NULL RETURNING id`)
          if (open.length > 0) return undefined
          const inserted = yield* idRows(sql`INSERT INTO reports (id, account_id, target_account_id, category, comment,
              status_ids, rule_ids, forward_domains, created_at)
            VALUES (next_id(${now}), NULL, ${target}, 'spam', ${comment}, ${statuses}::bigint[], '{}', '{}', ${at})
            RETURNING id`)
          return singleRow(inserted).id
        })
      })
    })
  )
}
