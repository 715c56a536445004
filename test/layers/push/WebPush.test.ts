import { assert, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { createECDH } from "node:crypto"
import { pairOf } from "../../../src/layers/push/VapidKeys.ts"
import { layer } from "../../../src/layers/push/WebPush.ts"
import { PushMessages } from "../../../src/services/push/PushMessages.ts"
import { Secrets } from "../../../src/services/secrets/Secrets.ts"

const pairAs = (wanted: (privateKey: Buffer) => boolean) => {
  const pair = createECDH("prime256v1")
  do pair.generateKeys()
  while (!wanted(pair.getPrivateKey()))
  return pair
}

it.effect("S-090, row 58: a server also signs with a key that starts with zeros, stored with or without them", () =>
  Effect.gen(function*() {
    const device = createECDH("prime256v1").generateKeys("base64url")
    const receiver = { endpoint: "https://push.test/1", p256dh: device, auth: "AAAAAAAAAAAAAAAAAAAAAA", standard: true }
    const short = pairAs((key) => key.length < 32)
    const bytes = short.getPrivateKey()
    for (const key of [bytes, Buffer.concat([new Uint8Array(32 - bytes.length), bytes])]) {
      const vapid = pairOf(Redacted.make(key.toString("base64url")))
      const secrets = Layer.succeed(Secrets, Secrets.of({ signingKey: Redacted.make("unused"), vapid }))
      const { headers } = yield* PushMessages.use((messages) => messages.message(receiver, "{}", "a@b.test")).pipe(
        Effect.provide(Layer.provide(layer, secrets))
      )
      assert.include(headers["authorization"], `k=${short.getPublicKey("base64url")}`)
    }
  }))
