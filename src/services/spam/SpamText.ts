import { hash } from "node:crypto"
import { addressesInHtml } from "../cards/StatusLinks.ts"
import { plainText } from "../html/PlainText.ts"
import { statusBytesMax } from "../instance/ContentLimits.ts"
import { bounded, type BoundedText } from "../text/BoundedText.ts"
import { compatible } from "../text/Normalisation.ts"

/** Maximum bytes of a post that rules read: the whole of any post, so that filler cannot hide text. */
const readBytesMax = statusBytesMax
/** More combining marks on a letter than any language uses. */
const stackedMarks = /(\p{M}{4})\p{M}+/gu
/** Two ligatures that NFKC expands to whole phrases. */
const expandingLigatures = /[\uFDFA\uFDFB]/g
/** Minimum letters of a text that is compared with others; shorter texts coincide by chance. */
const sameLettersMin = 20

/** Invisible characters: joiners, direction marks, variation selectors. */
const invisible = /[\p{Cf}\p{Variation_Selector}]/gu
const word = /[\p{L}\p{M}\p{N}_]+/gu

/** Normalises a text for rules: without case, width variants and invisible characters. */
export const folded = (text: BoundedText): string =>
  compatible(bounded(text.replace(invisible, "").replace(stackedMarks, "$1").replace(expandingLigatures, " ")))
    .toLowerCase()

/** Returns the words of a folded text with spaces around each, so that a search finds whole words and phrases only. */
export const spaced = (text: string): string => ` ${(text.match(word) ?? []).join(" ")} `

/** Text of a post in the forms that rules use. */
export interface PostText {
  readonly text: string
  readonly words: string
  /** Hosts of external links, in lower case. */
  readonly hosts: ReadonlyArray<string>
  /** Hash of the normalised text; undefined if the text is too short to compare. */
  readonly hash: bigint | undefined
}

const hostOf = (address: string): ReadonlyArray<string> => {
  const url = URL.parse(address)
  // A dot at the end leads to the same host.
  const host = url?.hostname.split(".").filter((label) => label !== "").join(".") ?? ""
  return host === "" ? [] : [host]
}

/** Removes mentions, digits and punctuation, which vary between copies of a text. */
const essence = (text: string): string => text.replace(/@[^\s@]+(?:@[^\s@]+)?/gu, "").replace(/[^\p{L}]+/gu, "")

const hashOf = (text: string, hosts: ReadonlyArray<string>): bigint | undefined => {
  const letters = essence(text)
  if (letters.length < sameLettersMin) return undefined
  return BigInt.asIntN(64, BigInt(`0x${hash("sha256", `${letters}\n${hosts.join("\n")}`, "hex").slice(0, 16)}`))
}

/** Reads a post from its sanitised HTML and its other texts. */
export const readPost = (html: string, otherTexts: ReadonlyArray<string>): PostText => {
  const text = folded(bounded([...otherTexts, plainText(bounded(html))].join("\n"), readBytesMax))
  const hosts = addressesInHtml(html).flatMap(hostOf)
  return { text, words: spaced(text), hosts, hash: hashOf(text, hosts) }
}
