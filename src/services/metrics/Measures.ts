import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import { rowsOf } from "../database/Rows.ts"
import { normalizeDomain } from "../federation/DomainNames.ts"
import { traced } from "../runtime/Traced.ts"
import { figureCache } from "./KeptFigures.ts"
import { before, daysOf, idsOf, midnightOf, momentsOf, type Period } from "./Period.ts"

/** Keys of measures. */
const measureKeys = [
  "active_users",
  "new_users",
  "interactions",
  "opened_reports",
  "resolved_reports",
  "tag_accounts",
  "tag_uses",
  "tag_servers",
  "instance_accounts",
  "instance_media_attachments",
  "instance_reports",
  "instance_statuses",
  "instance_follows",
  "instance_followers"
] as const
type MeasureKey = typeof measureKeys[number]

/** Hashtag or server that a measure is about. */
interface MeasureSubject {
  readonly tagId?: bigint | undefined
  readonly domain?: string | undefined
  readonly includeSubdomains?: boolean | undefined
}

export interface Measure {
  readonly key: string
  readonly unit: string | null
  readonly total: bigint
  /** Total of as many days before; undefined for all-time totals. */
  readonly previousTotal: bigint | undefined
  readonly data: ReadonlyArray<{ readonly date: Date; readonly value: bigint }>
}

const isKey = Schema.is(Schema.Literals(measureKeys))
const dayRows = rowsOf(Schema.Struct({ day: Schema.Int, value: Schema.BigInt }))
const totalRows = rowsOf(Schema.Struct({ value: Schema.BigInt }))

/** Queries of one measure: values by day, and the total. */
interface Counting {
  readonly unit: string | null
  readonly days: (
    period: Period
  ) => Effect.Effect<ReadonlyArray<{ readonly day: number; readonly value: bigint }>, SqlError>
  /** Sum of the days by default. */
  readonly total?: (period: Period) => Fragment
  /** All-time total, instead of the period's. */
  readonly allTimeTotal?: Fragment
}

