import { Clock, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Base64Url } from "effect/encoding"
import { SqlClient } from "effect/sql"
import { rowsOf } from "../services/database/Rows.ts"
import { traced } from "../services/runtime/Traced.ts"
import { Secrets } from "../services/secrets/Secrets.ts"
import { Environment } from "./Environment.ts"
import { OperatorError } from "./OperatorError.ts"
import { makePrivateKey, pairOf } from "./push/VapidKeys.ts"
import * as SecretFile from "./SecretFile.ts"

const secretRows = rowsOf(Schema.Struct({ value: Schema.String }))

export const signingKeyName = "signing_key"
const signingKeyBytes = 48
export const vapidKeyName = "vapid_key"

const makeKey = Effect.gen(function*() {
  const random = yield* SecureRandom.SecureRandom
  return Base64Url.encode(yield* random.randomBytes(signingKeyBytes))
})

/**
 * Returns the secret `name` of the database; `make` creates it if it is missing. Concurrent nodes agree: the first row
 * stays, and every node reads it back.
 */
export const keepInDatabase = traced("Secrets.keepInDatabase")(
  function*(name: string, make: Effect.Effect<string, never, SecureRandom.SecureRandom>) {
    const sql = yield* SqlClient.SqlClient
    const stored = secretRows(sql`SELECT value FROM secrets WHERE name = ${name}`)
    const [found] = yield* stored
    if (found !== undefined) return Redacted.make(found.value)
    const createdAt = new Date(yield* Clock.currentTimeMillis)
    const row = { name, value: yield* make, createdAt }
    yield* sql`INSERT INTO secrets ${sql.insert(row)} ON CONFLICT (name) DO NOTHING`
    const [storedRow = row] = yield* stored
    return Redacted.make(storedRow.value)
  },
  (effect, name) =>
    Effect.mapError(
      effect,
      (error) =>
        new OperatorError({ message: `The secret ${name} could not be stored in the database: ${error.message}` })
    )
)

/** Returns the signing key if there is one already; creates none. */
export const existingSigningKey = Effect.gen(function*() {
  const { dataDir, databaseUrl, secretKey } = yield* Environment
  if (secretKey !== undefined) return secretKey
  if (databaseUrl === undefined) return yield* SecretFile.find(dataDir, signingKeyName)
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* secretRows(sql`SELECT value FROM secrets WHERE name = ${signingKeyName}`)
  return row === undefined ? undefined : Redacted.make(row.value)
})

/**
 * Replaces the key for web push by the one under which apps subscribed at another server. Processes that already run use
 * it after a restart.
 */
export const replaceVapidKey = traced("Secrets.replaceVapidKey")(function*(privateKey: Redacted.Redacted<string>) {
  const { dataDir, databaseUrl } = yield* Environment
  const value = Redacted.value(privateKey)
  if (databaseUrl === undefined) return yield* SecretFile.replace(dataDir, vapidKeyName, value)
  const sql = yield* SqlClient.SqlClient
  const createdAt = new Date(yield* Clock.currentTimeMillis)
  yield* sql`INSERT INTO secrets ${sql.insert({ name: vapidKeyName, value, createdAt })}
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`
})

/**
 * `SECRET_KEY` or a generated key, and the key for web push. With `DATABASE_URL`, which several nodes may share, they
 * are stored in the database. Otherwise they are in `DATA_DIR`, so that a backup of the tables has neither.
 */
export const layer = Layer.effect(
  Secrets,
  Effect.gen(function*() {
    const { dataDir, databaseUrl, secretKey } = yield* Environment
    const keep = (name: string, make: Effect.Effect<string, never, SecureRandom.SecureRandom>) =>
      databaseUrl === undefined ? SecretFile.keep(dataDir, name, make) : keepInDatabase(name, make)
    return Secrets.of({
      signingKey: secretKey ?? (yield* keep(signingKeyName, makeKey)),
      vapid: pairOf(yield* keep(vapidKeyName, makePrivateKey))
    })
  })
)
