import { Context, Effect, Layer, Redacted } from "effect"
import { linkTokens } from "../instance/LinkTokens.ts"
import { Secrets } from "../instance/Secrets.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"

/** Where people read what moderators did about them. */
export const strikesPath = "/disputes/strikes"

/** Links by which people read strikes and appeal, also those who cannot sign in any more. */
export class StrikeLinks extends Context.Service<StrikeLinks, {
  readonly address: (strikeId: bigint) => string
  /** Whether the token is that of the strike. */
  readonly opens: (token: string | null, strikeId: bigint) => boolean
}>()("murmuration/services/moderation/StrikeLinks") {
  static readonly layer = Layer.effect(
    StrikeLinks,
    Effect.gen(function*() {
      const { publicUrl } = yield* ServerConfig
      const { signingKey } = yield* Secrets
      const tokens = linkTokens<"strike">(Redacted.value(signingKey), "links to strikes")
      return StrikeLinks.of({
        address: (id) =>
          `${publicUrl}${strikesPath}/${id}?${new URLSearchParams([["token", tokens.make("strike", id)]])}`,
        opens: (token, id) => token !== null && tokens.read("strike", token) === id
      })
    })
  )
}
