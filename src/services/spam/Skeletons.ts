import { bounded } from "../text/BoundedText.ts"
import { compatibleDecomposed } from "../text/Normalisation.ts"

/**
 * Characters that pass for Latin ones, by what they pass for: the few that names are forged with, of Unicode's confusables. What
 * NFKD makes a letter of by itself (styled letters, accents) is not among them.
 */
const lookAlikes: Readonly<Record<string, string>> = {
  a: "аɑαạ",
  b: "ьƅ8",
  c: "сϲᴄ",
  d: "ԁɗ",
  e: "еєҽ℮",
  g: "ɡց",
  h: "һհ",
  i: "іıɩι|!1lјj",
  k: "кκ",
  m: "мⅿ",
  n: "пոռ",
  o: "оοօ0ѳɵø",
  p: "рρ",
  q: "ԛգ",
  r: "гᴦ",
  s: "ѕꜱ5$",
  t: "тτ",
  u: "υսцʋ",
  v: "νѵ",
  w: "ѡԝшω",
  x: "хχ×",
  y: "уүγ",
  z: "ᴢ2"
}

const plain = new Map(
  Object.entries(lookAlikes).flatMap(([letter, others]) => Array.from(others, (other) => [other, letter.slice(0, 1)]))
)

/** Characters of a name that are looked at, and that a name has at least to be taken for another one. */
const nameCharactersMax = 100
export const skeletonCharactersMin = 4

/** What a name looks like: names of one skeleton are taken for one another. */
export const skeleton = (name: string): string => {
  const base = compatibleDecomposed(bounded(name.slice(0, nameCharactersMax))).replace(/[\p{M}\p{Cf}]/gu, "")
    .toLowerCase()
  return Array.from(base, (character) => plain.get(character) ?? character).join("").replace(/[^\p{L}\p{N}]/gu, "")
    .replaceAll("rn", "m").replaceAll("vv", "w")
}
