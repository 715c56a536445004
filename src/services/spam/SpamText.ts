import { hash } from "node:crypto"
import { addressesInHtml } from "../cards/StatusLinks.ts"
import { plainText } from "../html/PlainText.ts"
import { statusBytesMax } from "../instance/ContentLimits.ts"
import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { compatible } from "../text/Normalisation.ts"

/** Bytes of a post that rules look at: all that one may have, so that nothing is hidden behind what fills it. */
const readBytesMax = statusBytesMax
/** More marks on one letter than any language has. */
const heaped = /(\p{M}{4})\p{M}+/gu
/** The two letters that are written out as whole sentences. */
const unfolding = /[\uFDFA\uFDFB]/g
/** Letters and digits that a text has at least to be known again; shorter ones many say by themselves. */
const sameLettersMin = 20

/** What nobody sees: joiners, marks of direction, variants of characters. */
const unseen = /[\p{Cf}\p{Variation_Selector}]/gu
const word = /[\p{L}\p{M}\p{N}_]+/gu

/** A text as rules compare it: capital and small letters, wide and narrow ones are the same, and nothing is hidden between them. */
export const folded = (text: BoundedText): string =>
  compatible(bounded(text.replace(unseen, "").replace(heaped, "$1").replace(unfolding, " "))).toLowerCase()

/** The words of a folded text, one blank before and after each, so that whole words and phrases are found by looking for them. */
export const spaced = (text: string): string => ` ${(text.match(word) ?? []).join(" ")} `

/** What a post says, as rules ask for it. */
export interface PostText {
  readonly text: string
  readonly words: string
  /** Of each link that leads out, in small letters. */
  readonly hosts: ReadonlyArray<string>
  /** Of what the text comes to; undefined where that is too short to be known again. */
  readonly hash: bigint | undefined
}

const hostOf = (address: string): ReadonlyArray<string> => {
  const url = URL.parse(address)
  // A dot at the end leads to the same host.
  const host = url?.hostname.replace(/\.+$/, "") ?? ""
  return host === "" ? [] : [host]
}

/** Names that a text calls, numbers and signs differ from one copy to the next. */
const essence = (text: string): string => text.replace(/@[^\s@]+(?:@[^\s@]+)?/gu, "").replace(/[^\p{L}]+/gu, "")

const hashOf = (text: string, hosts: ReadonlyArray<string>): bigint | undefined => {
  const said = essence(text)
  if (said.length < sameLettersMin) return undefined
  return BigInt.asIntN(64, BigInt(`0x${hash("sha256", `${said}\n${hosts.join("\n")}`, "hex").slice(0, 16)}`))
}

/** Reads a post from its HTML, which is sanitised, and its texts beside that. */
export const readPost = (html: string, beside: ReadonlyArray<string>): PostText => {
  const text = folded(bounded([...beside, plainText(bounded(html))].join("\n"), readBytesMax))
  const hosts = addressesInHtml(html).flatMap(hostOf)
  return { text, words: spaced(text), hosts, hash: hashOf(text, hosts) }
}
