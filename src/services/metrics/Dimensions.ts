import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Fragment } from "effect/sql/Statement"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { normalizeDomain } from "../federation/DomainNames.ts"
import { languages } from "../instance/Languages.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { softwareVersion } from "../instance/Software.ts"
import { traced } from "../runtime/Traced.ts"
import { figureCache } from "./KeptFigures.ts"
import { idsOf, momentsOf, type Period } from "./Period.ts"
import { formatBytes } from "./Sizes.ts"

/** Dimensions by which figures are split. */
const dimensionKeys = [
  "languages",
  "sources",
  "servers",
  "space_usage",
  "software_versions",
  "tag_servers",
  "tag_languages",
  "instance_accounts",
  "instance_languages"
] as const

/** Hashtag or server that a dimension is about. */
interface DimensionSubject {
  readonly tagId?: bigint | undefined
  readonly domain?: string | undefined
}

interface DimensionValue {
  readonly key: string
  readonly humanKey: string
  readonly value: string
  readonly unit?: string
  readonly humanValue?: string
}

const isKey = Schema.is(Schema.Literals(dimensionKeys))
const valueRows = rowsOf(Schema.Struct({ key: Schema.NullOr(Schema.String), value: Schema.BigInt }))
const sizeRows = rowsOf(Schema.Struct({ database: Schema.BigInt, media: Schema.BigInt, version: Schema.String }))

const languageNames: ReadonlyMap<string, string> = new Map(languages.map(({ code, name }) => [code, name]))
const nameOfLanguage = (tag: string) => languageNames.get(tag) ?? tag

/** Breakdowns for staff: origins, languages, software and storage. */
export class Dimensions extends Context.Service<Dimensions, {
  /** Returns the values, largest first; undefined for an unknown dimension or a missing subject. */
  readonly of: (
    key: string,
    period: Period,
    limit: number,
    subject: DimensionSubject
  ) => Effect.Effect<ReadonlyArray<DimensionValue> | undefined>
}>()("murmuration/services/metrics/Dimensions") {
  static readonly layer = Layer.effect(Dimensions, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { localDomain } = yield* ServerConfig
  const cached = figureCache<ReadonlyArray<DimensionValue> | undefined>()

  const split = (statement: Fragment, limit: number, name: (key: string) => string, none: string) =>
    Effect.map(
      valueRows(sql`${statement} GROUP BY 1 ORDER BY value DESC, 1 LIMIT ${rowsMax(sql, limit)}`),
      (rows) => rows.map(({ key, value }) => ({ key: key ?? none, humanKey: name(key ?? none), value: String(value) }))
    )
  const same = (key: string) => key
  const size = (key: string, humanKey: string, bytes: bigint): DimensionValue => ({
    key,
    humanKey,
    value: String(bytes),
    unit: "bytes",
    humanValue: formatBytes(bytes)
  })
  const sizes = Effect.map(
    sizeRows(sql`SELECT pg_database_size(current_database()) AS database,
      (SELECT coalesce(sum(bytes), 0)::bigint FROM stored_files) AS media, current_setting('server_version') AS version`),
    ([row]) => ({ database: 0n, media: 0n, version: "", ...row })
  )

  const count = Effect.fnUntraced(
    function*(key: typeof dimensionKeys[number], period: Period, limit: number, { domain, tagId }: DimensionSubject) {
      const ids = idsOf(period)
      const { from, to } = momentsOf(period)
      const host = domain === undefined ? undefined : normalizeDomain(domain)
      switch (key) {
        case "languages":
          return yield* split(
            sql`SELECT locale AS key, count(*) AS value FROM users
            WHERE last_seen_at >= ${from} AND last_seen_at < ${to} AND locale IS NOT NULL`,
            limit,
            nameOfLanguage,
            "und"
          )
        case "sources":
          return yield* split(
            sql`SELECT o.name AS key, count(*) AS value FROM users u
            LEFT JOIN oauth_apps o ON o.id = u.created_by_app_id WHERE u.created_at >= ${from} AND u.created_at < ${to}`,
            limit,
            (name) => name === "web" ? "Website" : name,
            "web"
          )
        case "servers":
          return yield* split(
            sql`SELECT a.domain AS key, sum(s.posts)::bigint AS value FROM (
              SELECT account_id, count(*) AS posts FROM statuses WHERE id >= ${ids.from} AND id < ${ids.to}
                AND deleted_at IS NULL GROUP BY account_id) s JOIN accounts a ON a.id = s.account_id`,
            limit,
            same,
            localDomain
          )
        case "space_usage": {
          const { database, media } = yield* sizes
          return [size("postgresql", "PostgreSQL", database), size("media", "Media storage", media)]
        }
        case "software_versions": {
          const { version } = yield* sizes
          const line = (name: string, human: string, value: string): DimensionValue => ({
            key: name,
            humanKey: human,
            value,
            humanValue: value
          })
          return [
            line("murmuration", "Murmuration", softwareVersion),
            line("postgresql", "PostgreSQL", version.split(" ", 1)[0] ?? version)
          ]
        }
        case "tag_servers":
          return tagId === undefined ? undefined : yield* split(
            sql`SELECT a.domain AS key, count(*) AS value FROM statuses_tags t JOIN statuses s ON s.id = t.status_id
            JOIN accounts a ON a.id = s.account_id
            WHERE t.tag_id = ${tagId} AND t.status_id >= ${ids.from} AND t.status_id < ${ids.to}`,
            limit,
            same,
            localDomain
          )
        case "tag_languages":
          return tagId === undefined ? undefined : yield* split(
            sql`SELECT s.language AS key, count(*) AS value FROM statuses_tags t JOIN statuses s ON s.id = t.status_id
            WHERE t.tag_id = ${tagId} AND t.status_id >= ${ids.from} AND t.status_id < ${ids.to}`,
            limit,
            nameOfLanguage,
            "und"
          )
        case "instance_accounts":
          return host === undefined ? undefined : yield* split(
            sql`SELECT a.username AS key, max(t.followers_count)::bigint AS value FROM accounts a
            JOIN account_stats t ON t.account_id = a.id
            WHERE a.domain IS NOT NULL AND (domain_key(a.domain) COLLATE "C") = domain_key(${host})`,
            limit,
            same,
            ""
          )
        case "instance_languages":
          return host === undefined ? undefined : yield* split(
            sql`SELECT s.language AS key, count(*) AS value FROM accounts a JOIN statuses s ON s.account_id = a.id
            WHERE a.domain IS NOT NULL AND (domain_key(a.domain) COLLATE "C") = domain_key(${host})
              AND s.id >= ${ids.from} AND s.id < ${ids.to} AND s.reblog_of_id IS NULL AND s.deleted_at IS NULL`,
            limit,
            nameOfLanguage,
            "und"
          )
      }
    }
  )

  return Dimensions.of({
    of: traced("Dimensions.of")(function*(key, period, limit, subject) {
      if (!isKey(key)) return undefined
      const name = [key, period.first, period.last, limit, subject.tagId, subject.domain].join(" ")
      return yield* cached(name, Effect.orDie(count(key, period, limit, subject)))
    })
  })
})
