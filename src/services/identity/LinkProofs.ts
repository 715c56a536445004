import { Clock, Context, Effect, Layer, Result, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { rowsOf } from "../database/Rows.ts"
import * as RowChanges from "../events/RowChanges.ts"
import { onlyLink, relMe } from "../html/Links.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import * as Urls from "../instance/Urls.ts"
import { destination } from "../outbound/Destinations.ts"
import * as DocumentTypes from "../outbound/DocumentTypes.ts"
import { Outbound } from "../outbound/Outbound.ts"
import type { OutboundError } from "../outbound/OutboundError.ts"
import { traced } from "../runtime/Traced.ts"
import { StoredField } from "./Accounts.ts"

/** Maximum profile fields that are checked, and maximum bytes of a page. */
export const provenLinksMax = 8
const pageBytesMax = 1_048_576

const Profile = Schema.Struct({
  username: Schema.String,
  domain: Schema.NullOr(Schema.String),
  url: Schema.NullOr(Schema.String),
  fields: Schema.Array(StoredField)
})
type Profile = typeof Profile.Type
const profileRows = rowsOf(Profile)

/** Returns the URL that a field consists of; undefined for other fields. */
export const linkOf = (local: boolean, { html, value }: Pick<StoredField, "html" | "value">): string | undefined =>
  local ? (URL.canParse(value.trim()) ? value.trim() : undefined) : onlyLink(html)

/** Verifies profile links: the linked page must link back with `rel="me"`. */
export class LinkProofs extends Context.Service<LinkProofs, {
  /**
   * Fetches the pages of an account's unverified links and marks those that link to its profile by its full URL (row
   * 15). Fails if a page could not be fetched for a temporary reason. No transaction is open during the fetches.
   */
  readonly verify: (accountId: bigint) => Effect.Effect<void, OutboundError>
}>()("murmuration/services/identity/LinkProofs") {
  static readonly layer = Layer.effect(
    LinkProofs,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const tracked = yield* RowChanges.make
      const config = yield* ServerConfig
      const outbound = yield* Outbound

      const isProven = Effect.fnUntraced(function*(link: string, profile: string) {
        const asked = destination(config.outboundAllow, link)
        if (Result.isFailure(asked)) return false
        const { value } = yield* outbound.text({ url: link, type: DocumentTypes.html, bytesMax: pageBytesMax })
        return (yield* relMe(value)).some((href) => URL.parse(href)?.href === profile)
      })

      const mark = Effect.fnUntraced(function*(accountId: bigint, values: ReadonlyArray<string>) {
        const at = new Date(yield* Clock.currentTimeMillis).toISOString()
        yield* tracked("account", [accountId])(sql`UPDATE accounts SET fields = (
            SELECT jsonb_agg(CASE WHEN field ->> 'value' = ANY (${values}::text[]) AND field ->> 'verifiedAt' IS NULL
              THEN jsonb_set(field, '{verifiedAt}', to_jsonb(${at}::text)) ELSE field END ORDER BY place)
            FROM jsonb_array_elements(fields) WITH ORDINALITY f (field, place))
          WHERE id = ${accountId} AND jsonb_array_length(fields) > 0`)
      })

      const profileOf = (accountId: bigint): Effect.Effect<Profile | undefined, SqlError> =>
        Effect.map(
          profileRows(
            sql`SELECT username, domain, url, fields FROM accounts WHERE id = ${accountId} AND suspended_at IS NULL`
          ),
          ([row]) => row
        )

      const verify = traced("LinkProofs.verify")(function*(accountId: bigint) {
        const profile = yield* Effect.orDie(profileOf(accountId))
        const own = profile?.url ?? Urls.profile(config, profile?.username ?? "")
        const page = URL.parse(own)?.href
        if (profile === undefined || page === undefined) return
        const links = profile.fields.slice(0, provenLinksMax).flatMap((field) => {
          const link = field.verifiedAt === null ? linkOf(profile.domain === null, field) : undefined
          return link === undefined ? [] : [{ link, value: field.value }]
        })
        const checks = yield* Effect.forEach(links, ({ link }) => Effect.result(isProven(link, page)), {
          concurrency: 4
        })
        const proven = links.filter((_, at) => Result.getOrElse(checks[at] ?? Result.succeed(false), () => false))
        if (proven.length > 0) yield* Effect.orDie(mark(accountId, proven.map(({ value }) => value)))
        for (const check of checks) {
          if (Result.isFailure(check) && isTemporary(check.failure)) return yield* check.failure
        }
      })
      return LinkProofs.of({ verify })
    })
  )
}

/** Returns true for errors worth a retry. */
const isTemporary = (error: OutboundError) =>
  error._tag === "Unreachable" || (error._tag === "ErrorResponse" && (error.status >= 500 || error.status === 429))
