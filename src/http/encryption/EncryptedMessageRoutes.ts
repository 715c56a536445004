import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Devices, devicesNamedMax } from "../../services/encryption/Devices.ts"
import { EncryptedMessages } from "../../services/encryption/EncryptedMessages.ts"
import { ServerConfig } from "../../services/instance/ServerConfig.ts"
import { missingParameter, Unauthorized } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { encryptedMessageValues } from "../render/EncryptedMessageValues.ts"
import * as Lists from "../render/ListResponses.ts"
import { id } from "../wire/Common.ts"
import * as Wire from "../wire/EncryptedMessage.ts"
import { json } from "../wire/Keys.ts"
import { pageOf, PageQuery } from "../wire/PageQuery.ts"
import { Ids } from "../wire/ReadRequests.ts"

const base = "/api/v1/crypto"
const messagesPath = `${base}/encrypted_messages`
const messagesPageRows = 80
const nothing = Schema.Struct({})
const access = Access.user("crypto")

export class EncryptedMessagesGroup extends HttpApiGroup.make("encryptedMessages")
  .add(
    HttpApiEndpoint.post("upload", `${base}/keys/upload`, { payload: Wire.KeysUpload, success: Wire.Device })
      .annotate(Access, access),
    HttpApiEndpoint.post("query", `${base}/keys/query`, {
      payload: Ids,
      success: Schema.Array(Wire.DevicesOfAccount)
    }).annotate(Access, access),
    HttpApiEndpoint.post("claim", `${base}/keys/claim`, {
      payload: Wire.KeysClaim,
      success: Schema.Array(Wire.ClaimedKey)
    }).annotate(Access, access),
    HttpApiEndpoint.get("count", `${base}/keys/count`, { success: Wire.KeyCount }).annotate(Access, access),
    HttpApiEndpoint.post("deliver", `${base}/deliveries`, { payload: Wire.Deliveries, success: nothing })
      .annotate(Access, access),
    HttpApiEndpoint.get("list", messagesPath, { query: PageQuery, success: Schema.Array(Wire.EncryptedMessage) })
      .annotate(Access, access),
    HttpApiEndpoint.post("clear", `${messagesPath}/clear`, {
      query: Wire.ClearingQuery,
      payload: Wire.Clearing,
      success: nothing
    }).annotate(Access, access)
  )
  .middleware(Guard)
{}

/** The caller's account and token; the token identifies the device. */
const device = Effect.gen(function*() {
  const { tokenId, viewer } = yield* Caller
  return viewer === undefined || tokenId === undefined
    ? yield* new Unauthorized({ reason: "invalid" })
    : { account: viewer, token: tokenId }
})

/** Device keys and messages for end-to-end encryption (S-094, S-229). */
export const layer = group(
  EncryptedMessagesGroup,
  Effect.fn(function*(handlers) {
    const devices = yield* Devices
    const messages = yield* EncryptedMessages
    const { publicUrl } = yield* ServerConfig

    return handlers.handleAll({
      upload: traced("encryptedMessages.upload")(function*({ payload }) {
        const { account, token } = yield* device
        if (payload.device === undefined) return yield* missingParameter("device")
        const { deviceId, fingerprintKey, identityKey, name } = payload.device
        const uploaded = yield* devices.upload(
          account,
          token,
          {
            deviceId: deviceId ?? "",
            name: name ?? "",
            fingerprintKey: fingerprintKey ?? "",
            identityKey: identityKey ?? ""
          },
          (payload.oneTimeKeys ?? []).map(({ key, keyId, signature }) => ({
            key: key ?? "",
            keyId: keyId ?? "",
            signature: signature ?? ""
          }))
        )
        return Reply.json(json<Wire.Device>(uploaded))
      }),
      query: traced("encryptedMessages.query")(function*({ payload }) {
        const found = yield* devices.of(yield* Caller.account, Lists.idsOf(payload.id).slice(0, devicesNamedMax))
        return Reply.list(found.map((one) =>
          json<Wire.DevicesOfAccount>({
            accountId: id(one.accountId),
            devices: one.devices.map(({ deviceId, fingerprintKey, identityKey, name }) => ({
              deviceId,
              name,
              identityKey,
              fingerprintKey
            }))
          })
        ))
      }),
      claim: traced("encryptedMessages.claim")(function*({ payload }) {
        const claimed = yield* devices.claim(yield* Caller.account, namedIn(payload.device ?? []))
        return Reply.list(claimed.map((one) => json<Wire.ClaimedKey>({ ...one, accountId: id(one.accountId) })))
      }),
      count: traced("encryptedMessages.count")(function*() {
        const { token } = yield* device
        return Reply.json(json<Wire.KeyCount>({ oneTimeKeys: yield* devices.count(token) }))
      }),
      deliver: traced("encryptedMessages.deliver")(function*({ payload }) {
        const { account, token } = yield* device
        const given = namedIn(payload.device ?? []).map(({ accountId, body, deviceId, hmac, type }) => ({
          accountId,
          deviceId,
          type: type ?? 0,
          body: body ?? "",
          hmac: hmac ?? ""
        }))
        yield* messages.deliver(account, token, given)
        return Reply.empty
      }),
      list: traced("encryptedMessages.list")(function*({ query }) {
        const { token } = yield* device
        const page = pageOf(query, messagesPageRows)
        const rows = yield* messages.page(token, page)
        return Lists.page({
          baseUrl: publicUrl,
          path: messagesPath,
          page,
          rows,
          cursor: (row) => row.id,
          always: true,
          items: rows.map((row) => json<Wire.EncryptedMessage>(encryptedMessageValues(row)))
        })
      }),
      clear: traced("encryptedMessages.clear")(function*({ payload, query }) {
        const { token } = yield* device
        const upTo = payload.upToId ?? query.upToId
        if (upTo === undefined) return yield* missingParameter("up_to_id")
        yield* messages.clear(token, upTo)
        return Reply.empty
      })
    })
  })
)

/** Returns devices that are named in full, out of the first `devicesNamedMax` entries. */
const namedIn = <Given extends { readonly accountId?: bigint | undefined; readonly deviceId?: string | null }>(
  given: ReadonlyArray<Given>
) =>
  given.slice(0, devicesNamedMax).flatMap(({ accountId, deviceId, ...rest }) =>
    accountId === undefined || !deviceId ? [] : [{ ...rest, accountId, deviceId }]
  )
