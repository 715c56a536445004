import { Array as Arr, Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac, hkdfSync } from "node:crypto"
import { type AccountId, TokenId } from "../database/Ids.ts"
import { clauses, newestFirst, type Page } from "../database/Paging.ts"
import { rowsOf, Timestamptz } from "../database/Rows.ts"
import { transaction } from "../database/Transactions.ts"
import { Broadcast } from "../events/Broadcast.ts"
import { RecordNotFound, type Unprocessable, validationFailed } from "../runtime/Errors.ts"
import { traced } from "../runtime/Traced.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { eitherBlocks } from "../visibility/HiddenAccounts.ts"
import { isSuspended } from "../visibility/SuspendedAccounts.ts"
import type { NamedDevice } from "./Devices.ts"
import { requireMessageCapacity } from "./MessageBounds.ts"

/** Maximum bytes of a message, and maximum characters of its digest. */
const bodyBytesMax = 65_536
const digestCharactersMax = 255
/** Bytes of messages after which a page ends. */
const pageBytesMax = 1_048_576
/** Maximum message type. Olm uses 0 to start a session, and 1 within one. */
const typeMax = 2_147_483_647

/** A message to a device, from its sender. */
interface NewMessage extends NamedDevice {
  readonly type: number
  readonly body: string
  /** Digest of the plaintext by the sender. */
  readonly hmac: string
}

export const EncryptedMessage = Schema.Struct({
  id: Schema.BigInt,
  fromAccountId: Schema.BigInt,
  fromDeviceId: Schema.String,
  type: Schema.Int,
  body: Schema.String,
  digest: Schema.String,
  messageFranking: Schema.String,
  createdAt: Timestamptz
})
export type EncryptedMessage = typeof EncryptedMessage.Type
const messageRows = rowsOf(EncryptedMessage)
const deviceRows = rowsOf(Schema.Struct({ id: Schema.BigInt, deviceId: Schema.String }))
const foundRows = rowsOf(
  Schema.Struct({ id: Schema.BigInt, accountId: Schema.BigInt, deviceId: Schema.String, tokenId: TokenId })
)
const sentRows = rowsOf(Schema.Struct({ id: Schema.BigInt, device: Schema.BigInt }))

/**
 * End-to-end encrypted messages between two devices. The server stores them until the receiver has fetched them (S-094,
 * S-229).
 */
export class EncryptedMessages extends Context.Service<EncryptedMessages, {
  /**
   * Delivers to existing, reachable devices; others are skipped silently. Fails as a whole if any device has no room
   * left.
   */
  readonly deliver: (
    account: AccountId,
    token: TokenId,
    messages: ReadonlyArray<NewMessage>
  ) => Effect.Effect<void, RecordNotFound | Unprocessable>
  /** Returns messages of the token's device. A page of large messages ends before its limit. */
  readonly page: (token: TokenId, page: Page) => Effect.Effect<ReadonlyArray<EncryptedMessage>, RecordNotFound>
  readonly find: (id: bigint) => Effect.Effect<EncryptedMessage | undefined>
  /** Deletes the messages up to an id. */
  readonly clear: (token: TokenId, upTo: bigint) => Effect.Effect<void, RecordNotFound>
}>()("murmuration/services/encryption/EncryptedMessages") {
  static readonly layer = Layer.effect(EncryptedMessages, Effect.suspend(() => make))
}

const columns = "m.id, m.from_account_id, m.from_device_id, m.type, m.body, m.digest, m.message_franking, m.created_at"

