import { Clock, Context, Effect, Layer, Redacted } from "effect"
import { AccountId } from "../database/Ids.ts"
import { linkTokens } from "../instance/LinkTokens.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { Secrets } from "../secrets/Secrets.ts"

/** Path of the page with a user's strikes. */
export const strikesPath = "/disputes/strikes"

/** Signed links to strikes and appeals, also for users who can no longer sign in. */
export class StrikeLinks extends Context.Service<StrikeLinks, {
  readonly address: (strikeId: bigint) => string
  /** Returns true if the token is that of the strike. */
  readonly isValid: (token: string | null, strikeId: bigint) => boolean
  /**
   * Returns the path to all strikes of a disabled user who has entered their password. It is valid for one to two
   * hours.
   */
  readonly listPath: (accountId: AccountId) => Effect.Effect<string>
  /** Returns the account whose strikes a token of `listPath` opens. */
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
        isValid: (token, id) => token !== null && tokens.read("strike", token) === id
      })
    })
  )
}
