import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { RecordNotFound } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { OpaqueSecrets } from "../secrets/OpaqueSecrets.ts"
import { Roles } from "../staff/Roles.ts"

/** Lifetime of a link, in milliseconds. */
const ownerLinkMillisMax = 3_600_000
/** Maximum links at a time: one per start of a node within the lifetime. Beyond it the oldest end. */
const ownerLinksMax = 100

/** Path of the page that a link opens, and its parameter. */
export const ownerSetupPath = "/auth/owner"
export const ownerSecretField = "setup_token"

/**
 * Links that let the operator create the owner's account in a browser. Each node prints one at its start; the first that
 * is used ends all others. None works while there is an owner, even a disabled one.
 */
export class OwnerLinks extends Context.Service<OwnerLinks, {
  /** Makes a link's secret; undefined while there is an owner. */
  readonly issue: Effect.Effect<Redacted.Redacted | undefined>
  /** Returns true if the link can be used now. */
  readonly opens: (secret: string) => Effect.Effect<boolean>
  /** Uses the link up, in the transaction that creates the owner. Uses of any links run one after the other. */
  readonly use: (secret: string) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/identity/OwnerLinks") {
  static readonly layer = Layer.effect(
    OwnerLinks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const roles = yield* Roles
      const secrets = yield* OpaqueSecrets

      const hasOwner = Effect.gen(function*() {
        const owner = yield* roles.find("owner")
        // Without the role nobody could become owner.
        if (Option.isNone(owner)) return true
        const rows = yield* sql`SELECT FROM users WHERE role_id = ${owner.value.id} LIMIT 1`
        return rows.length > 0
      })

      const issue = Effect.gen(function*() {
        if (yield* hasOwner) return undefined
        const now = yield* Clock.currentTimeMillis
        const secret = yield* secrets.make
        yield* sql`DELETE FROM owner_links WHERE expires_at <= ${new Date(now)}`
        yield* sql`INSERT INTO owner_links (secret_hash, expires_at)
          VALUES (${yield* secrets.hash(secret)}, ${new Date(now + ownerLinkMillisMax)})`
        yield* sql`DELETE FROM owner_links WHERE secret_hash IN (
          SELECT secret_hash FROM owner_links ORDER BY expires_at DESC, secret_hash OFFSET ${ownerLinksMax})`
        return secret
      }).pipe(Effect.orDie, Effect.withSpan("OwnerLinks.issue"))

      const opens = traced("OwnerLinks.opens")(function*(secret: string) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const rows = yield* sql`SELECT FROM owner_links
          WHERE secret_hash = ${yield* secrets.hash(secret)} AND expires_at > ${now}`
        return rows.length > 0 && !(yield* hasOwner)
      }, Effect.orDie)

      const use = traced("OwnerLinks.use")(function*(secret: string) {
        // The owner may have been created while this use waited for the lock.
        yield* sql`LOCK TABLE owner_links IN SHARE ROW EXCLUSIVE MODE`
        if (!(yield* opens(secret))) return yield* new RecordNotFound()
        yield* sql`DELETE FROM owner_links`
      }, Effect.catchTag("SqlError", Effect.die))

      return OwnerLinks.of({ issue, opens, use })
    })
  ).pipe(Layer.provide(Roles.layer))
}
