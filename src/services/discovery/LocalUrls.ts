import { Option, Schema } from "effect"
import { idMax } from "../Ids.ts"
import type { ServerConfig } from "../instance/ServerConfig.ts"

/** What one of our own addresses names. */
type LocalResource =
  | { readonly kind: "account"; readonly username: string }
  | { readonly kind: "status"; readonly username: string; readonly id: bigint }

const name = "[a-z0-9_]+"
const patterns = [
  new RegExp(`^/@(${name})(?:/([0-9]{1,19}))?/?$`, "i"),
  new RegExp(`^/users/(${name})(?:/statuses/([0-9]{1,19}))?/?$`, "i")
]
const readUrl = Schema.decodeUnknownOption(Schema.URLFromString)

/** Whether a text is an address in the web, ours or not. */
export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

/** The account or status that a page or an ActivityPub id of this server stands for; undefined for any other text. */
export const parse = (config: Pick<ServerConfig["Service"], "publicUrl">, text: string): LocalResource | undefined => {
  const url = Option.getOrUndefined(readUrl(text.trim()))
  if (url === undefined || url.origin !== config.publicUrl) return undefined
  for (const pattern of patterns) {
    const [, username, digits] = pattern.exec(url.pathname) ?? []
    if (username === undefined) continue
    if (digits === undefined) return { kind: "account", username }
    const id = BigInt(digits)
    return id > idMax ? undefined : { kind: "status", username, id }
  }
  return undefined
}

const collectionPattern = /^(?:\/ap\/users\/([0-9]{1,19}))?\/collections\/([0-9]{1,19})$/
/**
 * The collection of accounts of this server that a page or an ActivityPub id stands for, with its owner where that is said;
 * undefined for any other text.
 */
export const collectionAt = (
  { publicUrl }: Pick<ServerConfig["Service"], "publicUrl">,
  text: string
): { readonly accountId: bigint | undefined; readonly id: bigint } | undefined => {
  const path = text.startsWith(`${publicUrl}/`) ? text.slice(publicUrl.length) : ""
  const [, account, id] = collectionPattern.exec(path) ?? []
  if (id === undefined) return undefined
  const named = { accountId: account === undefined ? undefined : BigInt(account), id: BigInt(id) }
  return (named.accountId ?? 0n) > idMax || named.id > idMax ? undefined : named
}
