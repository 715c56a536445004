import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createPublicKey, verify } from "node:crypto"
import type { AccountId, TokenId } from "../database/Ids.ts"
import { idRows, rowsOf, singleRow } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { eitherBlocks } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import { isFollowedOrSelf } from "./MessageBounds.ts"

/** Maximum one-time keys of a device. */
const oneTimeKeysMax = 500
/** Last keys of a device, reserved for its own account and accounts that it follows. */
const reservedKeys = 20
export const devicesNamedMax = 100
/** Maximum characters of a device's id and name, and of a key's id. */
const nameCharactersMax = 255
/** Bytes of a key (Curve25519, Ed25519) and of a signature (Ed25519). */
const keyBytes = 32
const signatureBytes = 64

/** A device as other users see it. */
const Device = Schema.Struct({
  deviceId: Schema.String,
  name: Schema.String,
  identityKey: Schema.String,
  fingerprintKey: Schema.String
})
type Device = typeof Device.Type
const deviceRows = rowsOf(Device)
const ownedRows = rowsOf(Schema.Struct({ accountId: Schema.BigInt, ...Device.fields }))
const keptRows = rowsOf(Schema.Struct({ id: Schema.BigInt, ...Device.fields }))

/** A key to start a session, signed by the device's fingerprint key. */
interface OneTimeKey {
  readonly keyId: string
  readonly key: string
  readonly signature: string
}

/** A claimed key with its device. */
const ClaimedKey = Schema.Struct({
  accountId: Schema.BigInt,
  deviceId: Schema.String,
  keyId: Schema.String,
  key: Schema.String,
  signature: Schema.String
})
type ClaimedKey = typeof ClaimedKey.Type
const claimedRows = rowsOf(ClaimedKey)
const countRows = rowsOf(Schema.Struct({ count: Schema.Int }))

/** A device by its account and id. */
export interface NamedDevice {
  readonly accountId: bigint
  readonly deviceId: string
}

/**
 * Devices for end-to-end encrypted messages, each an access token with its keys (S-229). Only that token can change its
 * device. Revoking the token deletes the device.
 */
