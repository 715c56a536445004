import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Command } from "../../src/actors/account/core/AccountProtocol.ts"
import type { AccountId } from "../../src/services/database/Ids.ts"
import { person } from "../support/People.ts"
import type { Facts } from "./Facts.ts"
import type { Aftermath } from "./Invariants.ts"
import type { Performed } from "./Performed.ts"

/** Id of the default role Moderator. */
const moderatorRole = 1

/** Inserts a moderator, who is notified of reports and reviews held posts. */
export const insert = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const moderator = yield* person("moderator")
  yield* sql`UPDATE users SET role_id = ${moderatorRole} WHERE account_id = ${moderator}`
  return moderator
})

/** Makes a report of an account, with a unique comment. */
export const report = (target: AccountId, n: number): Command => ({
  _tag: "Report",
  target,
  category: "spam",
  comment: `report ${n}`,
  statusIds: [],
  ruleIds: [],
  forward: false,
  forwardDomains: []
})

interface ReportRow {
  readonly id: bigint
  readonly accountId: bigint
  readonly targetAccountId: bigint
  readonly comment: string
}

/** I29: each acknowledged report exists once, and so does its notification to the moderator. */
export const check = Effect.fnUntraced(function*(
  { shared: { sql }, world }: Aftermath,
  { rows: { notifications } }: Facts,
  performed: ReadonlyArray<Performed>,
  commandOf: ReadonlyMap<string, Command>
) {
  const broken: Array<string> = []
  const rows = yield* sql<ReportRow>`SELECT id, account_id, target_account_id, comment FROM reports
    WHERE comment LIKE 'report %' ORDER BY id`
  const left = new Map(rows.map((row) => [`${row.accountId}>${row.targetAccountId} ${row.comment}`, row]))
  if (left.size < rows.length) broken.push(`I29: ${rows.length - left.size} reports exist twice`)
  for (const { accountId, commandId } of performed) {
    const command = commandId === null ? undefined : commandOf.get(commandId)
    if (command?._tag !== "Report") continue
    world.count("report")
    const key = `${accountId}>${command.target} ${command.comment}`
    const row = left.get(key)
    left.delete(key)
    if (row === undefined) broken.push(`I29: the report ${key} is missing`)
    const notified = notifications.filter(({ reportId, type }) => type === "admin.report" && reportId === row?.id)
    if (row !== undefined && notified.length !== 1) {
      broken.push(`I29: the report ${key} has ${notified.length} notifications`)
    }
  }
  for (const key of left.keys()) broken.push(`I29: the report ${key} was never filed`)
  return broken
})
