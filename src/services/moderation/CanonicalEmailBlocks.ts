import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hash } from "node:crypto"
import { domainToUnicode } from "node:url"
import { requireCapacity } from "../database/BoundedTables.ts"
import type { AccountId } from "../database/Ids.ts"
import type { Page } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { domainOf, type EmailAddress } from "../identity/EmailAddresses.ts"
import { type RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { AuditLog } from "../staff/AuditLog.ts"
import { auditedRows } from "../staff/StaffRows.ts"

/** Maximum blocked addresses. */
export const emailBlocksMax = 100_000

const CanonicalEmailBlock = Schema.Struct({ id: Schema.BigInt, canonicalEmailHash: Schema.String })
export type CanonicalEmailBlock = typeof CanonicalEmailBlock.Type
const blockRows = rowsOf(CanonicalEmailBlock)

/**
 * Returns the hash that all spellings of an address share, as SHA-256 in hex: lower case, with dots and any `+` suffix
 * removed from the local part.
 */
export const canonicalEmailHash = (email: EmailAddress): string => hashOf(email, domainOf(email))

const hashOf = (email: EmailAddress, domain: string): string => {
  const [local = ""] = email.toLowerCase().split("@", 1)
  return hash("sha256", `${local.replaceAll(".", "").split("+", 1)[0] ?? ""}@${domain}`)
}

/** Returns the hash over the domain in Unicode, as in rows from other servers and in older rows. */
const unicodeHash = (email: EmailAddress): string => hashOf(email, domainToUnicode(domainOf(email)))

/** E-mail addresses that are blocked from sign-up in every spelling. Only hashes are stored (S-172). */
export class CanonicalEmailBlocks extends Context.Service<CanonicalEmailBlocks, {
  readonly page: (page: Page) => Effect.Effect<ReadonlyArray<CanonicalEmailBlock>>
  /** Number of blocks, as counted by `boundedCount`. */
  readonly total: Effect.Effect<number>
  readonly find: (id: bigint) => Effect.Effect<CanonicalEmailBlock, RecordNotFound>
  readonly matching: (email: EmailAddress) => Effect.Effect<ReadonlyArray<CanonicalEmailBlock>>
  readonly create: (by: AccountId | undefined, digest: string) => Effect.Effect<CanonicalEmailBlock, Unprocessable>
  readonly remove: (by: AccountId | undefined, id: bigint) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/moderation/CanonicalEmailBlocks") {
  static readonly layer = Layer.effect(
    CanonicalEmailBlocks,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* AuditLog
      const target = ({ canonicalEmailHash, id }: CanonicalEmailBlock) =>
        ({ type: "canonicalEmailBlock", id, label: canonicalEmailHash }) as const
      const table = auditedRows({ sql, audit, table: "canonical_email_blocks", rows: blockRows, target })

      return CanonicalEmailBlocks.of({
        page: traced("CanonicalEmailBlocks.page")(table.page),
        total: table.total,
        find: traced("CanonicalEmailBlocks.find")(table.find),
        matching: traced("CanonicalEmailBlocks.matching")((email) =>
          Effect.orDie(table.rows(sql`SELECT id, canonical_email_hash FROM canonical_email_blocks
            WHERE canonical_email_hash IN (${canonicalEmailHash(email)}, ${unicodeHash(email)})`))
        ),
        create: traced("CanonicalEmailBlocks.create")(function*(by, digest) {
          if (digest === "") return yield* validationFailed("Canonical email hash can't be blank")
          if (!/^[0-9a-f]{64}$/.test(digest)) return yield* validationFailed("Canonical email hash is invalid")
          const now = yield* Clock.currentTimeMillis
          return yield* transaction(sql)(Effect.gen(function*() {
            yield* requireCapacity(sql, { table: "canonical_email_blocks", name: "E-mail blocks", max: emailBlocksMax })
            const [inserted] = yield* table.rows(
              sql`INSERT INTO canonical_email_blocks (id, canonical_email_hash, created_at)
              VALUES (next_id(${now}), ${digest}, ${new Date(now)}) ON CONFLICT DO NOTHING RETURNING *`
            )
            if (inserted === undefined) return yield* validationFailed("Canonical email hash has already been taken")
            return yield* table.created(by, inserted)
          })).pipe(Effect.catchTag("SqlError", Effect.die))
        }),
        remove: traced("CanonicalEmailBlocks.remove")((by, id) =>
          transaction(sql)(table.destroy(by, id)).pipe(Effect.catchTag("SqlError", Effect.die))
        )
      })
    })
  ).pipe(Layer.provide(AuditLog.layer))
}
