import { Context, Effect, Layer, Redacted } from "effect"
import { linkTokens } from "../instance/LinkTokens.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { Secrets } from "../secrets/Secrets.ts"

type Purpose = "confirm" | "unsubscribe"

export const confirmationPath = "/email_subscriptions/confirmation"
export const unsubscribePath = "/unsubscribe"

/**
 * Links in e-mails to subscribers. Each contains a subscription's id, signed with the server's key. Only this server
 * can make them, and none is stored.
 */
export class SubscriptionLinks extends Context.Service<SubscriptionLinks, {
  readonly confirmation: (id: bigint) => string
  readonly unsubscription: (id: bigint) => string
  /** Returns the subscription in a link's token; undefined if the signature or the purpose is wrong. */
  readonly read: (purpose: Purpose, token: string) => bigint | undefined
}>()("murmuration/services/subscriptions/SubscriptionLinks") {
  static readonly layer = Layer.effect(
    SubscriptionLinks,
    Effect.gen(function*() {
      const { publicUrl } = yield* ServerConfig
      const { signingKey } = yield* Secrets
      const tokens = linkTokens<Purpose>(Redacted.value(signingKey), "links to subscribers")
      return SubscriptionLinks.of({
        confirmation: (id) =>
          `${publicUrl}${confirmationPath}?${new URLSearchParams([[
            "confirmation_token",
            tokens.make("confirm", id)
          ]])}`,
        unsubscription: (id) =>
          `${publicUrl}${unsubscribePath}?${new URLSearchParams([["token", tokens.make("unsubscribe", id)]])}`,
        read: tokens.read
      })
    })
  )
}
