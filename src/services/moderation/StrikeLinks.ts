import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { AccountId } from "../Ids.ts"
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
  /** The way to all strikes of somebody who is known and kept out; it leads there for an hour at least, and for two at most. */
  readonly listPath: (accountId: AccountId) => Effect.Effect<string>
  /** Whose strikes the token of such a way opens. */
  readonly reader: (token: string | null) => Effect.Effect<AccountId | undefined>
}>()("murmuration/services/moderation/StrikeLinks") {
  static readonly layer = Layer.effect(
    StrikeLinks,
    Effect.gen(function*() {
      const { publicUrl } = yield* ServerConfig
      const { signingKey } = yield* Secrets
      const tokens = linkTokens<"strike">(Redacted.value(signingKey), "links to strikes")
      const lists = linkTokens<`hour ${number}`>(Redacted.value(signingKey), "links to all strikes of an account")
      const hour = Effect.map(Clock.currentTimeMillis, (now) => Math.floor(now / 3_600_000))
      return StrikeLinks.of({
        listPath: (accountId) =>
          Effect.map(
            hour,
            (now) => `${strikesPath}?${new URLSearchParams([["token", lists.make(`hour ${now}`, accountId)]])}`
          ),
        reader: (token) =>
          Effect.map(hour, (now) => {
            const read = (at: number) => token === null ? undefined : lists.read(`hour ${at}`, token)
            const found = read(now) ?? read(now - 1)
            return found === undefined ? undefined : AccountId.make(found)
          }),
        address: (id) =>
          `${publicUrl}${strikesPath}/${id}?${new URLSearchParams([["token", tokens.make("strike", id)]])}`,
        opens: (token, id) => token !== null && tokens.read("strike", token) === id
      })
    })
  )
}