export class Devices extends Context.Service<Devices, {
  /** Stores a device and its keys. New identity keys invalidate its old one-time keys and pending messages. */
  readonly upload: (
    account: AccountId,
    token: TokenId,
    device: Device,
    keys: ReadonlyArray<OneTimeKey>
  ) => Effect.Effect<Device, Unprocessable>
  readonly of: (
    viewer: AccountId,
    accounts: ReadonlyArray<bigint>
  ) => Effect.Effect<ReadonlyArray<{ readonly accountId: bigint; readonly devices: ReadonlyArray<Device> }>>
  /** Claims one key of each device that has keys left. Each key is given out once. */
  readonly claim: (
    viewer: AccountId,
    devices: ReadonlyArray<NamedDevice>
  ) => Effect.Effect<ReadonlyArray<ClaimedKey>>
  /** Returns the number of one-time keys left on the token's device. */
  readonly count: (token: TokenId) => Effect.Effect<number, RecordNotFound>
}>()("murmuration/services/encryption/Devices") {
  static readonly layer = Layer.effect(Devices, Effect.suspend(() => make))
}

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient

  /** Condition for devices `d` with a live token, whose accounts are not suspended and not blocked either way. */
  const reachable = (viewer: AccountId) =>
    sql`EXISTS (SELECT FROM oauth_tokens t WHERE t.id = d.token_id AND t.revoked_at IS NULL)
      AND NOT ${isSuspended(sql, sql`d.account_id`)}
      AND NOT ${eitherBlocks(sql, sql`d.account_id`, sql`${viewer}::bigint`)}`

  const upload = traced("Devices.upload")(
    function*(account: AccountId, token: TokenId, device: Device, keys: ReadonlyArray<OneTimeKey>) {
      yield* checked(device, keys)
      const millis = yield* Clock.currentTimeMillis
      const at = new Date(millis)
      const taken = sql`SELECT 1 FROM devices WHERE account_id = ${account} AND device_id = ${device.deviceId}
        AND token_id <> ${token}`
      yield* Effect.gen(function*() {
        // The lock keeps two tokens of an account from taking the same device id.
        yield* sql`SELECT 1 FROM users WHERE account_id = ${account} FOR NO KEY UPDATE`
        if ((yield* taken).length > 0) return yield* validationFailed("Device has already been taken")
        const [before] = yield* keptRows(sql`SELECT id, device_id, name, identity_key, fingerprint_key FROM devices
          WHERE token_id = ${token} FOR UPDATE`)
        const renewed = before !== undefined &&
          (before.identityKey !== device.identityKey || before.fingerprintKey !== device.fingerprintKey)
        if (renewed) {
          yield* sql`DELETE FROM one_time_keys WHERE device = ${before.id}`
          yield* sql`DELETE FROM encrypted_messages WHERE device = ${before.id}`
        }
        const { id } = singleRow(
          yield* idRows(sql`INSERT INTO devices
            (id, token_id, account_id, device_id, name, fingerprint_key, identity_key, created_at, updated_at)
          VALUES (next_id(${millis}), ${token}, ${account}, ${device.deviceId}, ${device.name}, ${device.fingerprintKey},
            ${device.identityKey}, ${at}, ${at})
          ON CONFLICT (token_id) DO UPDATE SET device_id = EXCLUDED.device_id, name = EXCLUDED.name,
            fingerprint_key = EXCLUDED.fingerprint_key, identity_key = EXCLUDED.identity_key, updated_at = EXCLUDED.updated_at
          RETURNING id`)
        )
        if (keys.length === 0) return
        yield* sql`INSERT INTO one_time_keys (id, device, key_id, key, signature)
          SELECT next_id(${millis}), ${id}::bigint, k.key_id, k.key, k.signature
          FROM unnest(${keys.map(({ keyId }) => keyId)}::text[], ${keys.map(({ key }) => key)}::text[],
            ${keys.map(({ signature }) => signature)}::text[]) k (key_id, key, signature)
          ON CONFLICT (device, key_id) DO NOTHING`
        const [left] = yield* countRows(sql`SELECT count(*)::int AS count FROM one_time_keys WHERE device = ${id}`)
        if ((left?.count ?? 0) > oneTimeKeysMax) return yield* tooManyKeys
      }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
      return device
    }
  )

  return Devices.of({
    upload,
    of: traced("Devices.of")(function*(viewer, accounts) {
      const rows = yield* ownedRows(sql`SELECT d.account_id, d.device_id, d.name, d.identity_key, d.fingerprint_key
        FROM devices d WHERE d.account_id = ANY (${accounts}::bigint[]) AND ${reachable(viewer)} ORDER BY d.id
        LIMIT ${sql.literal(String(devicesNamedMax * devicesNamedMax))}`)
      return accounts.map((accountId) => ({
        accountId,
        devices: rows.filter((row) => row.accountId === accountId)
      }))
    }, Effect.orDie),
    claim: traced("Devices.claim")(function*(viewer, devices) {
      if (devices.length === 0) return []
      // Serialises claims, in order of ids: a claim by a stranger must count the keys that others left.
      yield* sql`SELECT FROM devices d JOIN unnest(${devices.map(({ accountId }) => accountId)}::bigint[], ${
        devices.map(({ deviceId }) => deviceId)
      }::text[]) n (account_id, device_id) ON d.account_id = n.account_id AND d.device_id = n.device_id
        ORDER BY d.id FOR UPDATE OF d`
      return yield* claimedRows(sql`
        WITH named AS (SELECT DISTINCT d.id, d.account_id, d.device_id, ${isFollowedOrSelf(sql, viewer)} AS known
          FROM unnest(${devices.map(({ accountId }) => accountId)}::bigint[], ${
        devices.map(({ deviceId }) => deviceId)
      }::text[]) n (account_id, device_id)
          JOIN devices d ON d.account_id = n.account_id AND d.device_id = n.device_id WHERE ${reachable(viewer)}),
        taken AS MATERIALIZED (SELECT k.id, n.account_id, n.device_id FROM named n CROSS JOIN LATERAL (
          SELECT id FROM one_time_keys WHERE device = n.id AND (n.known
            OR EXISTS (SELECT FROM one_time_keys o WHERE o.device = n.id OFFSET ${
        sql.literal(String(reservedKeys))
      } LIMIT 1))
          ORDER BY id LIMIT 1) k)
        DELETE FROM one_time_keys k USING taken t WHERE k.id = t.id
        RETURNING t.account_id, t.device_id, k.key_id, k.key, k.signature`)
    }, (claiming) => Effect.orDie(transaction(sql)(claiming))),
    count: traced("Devices.count")(function*(token) {
      const [device] = yield* Effect.orDie(deviceRows(sql`SELECT device_id, name, identity_key, fingerprint_key
        FROM devices WHERE token_id = ${token}`))
      if (device === undefined) return yield* new RecordNotFound()
      const [left] = yield* Effect.orDie(countRows(sql`SELECT count(*)::int AS count FROM one_time_keys k
        JOIN devices d ON d.id = k.device WHERE d.token_id = ${token}`))
      return left?.count ?? 0
    })
  })
})

const tooManyKeys = validationFailed(`Keys are too many (maximum is ${oneTimeKeysMax})`)
const bytesOf = (base64: string) => /^[A-Za-z0-9+/]+={0,2}$/.test(base64) ? Buffer.from(base64, "base64") : undefined
const isKey = (text: string) => text.length <= nameCharactersMax && bytesOf(text)?.byteLength === keyBytes

const checked = Effect.fnUntraced(function*(device: Device, keys: ReadonlyArray<OneTimeKey>) {
  // Cheap check first: verifying a signature takes 0.1 ms.
  if (keys.length > oneTimeKeysMax) return yield* tooManyKeys
  const problems: Array<string> = []
  const named = [["Device", device.deviceId], ["Name", device.name]] as const
  for (const [name, text] of named) {
    if (text.trim() === "") problems.push(`${name} can't be blank`)
    if (text.length > nameCharactersMax) {
      problems.push(`${name} is too long (maximum is ${nameCharactersMax} characters)`)
    }
  }
  if (!isKey(device.fingerprintKey)) problems.push("Fingerprint key is invalid")
  if (!isKey(device.identityKey)) problems.push("Identity key is invalid")
  if (problems.length === 0 && !keys.every((key) => isSigned(device, key))) problems.push("Keys is invalid")
  if (problems.length > 0) return yield* validationFailed(...problems)
})

/** Returns true if a one-time key is valid and signed by the device. */
const isSigned = ({ fingerprintKey }: Device, { key, keyId, signature }: OneTimeKey): boolean => {
  const signed = bytesOf(signature)
  if (keyId === "" || keyId.length > nameCharactersMax || !isKey(key) || signed?.byteLength !== signatureBytes) {
    return false
  }
  const x = Buffer.from(fingerprintKey, "base64").toString("base64url")
  const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" })
  return verify(null, Buffer.from(key), publicKey, signed)
}
