import { Option, Schema } from "effect"
import { idMax, parseId } from "../database/Ids.ts"
import type { LocalName } from "../instance/LocalNames.ts"
import type { ServerConfig } from "../instance/ServerConfig.ts"

/** Resource at a URL of this server: an account, or a status of the account. */
type LocalResource =
  | { readonly kind: "account"; readonly name: LocalName }
  | { readonly kind: "status"; readonly name: LocalName; readonly id: bigint }

const name = "[a-z0-9_]+"
const patterns = [
  new RegExp(`^/@(${name})(?:/([0-9]{1,19}))?/?$`, "i"),
  new RegExp(`^/users/(${name})(?:/statuses/([0-9]{1,19}))?/?$`, "i"),
  /^\/ap\/users\/(?<number>[0-9]{1,19})(?:\/statuses\/([0-9]{1,19}))?\/?$/
]
const readUrl = Schema.decodeUnknownOption(Schema.URLFromString)

/** Returns true if the text is a web URL, local or not. */
export const isUrl = (text: string): boolean => /^https?:\/\//i.test(text)

/** Parses the page or ActivityPub id of a local account or status; undefined for any other text. */
export const parse = (config: Pick<ServerConfig["Service"], "publicUrl">, text: string): LocalResource | undefined => {
  const url = Option.getOrUndefined(readUrl(text.trim()))
  if (url === undefined || url.origin !== config.publicUrl) return undefined
  for (const pattern of patterns) {
    const match = pattern.exec(url.pathname)
    if (match === null) continue
    const [, text = "", digits] = match
    const name = match.groups?.["number"] === undefined ? text : parseId(text)
    if (name === undefined) return undefined
    if (digits === undefined) return { kind: "account", name }
    const id = parseId(digits)
    return id === undefined ? undefined : { kind: "status", name, id }
  }
  return undefined
}

const collectionPattern = /^(?:\/ap\/users\/([0-9]{1,19}))?\/collections\/([0-9]{1,19})$/
/**
 * Parses the page or ActivityPub id of a local collection, with its owner if the URL has it; undefined for any other
 * text.
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
