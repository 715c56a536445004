import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Catalog, Catalogs, english } from "../languages/Catalogs.ts"
import { preferred, type Wishes } from "../languages/Negotiation.ts"
import { rowsOf } from "../Rows.ts"
import { settings } from "./InstanceSettings.ts"

const valueRows = rowsOf(Schema.Struct({ value: Schema.Unknown }))

/** In which words the server talks to people. */
export class UserCatalogs extends Context.Service<UserCatalogs, {
  /** Those of the language that somebody reads best, else of the first one that is spoken here, else English. */
  readonly of: (wishes: Wishes) => Effect.Effect<Catalog>
}>()("murmuration/services/instance/UserCatalogs") {
  static readonly layer = Layer.effect(
    UserCatalogs,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const catalogs = yield* Catalogs
      const known = (wishes: Wishes) => catalogs.get(preferred(catalogs.keys(), wishes) ?? "")
      const ours = catalogs.get("en") ?? english

      const spokenHere = valueRows(sql`SELECT value FROM settings WHERE name = ${settings.languages}`).pipe(
        Effect.map(([row]) => known({ lang: Option.getOrElse(asTags(row?.value), () => [])[0] }) ?? ours),
        // Without the database's answer it is English.
        Effect.catchCause(() => Effect.succeed(ours))
      )
      return UserCatalogs.of({
        of: (wishes) => {
          const words = known(wishes)
          return words === undefined ? spokenHere : Effect.succeed(words)
        }
      })
    })
  )
}

const asTags = Schema.decodeUnknownOption(Schema.Array(Schema.String))
