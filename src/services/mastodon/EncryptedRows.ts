import { Effect, Schema } from "effect"
import { rowsOf, singleRow } from "../database/Rows.ts"
import { otpSecret } from "./RailsEncryption.ts"
import { Source } from "./Source.ts"

const sealedRows = rowsOf(Schema.Struct({ sealed: Schema.String }))
const countRows = rowsOf(Schema.Struct({ count: Schema.BigInt }))

/** Maximum rows of a table that are decrypted to try the encryption keys. */
const triedRowsMax = 100

const variables = "ACTIVE_RECORD_ENCRYPTION_PRIMARY_KEY and ACTIVE_RECORD_ENCRYPTION_KEY_DERIVATION_SALT"
const remedy = "Copy both from the environment of the running Mastodon server."

const keysFrom =
  "keypairs t JOIN accounts a ON a.id = t.account_id AND a.domain IS NULL WHERE t.type = 0 AND t.private_key IS NOT NULL"
const secretsFrom = "users t WHERE t.otp_required_for_login AND coalesce(t.otp_secret, '') <> ''"

/**
 * Returns the obstacles that sealed rows of the source are under other encryption keys: the newest are tried, and a single
 * damaged row is none. `hasKeyPairs` if the source has the table of sealed account keys.
 */
export const obstacles = Effect.fnUntraced(
  function*(decrypt: (message: string) => string | undefined, hasKeyPairs: boolean) {
    const source = yield* Source
    const unreadable = Effect.fnUntraced(
      function*(from: string, column: string, isReadable: (sealed: string) => boolean) {
        const tried = yield* sealedRows(
          source.unsafe(`SELECT t.${column} AS sealed FROM ${from} ORDER BY t.id DESC LIMIT ${triedRowsMax}`)
        )
        if (tried.length === 0 || tried.some(({ sealed }) => isReadable(sealed))) return 0n
        return singleRow(yield* countRows(source.unsafe(`SELECT count(*) AS count FROM ${from}`))).count
      }
    )
    const keys = hasKeyPairs
      ? yield* unreadable(
        keysFrom,
        "private_key",
        (sealed) => sealed.startsWith("-----") || decrypt(sealed) !== undefined
      )
      : 0n
    const secrets = yield* unreadable(secretsFrom, "otp_secret", (sealed) => otpSecret(sealed, decrypt) !== undefined)
    return [
      ...(keys === 0n ? [] : [`${variables} do not decrypt the keys of ${keys} local accounts. ${remedy}`]),
      ...(secrets === 0n ? [] : [
        `${variables} are missing or do not decrypt the secrets of two-factor sign-in: members who use it could not sign in (${secrets}). ${remedy}`
      ])
    ]
  }
)
