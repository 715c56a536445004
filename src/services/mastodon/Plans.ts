import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { notCopied } from "./AllSteps.ts"
import * as EncryptedRows from "./EncryptedRows.ts"
import { Source } from "./Source.ts"
import { nameCell, nowMark, type Step } from "./Step.ts"

const sourceRows = rowsOf(Schema.Struct({
  accounts: Schema.Boolean,
  keypairs: Schema.Boolean,
  schemes: Schema.Boolean,
  bytes: Schema.BigInt
}))
const countRows = rowsOf(Schema.Struct({ count: Schema.BigInt }))
const maxRows = rowsOf(Schema.Struct({ id: Schema.NullOr(Schema.BigInt) }))
const usersRows = rowsOf(Schema.Struct({ users: Schema.BigInt, started: Schema.Boolean }))

/** Rows that two cores copy in a second: posts. Those of relations take a fifth of the time, preview cards twice. */
const rowsPerSecond = 4_000

/** Plan of a copy: its contents and its obstacles. */
interface Report {
  readonly lines: ReadonlyArray<string>
  /** Reasons why a copy cannot start. */
  readonly obstacles: ReadonlyArray<string>
}

/** Facts from the environment file. */
interface SourceFacts {
  readonly domain: string | undefined
  readonly ourDomain: string
  /** Host of its web pages, if it is not the domain. */
  readonly webDomain: string | undefined
  readonly publicUrl: string
  readonly hasKeys: boolean
  /** Opens texts that Rails sealed; undefined for those under another key. */
  readonly decrypt: (message: string) => string | undefined
  /** True if it has a valid VAPID pair. */
  readonly keepsPush: boolean
}

/** Hosts of a trial on one machine. */
const ownNames = new Set(["localhost", "127.0.0.1", "[::1]"])

/** Returns the obstacle that this server has another web address than Mastodon, with which its ids begin. */
const otherAddress = ({ domain, publicUrl, webDomain = domain }: SourceFacts): ReadonlyArray<string> => {
  const host = webDomain?.toLowerCase()
  const ours = new URL(publicUrl)
  // Mastodon always uses https in production; a trial on one machine has no certificate.
  if (host === undefined || (ours.host === host && (ours.protocol === "https:" || ownNames.has(ours.hostname)))) {
    return []
  }
  return [
    `PUBLIC_URL is ${publicUrl}, but Mastodon's web address is https://${host}, with which the ids of accounts and posts begin: ` +
    `set PUBLIC_URL=https://${host} for this command and for the server.`
  ]
}

/** Looks at both databases without changing anything. */
export const report = Effect.fnUntraced(function*(steps: ReadonlyArray<Step>, facts: SourceFacts, now: number) {
  const sql = yield* SqlClient.SqlClient
  const source = yield* Source
  const found = singleRow(
    yield* sourceRows(
      source`SELECT to_regclass('accounts') IS NOT NULL AND to_regclass('statuses') IS NOT NULL AS accounts,
      to_regclass('keypairs') IS NOT NULL AS keypairs,
      EXISTS (SELECT FROM information_schema.columns WHERE table_name = 'accounts' AND column_name = 'id_scheme') AS schemes,
      pg_database_size(current_database()) AS bytes`
    )
  )
  if (!found.accounts) return { lines: [], obstacles: ["The database is not one of Mastodon."] } satisfies Report
  const target = singleRow(
    yield* usersRows(sql`SELECT (SELECT count(*) FROM users) AS users,
      EXISTS (SELECT FROM transfer_cursors) AS started`)
  )
  const counts = yield* Effect.forEach(
    steps,
    ({ countedWhere, joins, name, needs, table, where }) =>
      Effect.gen(function*() {
        const [present] = yield* source`SELECT FROM pg_class WHERE oid = to_regclass(${table})
        AND to_regclass(${needs ?? table}) IS NOT NULL`
        const counted = countedWhere ?? where
        const condition = counted === undefined ? "" : `WHERE ${counted}`
        if (present === undefined) return { line: `${nameCell(name)}${"no such table".padStart(14)}`, rows: 0 }
        const { count } = singleRow(
          yield* countRows(
            source.unsafe(
              `SELECT count(*) AS count FROM ${table} t ${joins ?? ""} ${
                condition.replaceAll(nowMark, new Date(now).toISOString())
              }`
            )
          )
        )
        return {
          line: `${nameCell(name)}${String(count).padStart(14)}${countedWhere === undefined ? "" : " at most"}`,
          rows: Number(count)
        }
      })
  )
  const minutes = Math.ceil(counts.reduce((sum, { rows }) => sum + rows, 0) / rowsPerSecond / 60)
  const [newest] = yield* maxRows(
    source`SELECT greatest((SELECT max(id) FROM statuses), (SELECT max(id) FROM accounts)) AS id`
  )
  const version = found.keypairs ? "4.7" : found.schemes ? "4.5 or 4.6" : "4.3 or 4.4"
  return {
    lines: [
      `Mastodon ${version} by its tables, ${(Number(found.bytes) / 1_048_576).toFixed(0)} MiB.`,
      "",
      ...counts.map(({ line }) => line),
      "",
      `About ${minutes} ${minutes === 1 ? "minute" : "minutes"} at ${rowsPerSecond} rows a second, without files.`,
      "",
      "Not copied:",
      ...notCopied.map(([what, instead]) => `- ${what}: ${instead}`),
      ...(facts.keepsPush
        ? []
        : [
          "- push subscriptions of apps, as the environment file has no valid VAPID pair: apps subscribe again when they start"
        ])
    ],
    obstacles: [
      ...(facts.domain === undefined ? ["The environment file has no LOCAL_DOMAIN."] : []),
      ...(facts.domain !== undefined && facts.domain !== facts.ourDomain
        ? [
          `LOCAL_DOMAIN is ${facts.ourDomain}, but Mastodon's is ${facts.domain}: ` +
          `set LOCAL_DOMAIN=${facts.domain} for this command and for the server.`
        ]
        : []),
      ...otherAddress(facts),
      ...(found.keypairs && !facts.hasKeys
        ? [
          "The environment file lacks ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY or ACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT, " +
          "without which the accounts' keys cannot be read."
        ]
        : yield* EncryptedRows.obstacles(facts.decrypt, found.keypairs)),
      ...(target.users > 0n && !target.started
        ? ["This server has users already; a copy needs an empty database."]
        : []),
      ...(newest?.id !== null && newest !== undefined && Number(newest.id >> 16n) > now
        ? ["The clock of this server is behind the newest id: set it before the copy."]
        : [])
    ]
  } satisfies Report
})
