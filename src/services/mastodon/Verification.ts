import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowsMax } from "../database/Paging.ts"
import { rowsOf } from "../database/Rows.ts"
import { KeyOperations } from "../federation/signatures/KeyOperations.ts"

const keyRows = rowsOf(Schema.Struct({
  id: Schema.BigInt,
  username: Schema.String,
  publicPem: Schema.NullOr(Schema.String),
  privatePem: Schema.NullOr(Schema.String)
}))

/** Local accounts that are checked in one statement. */
const accountsMax = 500
const sample = new TextEncoder().encode("verification of a copied key")

/**
 * Signs and verifies once with the key by which each local account signs, its newest one as in `SigningKeys`. Returns
 * the number of accounts, and the names of those without a working key.
 */
export const checkedKeys = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const keys = yield* KeyOperations
  const broken: Array<string> = []
  let checked = 0
  let cursor = 0n
  for (;;) {
    const rows = yield* keyRows(sql`SELECT a.id, a.username, k.public_pem, k.private_pem FROM accounts a
      LEFT JOIN LATERAL (SELECT public_pem, private_pem FROM signing_keys WHERE owner_id = a.id
        ORDER BY created_at DESC, fragment LIMIT 1) k ON true
      WHERE a.domain IS NULL AND a.id > ${cursor} ORDER BY a.id LIMIT ${rowsMax(sql, accountsMax)}`)
    const last = rows.at(-1)?.id
    if (last === undefined) return { checked, broken }
    for (const { privatePem, publicPem, username } of rows) {
      const works = privatePem !== null && publicPem !== null && (yield* keys.sign(privatePem, sample).pipe(
        Effect.flatMap((signature) => keys.verify(publicPem, "rsa-sha256", sample, signature)),
        Effect.orElseSucceed(() => false)
      ))
      if (!works) broken.push(username)
    }
    checked += rows.length
    cursor = last
  }
})
