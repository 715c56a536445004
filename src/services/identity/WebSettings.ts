import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { traced } from "../runtime/Traced.ts"

const byDefault = <A>(value: A) => Effect.succeed(value)

/** Colour schemes of pages; "auto" is the browser's. */
export const ColorScheme = Schema.Literals(["auto", "light", "dark"])

/** Settings of a user's web client, as stored in `users.web_settings`; missing ones have their defaults. */
export const WebSettings = Schema.Struct({
  /** False if Home leaves out replies to others. */
  homeReplies: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(byDefault(true))),
  /** False if Home leaves out boosts. */
  homeReblogs: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(byDefault(true))),
  /** False if the composer does not ask about files without a description. */
  asksForDescriptions: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(byDefault(true))),
  scheme: ColorScheme.pipe(Schema.withDecodingDefaultKey(byDefault("auto" as const)))
})
export type WebSettings = typeof WebSettings.Type

/** Changes settings of the web client. `Sessions.find` reads them with the session. */
export class WebSettingsWriter extends Context.Service<WebSettingsWriter, {
  /** Sets the given settings; others stay unchanged. */
  readonly change: (account: AccountId, change: Partial<WebSettings>) => Effect.Effect<void>
}>()("murmuration/services/identity/WebSettings") {
  static readonly layer = Layer.effect(
    WebSettingsWriter,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      return WebSettingsWriter.of({
        change: traced("WebSettingsWriter.change")(function*(account, change) {
          yield* tracked("user", [account])(sql`
            UPDATE users SET web_settings = web_settings || ${JSON.stringify(change)}::jsonb
            WHERE account_id = ${account}`)
        }, Effect.orDie)
      })
    })
  )
}
