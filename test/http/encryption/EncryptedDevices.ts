import { assert } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { generateKeyPairSync, sign } from "node:crypto"
import * as Wire from "../../../src/http/wire/EncryptedMessage.ts"
import { call } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"

export const base = "/api/v1/crypto"
export const strict = { onExcessProperty: "error" } as const

/** Makes a device's keys and signatures. */
export const keysOf = () => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("base64")
  const identity = Buffer.alloc(32, 7).toString("base64")
  const oneTime = (n: number) => {
    const key = Buffer.alloc(32, n).toString("base64")
    return { key_id: `k${n}`, key, signature: sign(null, Buffer.from(key), privateKey).toString("base64") }
  }
  return { raw, identity, oneTime }
}

/** Creates a user with a device, whose token is for encrypted messages. */
export const withDevice = Effect.fnUntraced(function*(name: string, oneTimeKeys = 2) {
  const { createPerson, createToken } = yield* TestServer
  const person = yield* createPerson(name)
  const token = yield* createToken(person.accountId, ["crypto", "read"])
  const keys = keysOf()
  const device = { device_id: `${name}-phone`, name: "Phone", fingerprint_key: keys.raw, identity_key: keys.identity }
  const one_time_keys = Array.from({ length: oneTimeKeys }, (_, n) => keys.oneTime(n + 1))
  const { body, status } = yield* call("POST", `${base}/keys/upload`, token, { device, one_time_keys })
  assert.strictEqual(status, 200, JSON.stringify(body))
  assert.deepStrictEqual(yield* Schema.decodeUnknownEffect(Wire.Device)(body, strict), device)
  return {
    ...person,
    token,
    keys,
    device,
    named: { account_id: String(person.accountId), device_id: device.device_id }
  }
})
export const count = (token: string) =>
  Effect.map(call("GET", `${base}/keys/count`, token), ({ body }) => body.one_time_keys)
export const claim = (by: Person, ...device: ReadonlyArray<unknown>) =>
  call("POST", `${base}/keys/claim`, by.token, { device })
export const deliver = (by: Person, ...device: ReadonlyArray<unknown>) =>
  call("POST", `${base}/deliveries`, by.token, { device })
export const follow = Effect.fnUntraced(function*(by: Person, ...others: ReadonlyArray<Person>) {
  const sql = yield* SqlClient.SqlClient
  for (const other of others) {
    yield* sql`INSERT INTO follows (id, account_id, target_account_id, created_at)
      VALUES (next_id(1), ${by.accountId}, ${other.accountId}, now())`
  }
})
export const messages = (by: Person, query = "") =>
  Effect.flatMap(call("GET", `${base}/encrypted_messages${query}`, by.token), ({ body, headers }) =>
    Effect.map(
      Schema.decodeUnknownEffect(Schema.Array(Wire.EncryptedMessage))(body, strict),
      (found) => ({ found, link: headers.get("link") ?? "" })
    ))
