import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { traced } from "../runtime/Traced.ts"
import { isDay } from "./DocumentHtml.ts"
import { type DocumentKind, documents, type DocumentVersion } from "./Documents.ts"
import {
  type InstanceIcon,
  instanceIconOf,
  type InstanceThumbnail,
  instanceThumbnailOf,
  pictureSettings
} from "./PictureSettings.ts"
import type { ValuesFor } from "./SettingTable.ts"
import { settingValues, storedNames } from "./SettingValues.ts"

/** Description of the server, which staff set in the table `settings`. */
export interface About extends Omit<ValuesFor<"about">, "contactAccount"> {
  readonly privacyPolicy: DocumentVersion | null
  /** Null if there are no terms. */
  readonly termsOfService: DocumentVersion | null
  /** Null if staff set none. */
  readonly thumbnail: InstanceThumbnail | null
  readonly appIcon: InstanceIcon | null
  readonly favicon: InstanceIcon | null
  /** Contact account: the one that staff named, or else the oldest administrator, if any. */
  readonly contactAccountId: bigint | null
  readonly contactAccount: string | null
}

const RuleRecord = Schema.Struct({
  id: Schema.BigInt,
  text: Schema.String,
  hint: Schema.String,
  translations: Schema.Record(Schema.String, Schema.Struct({ text: Schema.String, hint: Schema.String }))
})
export type RuleRecord = typeof RuleRecord.Type
const ruleRows = rowsOf(RuleRecord)

/** Counts for the whole server; users are confirmed, approved and not suspended. */
const Usage = Schema.Struct({
  users: Schema.Int,
  activeMonth: Schema.Int,
  activeHalfYear: Schema.Int,
  statuses: Schema.Int,
  domains: Schema.Int
})
export type Usage = typeof Usage.Type
const userCountRows = rowsOf(Usage.mapFields(Struct.omit(["domains"])))

/** Lifetime of cached counts, in milliseconds. */
const usageMillisMax = 5 * 60_000
/** Days without activity after which a user is inactive (S-294). */
const activeMonthDays = 30
const activeHalfYearDays = 180
const dayMillis = 86_400_000
/** Maximum servers in the list. */
const peersMax = 10_000

const settingRows = rowsOf(Schema.Struct({ name: Schema.String, value: Schema.Unknown, updatedAt: Timestamptz }))
const contactRows = rowsOf(Schema.Struct({ id: Schema.BigInt, username: Schema.String }))
const domainsRows = rowsOf(Schema.Struct({ domains: Schema.Int }))
const domainRows = rowsOf(Schema.Struct({ domain: Schema.String }))

/** Reads the description of the server. */
export class Instance extends Context.Service<Instance, {
  readonly about: Effect.Effect<About>
  readonly rules: Effect.Effect<ReadonlyArray<RuleRecord>>
  /** Returns the current version of a document, or that of a date such as `2026-01-31`; null if it does not exist. */
  readonly document: (kind: DocumentKind, day?: string) => Effect.Effect<DocumentVersion | null>
  /** Counts that are at most five minutes old. */
  readonly usage: Effect.Effect<Usage>
  /** Domains of known remote accounts. */
  readonly peers: Effect.Effect<ReadonlyArray<string>>
}>()("murmuration/services/instance/Instance") {
  static readonly layer = Layer.effect(
    Instance,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const about = Effect.gen(function*() {
        const rows = yield* settingRows(sql`
          SELECT name, value, updated_at FROM settings WHERE name = ANY (${settingNames}::text[])`)
        const set = new Map(rows.map((row) => [row.name, row]))
        const values = settingValues("about", rows)
        const contact = values.contactAccount?.toLowerCase() ?? ""
        const [asked] = yield* contactRows(sql`
          SELECT u.account_id AS id, a.username FROM users u JOIN roles r ON r.id = u.role_id
          JOIN accounts a ON a.id = u.account_id AND a.suspended_at IS NULL
          WHERE u.confirmed_at IS NOT NULL AND u.approved AND (r.permissions & 1 = 1 OR lower(a.username) = ${contact})
          ORDER BY (lower(a.username) = ${contact}) DESC, u.account_id LIMIT 1`)
        const document = yield* documents(sql)
        return {
          ...values,
          privacyPolicy: document("privacy_policy"),
          termsOfService: document("terms_of_service"),
          thumbnail: instanceThumbnailOf(set.get(pictureSettings.thumbnail)?.value),
          appIcon: instanceIconOf(set.get(pictureSettings.appIcon)?.value),
          favicon: instanceIconOf(set.get(pictureSettings.favicon)?.value),
          contactAccountId: asked?.id ?? null,
          contactAccount: asked?.username ?? null
        }
      }).pipe(Effect.orDie, Effect.withSpan("Instance.about"))

      let counted: { readonly at: number; readonly usage: Usage } | undefined
      const usage = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        if (counted !== undefined && now - counted.at < usageMillisMax && now >= counted.at) return counted.usage
        const since = (days: number) => new Date(now - days * dayMillis)
        const [users] = yield* userCountRows(sql`
          SELECT count(*)::int AS users,
            (count(*) FILTER (WHERE u.last_seen_at > ${since(activeMonthDays)}))::int AS active_month,
            (count(*) FILTER (WHERE u.last_seen_at > ${since(activeHalfYearDays)}))::int AS active_half_year,
            coalesce(sum(c.statuses_count), 0)::int AS statuses
          FROM users u JOIN accounts a ON a.id = u.account_id LEFT JOIN account_stats c ON c.account_id = a.id
          WHERE a.suspended_at IS NULL AND u.confirmed_at IS NOT NULL AND u.approved`)
        const [servers] = yield* domainsRows(sql`SELECT count(DISTINCT domain)::int AS domains FROM accounts`)
        const fresh = {
          users: users?.users ?? 0,
          activeMonth: users?.activeMonth ?? 0,
          activeHalfYear: users?.activeHalfYear ?? 0,
          statuses: users?.statuses ?? 0,
          domains: servers?.domains ?? 0
        }
        counted = { at: now, usage: fresh }
        return fresh
      }).pipe(Effect.orDie, Effect.withSpan("Instance.usage"))

      return Instance.of({
        about,
        usage,
        document: traced("Instance.document")(
          (kind, day) =>
            day === undefined || isDay(day)
              ? Effect.map(documents(sql, day), (document) => document(kind))
              : Effect.succeed(null),
          Effect.orDie
        ),
        rules: ruleRows(sql`SELECT id, text, hint, translations FROM rules
          WHERE deleted_at IS NULL ORDER BY priority, id`).pipe(Effect.orDie, Effect.withSpan("Instance.rules")),
        peers: domainRows(sql`SELECT DISTINCT domain FROM accounts
          WHERE domain IS NOT NULL ORDER BY domain LIMIT ${peersMax}`).pipe(
          Effect.map((rows) => rows.map(({ domain }) => domain)),
          Effect.orDie,
          Effect.withSpan("Instance.peers")
        )
      })
    })
  )
}

const settingNames = [...storedNames("about"), ...Object.values(pictureSettings)]