/** Daily figures for staff, as Mastodon counts them; up to five minutes old. */
export class Measures extends Context.Service<Measures, {
  /** Returns undefined for an unknown measure or a missing subject. */
  readonly of: (key: string, period: Period, subject: MeasureSubject) => Effect.Effect<Measure | undefined>
}>()("murmuration/services/metrics/Measures") {
  static readonly layer = Layer.effect(Measures, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const cached = figureCache<Measure>()

  const dayOf = (column: string) => sql.literal(`floor(extract(epoch FROM ${column}) / 86400)::int`)
  const dayOfId = (column: string) => sql.literal(`((${column} >> 16) / 86400000)::int`)
  const byMoment = (table: string, column: string, more: Fragment = sql`true`) => (period: Period) => {
    const { from, to } = momentsOf(period)
    return dayRows(sql`SELECT ${dayOf(column)} AS day, count(*) AS value FROM ${sql.literal(table)}
      WHERE ${sql.literal(column)} >= ${from} AND ${sql.literal(column)} < ${to} AND ${more} GROUP BY 1`)
  }
  const byId = (table: string, column: string, more: Fragment, value: Fragment = sql`count(*)`) => (period: Period) => {
    const { from, to } = idsOf(period)
    return dayRows(sql`SELECT ${dayOfId(column)} AS day, ${value} AS value FROM ${sql.literal(table)}
      WHERE ${sql.literal(column)} >= ${from} AND ${sql.literal(column)} < ${to} AND ${more} GROUP BY 1`)
  }

  const general = new Map<MeasureKey, Counting>([
    ["active_users", {
      unit: null,
      days: (period) => {
        const { from, to } = momentsOf(period)
        return dayRows(sql`SELECT ${dayOf("day::timestamp")} AS day, count(*) AS value FROM active_days
          WHERE day >= ${from}::date AND day < ${to}::date GROUP BY 1`)
      },
      // A user who was active on several days counts once.
      total: (period) => {
        const { from, to } = momentsOf(period)
        return sql`SELECT count(DISTINCT account_id) AS value FROM active_days
          WHERE day >= ${from}::date AND day < ${to}::date`
      }
    }],
    ["new_users", { unit: null, days: byMoment("users", "created_at") }],
    ["opened_reports", { unit: null, days: byMoment("reports", "created_at") }],
    ["resolved_reports", { unit: null, days: byMoment("reports", "action_taken_at") }],
    // Interactions of local users with posts: favourites, boosts and replies.
    ["interactions", {
      unit: null,
      days: (period) => {
        const { from, to } = idsOf(period)
        return dayRows(sql`SELECT day, sum(value)::bigint AS value FROM (
          SELECT ${dayOfId("s.id")} AS day, count(*) AS value FROM statuses s
          WHERE s.id >= ${from} AND s.id < ${to} AND s.local AND s.deleted_at IS NULL
            AND (s.reblog_of_id IS NOT NULL OR s.in_reply_to_account_id <> s.account_id) GROUP BY 1
          UNION ALL
          SELECT ${dayOfId("f.id")}, count(*) FROM favourites f JOIN users u ON u.account_id = f.account_id
          WHERE f.id >= ${from} AND f.id < ${to} GROUP BY 1) counted GROUP BY day`)
      }
    }]
  ])

  const ofTag = (tagId: bigint) => {
    const days = (value: Fragment) => (period: Period) => {
      const { from, to } = momentsOf(period)
      return dayRows(sql`SELECT ${dayOf("day::timestamp")} AS day, ${value} AS value FROM tag_days
        WHERE tag_id = ${tagId} AND uses > 0 AND day >= ${from}::date AND day < ${to}::date GROUP BY 1`)
    }
    return new Map<MeasureKey, Counting>([
      ["tag_uses", { unit: null, days: days(sql`sum(uses)::bigint`) }],
      ["tag_accounts", {
        unit: null,
        days: days(sql`count(*)`),
        total: (period) => {
          const { from, to } = momentsOf(period)
          return sql`SELECT count(DISTINCT account_id) AS value FROM tag_days
            WHERE tag_id = ${tagId} AND uses > 0 AND day >= ${from}::date AND day < ${to}::date`
        }
      }],
      ["tag_servers", {
        unit: null,
        days: byId(
          "statuses_tags t JOIN statuses s ON s.id = t.status_id JOIN accounts a ON a.id = s.account_id",
          "t.status_id",
          sql`t.tag_id = ${tagId}`,
          sql`count(DISTINCT coalesce(a.domain, ''))`
        ),
        total: (period) => {
          const { from, to } = idsOf(period)
          return sql`SELECT count(DISTINCT coalesce(a.domain, '')) AS value FROM statuses_tags t
            JOIN statuses s ON s.id = t.status_id JOIN accounts a ON a.id = s.account_id
            WHERE t.tag_id = ${tagId} AND t.status_id >= ${from} AND t.status_id < ${to}`
        }
      }]
    ])
  }

  const ofServer = (domain: string, subdomains: boolean) => {
    const domainKey = sql`domain_key(${domain})`
    const key = sql`(domain_key(a.domain) COLLATE "C")`
    // Uses the index on domains, as domain rules do.
    const ofDomain = subdomains
      ? sql`a.domain IS NOT NULL AND ${key} >= ${domainKey} COLLATE "C" AND ${key} < ${domainKey} || '/' COLLATE "C"
        AND (${key} = ${domainKey} OR starts_with(${key}, ${domainKey} || '.'))`
      : sql`a.domain IS NOT NULL AND ${key} = ${domainKey} COLLATE "C"`
    const of = (rows: string, column: string, unit: string | null = null, one = "count(*)"): Counting => ({
      unit,
      days: byId(rows, column, ofDomain, sql.literal(`coalesce(${one}, 0)::bigint`)),
      allTimeTotal: sql`SELECT ${sql.literal(`coalesce(${one}, 0)::bigint`)} AS value FROM ${
        sql.literal(rows)
      } WHERE ${ofDomain}`
    })
    return new Map<MeasureKey, Counting>([
      ["instance_accounts", of("accounts a", "a.id")],
      ["instance_statuses", of("accounts a JOIN statuses s ON s.account_id = a.id AND s.deleted_at IS NULL", "s.id")],
      ["instance_reports", of("accounts a JOIN reports r ON r.target_account_id = a.id", "r.id")],
      ["instance_follows", of("accounts a JOIN follows f ON f.target_account_id = a.id", "f.id")],
      ["instance_followers", of("accounts a JOIN follows f ON f.account_id = a.id", "f.id")],
      [
        "instance_media_attachments",
        of(
          `accounts a JOIN media_attachments m ON m.account_id = a.id
          JOIN stored_files c ON c.media_id = m.id`,
          "m.id",
          "bytes",
          "sum(c.bytes)"
        )
      ]
    ])
  }

  const countingOf = (key: MeasureKey, { domain, includeSubdomains, tagId }: MeasureSubject): Counting | undefined => {
    const name = domain === undefined ? undefined : normalizeDomain(domain)
    return general.get(key) ?? (tagId === undefined ? undefined : ofTag(tagId).get(key)) ??
      (name === undefined ? undefined : ofServer(name, includeSubdomains === true).get(key))
  }

  const count = Effect.fnUntraced(function*(key: MeasureKey, counting: Counting, period: Period) {
    const days = new Map((yield* counting.days(period)).map(({ day, value }) => [day, value]))
    const one = (statement: Fragment) => Effect.map(totalRows(sql`${statement}`), ([row]) => row?.value ?? 0n)
    const totalOf = Effect.fnUntraced(function*(of: Period) {
      if (counting.total !== undefined) return yield* one(counting.total(of))
      const found = of === period ? [...days.values()] : (yield* counting.days(of)).map(({ value }) => value)
      return found.reduce((sum, value) => sum + value, 0n)
    })
    const measure: Measure = {
      key,
      unit: counting.unit,
      total: counting.allTimeTotal === undefined ? yield* totalOf(period) : yield* one(counting.allTimeTotal),
      previousTotal: counting.allTimeTotal === undefined ? yield* totalOf(before(period)) : undefined,
      data: daysOf(period).map((day) => ({ date: midnightOf(day), value: days.get(day) ?? 0n }))
    }
    return measure
  })

  return Measures.of({
    of: traced("Measures.of")(function*(key, period, subject) {
      const counting = isKey(key) ? countingOf(key, subject) : undefined
      if (!isKey(key) || counting === undefined) return undefined
      const name = [key, period.first, period.last, subject.tagId, subject.domain, subject.includeSubdomains].join(" ")
      return yield* cached(name, Effect.orDie(count(key, counting, period)))
    })
  })
})
