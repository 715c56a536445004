import { Clock, Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AccountId } from "../database/Ids.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Emails } from "../emails/Emails.ts"
import * as EmailTexts from "../emails/EmailTexts.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { UserCatalogs } from "../instance/UserCatalogs.ts"
import { traced } from "../runtime/Traced.ts"
import { storedAddress } from "./Sessions.ts"
import { Users } from "./Users.ts"

/** Time after which an unused place is forgotten, in milliseconds; and maximum places of a user. */
const placeMillisMax = 365 * 24 * 3_600_000
const placesMax = 50

/** Families of browsers and systems; the first match counts, as browsers name each other. */
const browsers = [
  ["Edge", /\bEdg(?:e|A|iOS)?\//],
  ["Opera", /\bOPR\/|\bOpera\b/],
  ["Samsung Internet", /\bSamsungBrowser\//],
  ["Firefox", /\bFirefox\/|\bFxiOS\//],
  ["Chrome", /\bChrom(?:e|ium)\/|\bCriOS\//],
  ["Safari", /\bSafari\//],
  ["w3m", /^w3m\//],
  ["Lynx", /^Lynx\//]
] as const
const systems = [
  ["Android", /\bAndroid\b/],
  ["iOS", /\b(?:iPhone|iPad|iPod)\b/],
  ["Windows", /\bWindows\b/],
  ["macOS", /\bMac OS X\b/],
  ["ChromeOS", /\bCrOS\b/],
  ["Linux", /\bLinux\b/]
] as const

/** Names the browser of a user agent without its version: `Firefox, Linux`. */
export const browserOf = (userAgent: string): string => {
  const find = (names: ReadonlyArray<readonly [string, RegExp]>) => names.find(([, form]) => form.test(userAgent))?.[0]
  const parts = [find(browsers), find(systems)].filter((part) => part !== undefined)
  return parts.length === 0 ? /^[\w .-]{1,30}/.exec(userAgent)?.[0].trim() || "?" : parts.join(", ")
}

/** Length of the network that counts as one place, in bits, as in Mastodon: of IPv4 and IPv6. */
const [networkBits4, networkBits6] = [16, 64]

const knownRows = rowsOf(Schema.Struct({ all: Schema.Int, missing: Schema.Int }))

/** A browser that signs in. */
interface SigningIn {
  readonly userAgent: string
  readonly address: string | undefined
}

/** Networks and browsers that users sign in from. A sign-in from a new one is reported by e-mail, except the first. */
export class SignInPlaces extends Context.Service<SignInPlaces, {
  readonly record: (accountId: AccountId, browser: SigningIn) => Effect.Effect<void>
}>()("murmuration/services/identity/SignInPlaces") {
  static readonly layer = Layer.effect(
    SignInPlaces,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const catalogs = yield* UserCatalogs
      const emails = yield* Emails
      const users = yield* Users
      const { localDomain: server, publicUrl } = yield* ServerConfig

      const letter = Effect.fnUntraced(function*(accountId: AccountId, browser: string, address: string) {
        const user = Option.getOrUndefined(yield* users.find(accountId))
        if (user === undefined) return undefined
        return EmailTexts.newSignIn({ to: user.email, server, username: user.username, browser, address, publicUrl })(
          yield* catalogs.of(user)
        )
      })

      const record = traced("SignInPlaces.record")(function*(accountId: AccountId, signingIn: SigningIn) {
        // IPv4 in IPv6 form is of its IPv4 network.
        const address = storedAddress(signingIn.address?.replace(/^::ffff:(?=[0-9.]+$)/i, ""))
        const now = yield* Clock.currentTimeMillis
        const browser = browserOf(signingIn.userAgent)
        const isNew = yield* Effect.gen(function*() {
          const places = sql`(SELECT ${`browser ${browser}`}::text UNION
            SELECT 'network ' || network(set_masklen(${address ?? null}::inet,
              CASE family(${address ?? null}::inet) WHEN 4 THEN ${networkBits4}::int ELSE ${networkBits6}::int END))
            WHERE ${address ?? null}::text IS NOT NULL)`
          const [found] = yield* knownRows(sql`WITH now_used (place) AS ${places}
            SELECT (SELECT count(*)::int FROM sign_in_places WHERE account_id = ${accountId}) AS all,
              (SELECT count(*)::int FROM now_used) - (SELECT count(*)::int FROM sign_in_places p JOIN now_used USING (place)
                WHERE p.account_id = ${accountId}) AS missing`)
          yield* sql`INSERT INTO sign_in_places (account_id, place, seen_at)
            SELECT ${accountId}, place, ${new Date(now)} FROM ${places} used (place)
            ON CONFLICT (account_id, place) DO UPDATE SET seen_at = excluded.seen_at`
          yield* sql`DELETE FROM sign_in_places WHERE account_id = ${accountId} AND (seen_at < ${new Date(
            now - placeMillisMax
          )} OR place IN (SELECT place FROM sign_in_places WHERE account_id = ${accountId}
            ORDER BY seen_at DESC, place OFFSET ${placesMax}))`
          return found !== undefined && found.all > 0 && found.missing > 0
        }).pipe(transaction(sql))
        if (isNew) yield* emails.enqueue(letter(accountId, browser, address ?? "?"))
      }, Effect.orDie)

      return SignInPlaces.of({ record })
    })
  ).pipe(Layer.provide([UserCatalogs.layer, Users.layer]))
}
