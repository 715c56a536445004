import { Effect, FileSystem, Path, Redacted, Schema } from "effect"
import type { Connection } from "../Database.ts"
import { passwordName } from "../EmbeddedPostgres.ts"
import { Environment } from "../Environment.ts"
import { OperatorError } from "../OperatorError.ts"
import * as SecretFile from "../SecretFile.ts"
import { signingKeyName, vapidKeyName } from "../ServerSecrets.ts"
import * as Session from "./Session.ts"

/** Name and value of each secret that the server generated; `SECRET_KEY` in place of the signing key if it is set. */
export const StoredSecrets = Schema.Array(Schema.Tuple([Schema.String, Schema.String]))
type StoredSecrets = typeof StoredSecrets.Type

const names = [signingKeyName, vapidKeyName]
const SecretRow = Schema.Tuple([Schema.String, Schema.String])

/** Returns the secrets of the server, from its data folder or from its own Postgres. */
export const read = Effect.fnUntraced(function*(connection: Connection) {
  const { dataDir, databaseUrl, secretKey } = yield* Environment
  const stored = databaseUrl === undefined
    ? yield* inFolder(dataDir)
    : yield* Effect.scoped(
      Effect.flatMap(
        Session.open(connection),
        (session) => session.rows(SecretRow, "SELECT name, value FROM secrets WHERE name = ANY ($1::text[])", [names])
      )
    )
  const own = stored.filter(([name]) => name !== signingKeyName || secretKey === undefined)
  return secretKey === undefined ? own : [...own, [signingKeyName, Redacted.value(secretKey)] as const]
})

/** Returns the secrets in a data folder. */
export const inFolder = Effect.fnUntraced(function*(dataDir: string) {
  const found = yield* Effect.forEach(
    names,
    (name) => Effect.map(SecretFile.find(dataDir, name), (value) => ({ name, value }))
  )
  return found.flatMap(({ name, value }): StoredSecrets => value === undefined ? [] : [[name, Redacted.value(value)]])
})

/** Fails if `SECRET_KEY` is set to another key than the restored one, with which nobody could use two-factor codes. */
export const refuseOtherKey = Effect.fnUntraced(function*(secrets: StoredSecrets) {
  const { secretKey } = yield* Environment
  const stored = secrets.find(([name]) => name === signingKeyName)?.[1]
  if (secretKey === undefined || stored === undefined || Redacted.value(secretKey) === stored) return
  return yield* new OperatorError({
    message: "SECRET_KEY is not the key of the backup: cookies and two-factor codes would stop working. Remove " +
      "SECRET_KEY, or set it to the old value."
  })
})

/** Writes secrets into the data folder, readable by its owner only, in place of others. */
export const writeFiles = Effect.fnUntraced(function*(dataDir: string, secrets: StoredSecrets) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  for (const [name, value] of secrets.filter(([name]) => [...names, passwordName].includes(name))) {
    const file = yield* SecretFile.location(dataDir, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true, mode: 0o700 })
    yield* fs.remove(`${file}.part`, { force: true })
    yield* fs.writeFileString(`${file}.part`, `${value}\n`, { flag: "wx", mode: 0o600 })
    yield* fs.rename(`${file}.part`, file)
  }
}, Effect.mapError(({ message }) => new OperatorError({ message: `The secrets could not be stored: ${message}` })))
