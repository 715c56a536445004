import { Effect, Layer, Redacted } from "effect"
import webPush from "web-push"
import { InvalidKeys, PushMessages } from "../../services/push/PushMessages.ts"
import { Secrets } from "../../services/secrets/Secrets.ts"

/** Time for which a push service keeps a message for a phone that is off, in seconds (operations.md section 11). */
const ttlSeconds = 172_800

/** Encrypts and signs messages by the npm library `web-push`, which sends nothing itself. */
export const layer = Layer.effect(
  PushMessages,
  Effect.map(Secrets, ({ vapid: { privateKey, publicKey } }) =>
    PushMessages.of({
      message: ({ auth, endpoint, p256dh, standard }, text, subject) =>
        Effect.try({
          try: () => {
            const { body, headers } = webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, text, {
              TTL: ttlSeconds,
              urgency: "normal",
              contentEncoding: standard ? "aes128gcm" : "aesgcm",
              vapidDetails: { subject: `mailto:${subject}`, publicKey, privateKey: Redacted.value(privateKey) }
            })
            const { "Content-Length": _length, ...others } = headers
            return {
              headers: Object.fromEntries(
                Object.entries(others).map(([name, value]) => [name.toLowerCase(), String(value)])
              ),
              body: new Uint8Array(body ?? [])
            }
          },
          catch: () => new InvalidKeys()
        })
    }))
)
