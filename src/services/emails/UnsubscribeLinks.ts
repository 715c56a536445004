import { Context, Effect, Layer, Redacted } from "effect"
import { AccountId } from "../database/Ids.ts"
import { linkTokens } from "../instance/LinkTokens.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { type EmailList, emailLists } from "./EmailLists.ts"

export const endEmailsPath = "/unsubscribe/emails"

/** User and list of an unsubscribe link. */
interface Unsubscription {
  readonly account: AccountId
  readonly list: EmailList
}

/**
 * Unsubscribe links in e-mails to users. Each contains the account's id, signed with the server's key for one list. Only
 * this server can make them, and none is stored.
 */
export class UnsubscribeLinks extends Context.Service<UnsubscribeLinks, {
  readonly make: (list: EmailList, account: AccountId) => string
  /** Returns what a link's token ends; undefined if the signature is wrong. */
  readonly read: (token: string) => Unsubscription | undefined
}>()("murmuration/services/emails/UnsubscribeLinks") {
  static readonly layer = Layer.effect(
    UnsubscribeLinks,
    Effect.gen(function*() {
      const { publicUrl } = yield* ServerConfig
      const { signingKey } = yield* Secrets
      const tokens = linkTokens<EmailList>(Redacted.value(signingKey), "links that end e-mails")
      return UnsubscribeLinks.of({
        make: (list, account) =>
          `${publicUrl}${endEmailsPath}?${new URLSearchParams([["token", tokens.make(list, account)]])}`,
        read: (token) =>
          emailLists.flatMap((list) => {
            const id = tokens.read(list, token)
            return id === undefined ? [] : [{ list, account: AccountId.make(id) }]
          })[0]
      })
    })
  )
}
