import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Changes } from "../caching/Changes.ts"
import { single } from "../caching/Single.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { ServerConfig } from "./ServerConfig.ts"
import { settings } from "./SettingTable.ts"
import { settingValues } from "./SettingValues.ts"

/** Lifetime of the cached title, in milliseconds: a node that hears of no changes shows an old one for so long. */
const titleMillisMax = 30_000
/** Maximum time that a page waits for the title. */
const loadMax = "1 second"

const settingRows = rowsOf(Schema.Struct({ name: Schema.String, value: Schema.Unknown, updatedAt: Timestamptz }))

/** Title of the server as staff set it, for the frame of pages. Cached until any node changes it. */
export class ServerTitle extends Context.Service<ServerTitle, {
  /** Never fails: while the database does not respond, it is the last known title, or the domain. */
  readonly current: Effect.Effect<string>
}>()("murmuration/services/instance/ServerTitle") {
  static readonly layer = Layer.effect(
    ServerTitle,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const { localDomain } = yield* ServerConfig
      let known = localDomain

      const load = settingRows(
        sql`SELECT name, value, updated_at FROM settings WHERE name = ${settings.title.stored}`
      ).pipe(
        Effect.map((rows) => settingValues("about", rows).title),
        Effect.timeout(loadMax),
        Effect.withSpan("ServerTitle.load")
      )
      const cached = yield* single({ kinds: ["instance"], millisMax: titleMillisMax }, load)
      const current = cached.pipe(
        Effect.tap((title) => Effect.sync(() => known = title)),
        Effect.catch(() => Effect.sync(() => known))
      )
      return ServerTitle.of({ current })
    })
  ).pipe(Layer.provide(Changes.layer))
}
