import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type SiteThumbnail, siteThumbnailOf, siteThumbnailSetting } from "./SiteThumbnail.ts"

/** What the server says about itself; an operator sets it in the table of settings. */
export interface About {
  readonly title: string
  readonly shortDescription: string
  /** HTML; null where the operator has written none. */
  readonly extendedDescription: { readonly html: string; readonly updatedAt: Date } | null
  readonly privacyPolicy: { readonly html: string; readonly updatedAt: Date } | null
  readonly contactEmail: string
  /** Null where the operator has set none. */
  readonly thumbnail: SiteThumbnail | null
  /** The first owner, where there is one. */
  readonly contactAccountId: bigint | null
}

export interface RuleRecord {
  readonly id: bigint
  readonly text: string
  readonly hint: string
  readonly translations: Readonly<Record<string, { readonly text: string; readonly hint: string }>>
}

/** Counts of the whole server; users are confirmed, approved and not suspended. */
export interface Usage {
  readonly users: number
  readonly activeMonth: number
  readonly activeHalfYear: number
  readonly statuses: number
  readonly domains: number
}

/** How long counts are kept, in milliseconds. */
export const usageMillisMax = 5 * 60_000
/** Days without use after which a user is not active any more (S-294). */
export const activeMonthDays = 30
export const activeHalfYearDays = 180
const dayMillis = 86_400_000
/** Servers that are named at most. */
export const peersMax = 10_000

/** Reads what the server says about itself. */
export class Instance extends Context.Service<Instance, {
  readonly about: Effect.Effect<About>
  readonly rules: Effect.Effect<ReadonlyArray<RuleRecord>>
  /** At most five minutes old. */
  readonly usage: Effect.Effect<Usage>
  /** Domains of known accounts. */
  readonly peers: Effect.Effect<ReadonlyArray<string>>
}>()("murmuration/services/instance/Instance") {
  static readonly layer = Layer.effect(
    Instance,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient

      const about = Effect.gen(function*() {
        const rows = yield* sql<{ name: string; value: unknown; updatedAt: Date }>`
          SELECT name, value, updated_at FROM settings WHERE name = ANY (${settingNames}::text[])`
        const set = new Map(rows.map((row) => [row.name, row]))
        const text = (name: typeof settingNames[number]) => Option.getOrElse(asText(set.get(name)?.value), () => "")
        const page = (name: typeof settingNames[number]) => {
          const row = set.get(name)
          return row === undefined || text(name) === "" ? null : { html: text(name), updatedAt: row.updatedAt }
        }
        const [owner] = yield* sql<{ id: bigint }>`
          SELECT u.account_id AS id FROM users u JOIN roles r ON r.id = u.role_id
          JOIN accounts a ON a.id = u.account_id AND a.suspended_at IS NULL
          WHERE r.permissions & 1 = 1 AND u.confirmed_at IS NOT NULL AND u.approved ORDER BY u.account_id LIMIT 1`
        return {
          title: text("site_title") || "Murmuration",
          shortDescription: text("site_short_description"),
          extendedDescription: page("site_extended_description"),
          privacyPolicy: page("site_privacy_policy"),
          contactEmail: text("contact_email"),
          thumbnail: siteThumbnailOf(set.get(siteThumbnailSetting)?.value),
          contactAccountId: owner?.id ?? null
        }
      }).pipe(Effect.orDie, Effect.withSpan("Instance.about"))

      let counted: { readonly at: number; readonly usage: Usage } | undefined
      const usage = Effect.gen(function*() {
        const now = yield* Clock.currentTimeMillis
        if (counted !== undefined && now - counted.at < usageMillisMax && now >= counted.at) return counted.usage
        const since = (days: number) => new Date(now - days * dayMillis)
        const [users] = yield* sql<Omit<Usage, "domains">>`
          SELECT count(*)::int AS users,
            (count(*) FILTER (WHERE u.last_seen_at > ${since(activeMonthDays)}))::int AS active_month,
            (count(*) FILTER (WHERE u.last_seen_at > ${since(activeHalfYearDays)}))::int AS active_half_year,
            coalesce(sum(c.statuses_count), 0)::int AS statuses
          FROM users u JOIN accounts a ON a.id = u.account_id LEFT JOIN account_stats c ON c.account_id = a.id
          WHERE a.suspended_at IS NULL AND u.confirmed_at IS NOT NULL AND u.approved`
        const [servers] = yield* sql<{ domains: number }>`SELECT count(DISTINCT domain)::int AS domains FROM accounts`
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
        rules: sql<RuleRecord>`SELECT id, text, hint, translations FROM rules
          WHERE deleted_at IS NULL ORDER BY priority, id`.pipe(Effect.orDie, Effect.withSpan("Instance.rules")),
        peers: sql<{ domain: string }>`SELECT DISTINCT domain FROM accounts
          WHERE domain IS NOT NULL ORDER BY domain LIMIT ${peersMax}`.pipe(
          Effect.map((rows) => rows.map(({ domain }) => domain)),
          Effect.orDie,
          Effect.withSpan("Instance.peers")
        )
      })
    })
  )
}

const settingNames = [
  "site_title",
  "site_short_description",
  "site_extended_description",
  "site_privacy_policy",
  "contact_email",
  siteThumbnailSetting
] as const

const asText = Schema.decodeUnknownOption(Schema.String)