const make = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const broadcast = yield* Broadcast
  const { signingKey } = yield* Secrets
  const key = new Uint8Array(hkdfSync("sha256", Redacted.value(signingKey), "", "franking of encrypted messages", 32))

  /** Signs who sent which digest to whom and when, so that a receiver can prove it to moderators later. */
  const signFrank = (facts: Readonly<Record<string, string>>) => {
    const payload = Buffer.from(JSON.stringify(facts)).toString("base64url")
    return `${payload}.${createHmac("sha256", key).update(payload).digest("base64url")}`
  }
  const own = Effect.fnUntraced(function*(token: TokenId) {
    const [device] = yield* Effect.orDie(deviceRows(sql`SELECT id, device_id FROM devices WHERE token_id = ${token}`))
    return device ?? (yield* new RecordNotFound())
  })

  const deliver = traced("EncryptedMessages.deliver")(
    function*(account: AccountId, token: TokenId, messages: ReadonlyArray<NewMessage>) {
      const from = yield* own(token)
      for (const { body, hmac, type } of messages) {
        if (body === "" || Buffer.byteLength(body) > bodyBytesMax) return yield* validationFailed("Body is invalid")
        if (hmac.length > digestCharactersMax) return yield* validationFailed("Hmac is invalid")
        if (type < 0 || type > typeMax) return yield* validationFailed("Type is invalid")
      }
      const millis = yield* Clock.currentTimeMillis
      const at = new Date(millis)
      const delivered = yield* Effect.gen(function*() {
        const found = yield* foundRows(sql`SELECT d.id, d.account_id, d.device_id, d.token_id FROM devices d
          JOIN unnest(${messages.map(({ accountId }) => accountId)}::bigint[], ${
          messages.map(({ deviceId }) => deviceId)
        }::text[]) n (account_id, device_id) ON d.account_id = n.account_id AND d.device_id = n.device_id
          WHERE EXISTS (SELECT FROM oauth_tokens t WHERE t.id = d.token_id AND t.revoked_at IS NULL)
            AND NOT ${isSuspended(sql, sql`d.account_id`)}
            AND NOT ${eitherBlocks(sql, sql`d.account_id`, sql`${account}::bigint`)}
          ORDER BY d.id FOR UPDATE OF d`)
        const rows = messages.flatMap((message) => {
          const to = found.find((one) => one.accountId === message.accountId && one.deviceId === message.deviceId)
          return to === undefined ? [] : [{ message, to }]
        })
        if (rows.length === 0) return []
        const byDevice = Arr.groupBy(rows, ({ to }) => String(to.id))
        yield* requireMessageCapacity(
          sql,
          account,
          Object.values(byDevice).map((all) => ({
            device: all[0].to.id,
            messages: all.length
          }))
        )
        const sent = yield* sentRows(sql`INSERT INTO encrypted_messages
            (id, device, from_account_id, from_device_id, type, body, digest, message_franking, created_at)
          SELECT next_id(${millis}), o.device, ${account}, ${from.deviceId}, o.type, o.body, o.digest, o.franking, ${at}
          FROM unnest(${rows.map(({ to }) => to.id)}::bigint[], ${rows.map(({ message }) => message.type)}::int[],
            ${rows.map(({ message }) => message.body)}::text[], ${rows.map(({ message }) => message.hmac)}::text[],
            ${
          rows.map(({ message, to }) =>
            signFrank({
              digest: message.hmac,
              fromAccount: String(account),
              fromDevice: from.deviceId,
              toAccount: String(to.accountId),
              toDevice: to.deviceId,
              at: at.toISOString()
            })
          )
        }::text[]) WITH ORDINALITY o (device, type, body, digest, franking, n) ORDER BY o.n RETURNING id, device`)
        return sent.flatMap(({ device, id }) => {
          const to = found.find((one) => one.id === device)
          return to === undefined ? [] : [{ id, to }]
        })
      }).pipe(transaction(sql), Effect.catchTag("SqlError", Effect.die))
      for (const { id, to } of delivered) {
        yield* broadcast.publish({
          _tag: "MessageEncrypted",
          accountId: to.accountId,
          tokenId: to.tokenId,
          messageId: id
        })
      }
    }
  )

  return EncryptedMessages.of({
    deliver,
    page: traced("EncryptedMessages.page")(function*(token, page) {
      const { id } = yield* own(token)
      const { tail, where } = clauses(sql, "m.id", page)
      const order = sql.literal(`ORDER BY m.id ${page.minId === undefined ? "DESC" : "ASC"}`)
      const rows = yield* Effect.orDie(messageRows(sql`
        SELECT ${
        sql.literal(columns)
      } FROM (SELECT m.id, sum(octet_length(m.body)) OVER (${order}) - octet_length(m.body) AS before
          FROM encrypted_messages m WHERE m.device = ${id} AND ${where} ${tail}) sized
        JOIN encrypted_messages m ON m.id = sized.id WHERE sized.before < ${pageBytesMax} ${order}`))
      return newestFirst(page, rows)
    }),
    find: traced("EncryptedMessages.find")(function*(id) {
      const [row] = yield* messageRows(sql`SELECT ${sql.literal(columns)} FROM encrypted_messages m WHERE m.id = ${id}`)
      return row
    }, Effect.orDie),
    clear: traced("EncryptedMessages.clear")(function*(token, upTo) {
      const { id } = yield* own(token)
      yield* Effect.orDie(sql`DELETE FROM encrypted_messages WHERE device = ${id} AND id <= ${upTo}`)
    })
  })
})
