import { Schema } from "effect"
import { Count, Id, Timestamp } from "./Common.ts"
import { Cursor, IdInBody } from "./PageQuery.ts"
import { hash, Integer, list, Text } from "./Params.ts"

export const Device = Schema.Struct({
  device_id: Schema.String,
  name: Schema.String,
  identity_key: Schema.String,
  fingerprint_key: Schema.String
}).annotate({ identifier: "KeysDevice" })
export type Device = typeof Device.Type

export const DevicesOfAccount = Schema.Struct({ account_id: Id, devices: Schema.Array(Device) })
export type DevicesOfAccount = typeof DevicesOfAccount.Type

export const ClaimedKey = Schema.Struct({
  account_id: Id,
  device_id: Schema.String,
  key_id: Schema.String,
  key: Schema.String,
  signature: Schema.String
})
export type ClaimedKey = typeof ClaimedKey.Type

export const KeyCount = Schema.Struct({ one_time_keys: Count })
export type KeyCount = typeof KeyCount.Type

/** `account_id` and `device_id` are the sender's. */
export const EncryptedMessage = Schema.Struct({
  id: Id,
  account_id: Id,
  device_id: Schema.String,
  type: Schema.Int,
  body: Schema.String,
  digest: Schema.String,
  message_franking: Schema.String,
  created_at: Timestamp
}).annotate({ identifier: "EncryptedMessage" })
export type EncryptedMessage = typeof EncryptedMessage.Type

const text = Schema.optionalKey(Schema.NullOr(Text))

/** `POST /api/v1/crypto/keys/upload` */
export const KeysUpload = Schema.Struct({
  device: Schema.optionalKey(
    hash(
      Schema.Struct({ deviceId: text, name: text, fingerprintKey: text, identityKey: text }).pipe(
        Schema.encodeKeys({
          deviceId: "device_id",
          fingerprintKey: "fingerprint_key",
          identityKey: "identity_key"
        })
      )
    )
  ),
  oneTimeKeys: Schema.optionalKey(
    list(Schema.Struct({ keyId: text, key: text, signature: text }).pipe(Schema.encodeKeys({ keyId: "key_id" })))
  )
}).pipe(Schema.encodeKeys({ oneTimeKeys: "one_time_keys" }))

const named = { accountId: Schema.optionalKey(IdInBody), deviceId: text }
const namedKeys = { accountId: "account_id", deviceId: "device_id" } as const

/** `POST /api/v1/crypto/keys/claim` */
export const KeysClaim = Schema.Struct({
  device: Schema.optionalKey(list(Schema.Struct(named).pipe(Schema.encodeKeys(namedKeys))))
})

/** `POST /api/v1/crypto/deliveries` */
export const Deliveries = Schema.Struct({
  device: Schema.optionalKey(
    list(
      Schema.Struct({ ...named, type: Schema.optionalKey(Integer), body: text, hmac: text }).pipe(
        Schema.encodeKeys(namedKeys)
      )
    )
  )
})

/** `POST /api/v1/crypto/encrypted_messages/clear`, in the body or in the query. */
export const Clearing = Schema.Struct({ upToId: Schema.optionalKey(IdInBody) }).pipe(
  Schema.encodeKeys({ upToId: "up_to_id" })
)
export const ClearingQuery = Schema.Struct({ upToId: Schema.optionalKey(Cursor) }).pipe(
  Schema.encodeKeys({ upToId: "up_to_id" })
)
