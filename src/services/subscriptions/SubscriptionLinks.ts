import { Context, Effect, Layer, Redacted } from "effect"
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto"
import { idMax } from "../Ids.ts"
import { Secrets } from "../instance/Secrets.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"

type Purpose = "confirm" | "unsubscribe"

export const confirmationPath = "/email_subscriptions/confirmation"
export const unsubscribePath = "/unsubscribe"

/**
 * Links in e-mails to subscribers. Each names its subscription and is signed with the server's key: nobody can make one, and
 * none is kept.
 */
export class SubscriptionLinks extends Context.Service<SubscriptionLinks, {
  readonly confirmation: (id: bigint) => string
  readonly unsubscription: (id: bigint) => string
  /** The subscription of a link's token; undefined for what is no token of ours for that. */
  readonly read: (purpose: Purpose, token: string) => bigint | undefined
}>()("murmuration/services/subscriptions/SubscriptionLinks") {
  static readonly layer = Layer.effect(
    SubscriptionLinks,
    Effect.gen(function*() {
      const { publicUrl } = yield* ServerConfig
      const { signingKey } = yield* Secrets
      const key = new Uint8Array(hkdfSync("sha256", Redacted.value(signingKey), "", "links to subscribers", 32))
      const signature = (purpose: Purpose, id: bigint) =>
        createHmac("sha256", key).update(`${purpose}:${id}`).digest("base64url")
      const token = (purpose: Purpose, id: bigint) => `${id}.${signature(purpose, id)}`
      return SubscriptionLinks.of({
        confirmation: (id) =>
          `${publicUrl}${confirmationPath}?${new URLSearchParams([["confirmation_token", token("confirm", id)]])}`,
        unsubscription: (id) =>
          `${publicUrl}${unsubscribePath}?${new URLSearchParams([["token", token("unsubscribe", id)]])}`,
        read: (purpose, given) => {
          const [, digits = "", signed = ""] = /^(\d{1,19})\.([\w-]{43})$/.exec(given) ?? []
          const id = BigInt(digits)
          if (digits === "" || id > idMax) return undefined
          return timingSafeEqual(Buffer.from(signed), Buffer.from(signature(purpose, id))) ? id : undefined
        }
      })
    })
  )
}
