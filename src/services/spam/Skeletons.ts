import { bounded } from "../text/BoundedText.ts"
import { compatibleDecomposed } from "../text/Normalisation.ts"

/**
 * Look-alikes of Latin letters: the characters of Unicode's confusables that are used to forge names. Characters that
 * NFKD maps to a letter (styled letters, accents) are left out.
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

/** Maximum characters of a name that are compared, and minimum characters of names that can be confused. */
const nameCharactersMax = 100
export const skeletonCharactersMin = 4

/** Returns the visual skeleton of a name; names with the same skeleton look alike. */
export const skeleton = (name: string): string => {
  const base = compatibleDecomposed(bounded(name.slice(0, nameCharactersMax))).replace(/[\p{M}\p{Cf}]/gu, "")
    .toLowerCase()
  return Array.from(base, (character) => plain.get(character) ?? character).join("").replace(/[^\p{L}\p{N}]/gu, "")
    .replaceAll("rn", "m").replaceAll("vv", "w")
}
