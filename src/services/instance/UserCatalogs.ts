import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { type Catalog, Catalogs, english } from "../languages/Catalogs.ts"
import { type LanguagePreferences, preferred } from "../languages/Negotiation.ts"
import { settings } from "./SettingTable.ts"
import { settingValues } from "./SettingValues.ts"

const valueRows = rowsOf(Schema.Struct({ name: Schema.String, value: Schema.Unknown, updatedAt: Timestamptz }))
const names = [settings.defaultLanguage.stored, settings.languages.stored]

/** Message catalogs for users. */
export class UserCatalogs extends Context.Service<UserCatalogs, {
  /**
   * Returns the catalog of the user's best language, or of the server's default, or of its first spoken language, or
   * English.
   */
  readonly of: (wishes: LanguagePreferences) => Effect.Effect<Catalog>
}>()("murmuration/services/instance/UserCatalogs") {
  static readonly layer = Layer.effect(
    UserCatalogs,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const catalogs = yield* Catalogs
      const known = (wishes: LanguagePreferences) => catalogs.get(preferred(catalogs.keys(), wishes) ?? "")
      const englishCatalog = catalogs.get("en") ?? english

      const serverDefault = valueRows(sql`
        SELECT name, value, updated_at FROM settings WHERE name = ANY (${names}::text[])`).pipe(
        Effect.map((rows) => {
          const { defaultLanguage, languages } = settingValues("about", rows)
          return known({ lang: defaultLanguage ?? undefined }) ?? known({ lang: languages[0] }) ?? englishCatalog
        }),
        // English if the database does not respond.
        Effect.catchCause(() => Effect.succeed(englishCatalog))
      )
      return UserCatalogs.of({
        of: (wishes) => {
          const words = known(wishes)
          return words === undefined ? serverDefault : Effect.succeed(words)
        }
      })
    })
  )
}
