/** Maximum characters of a card's texts; the rest is cut. */
export const titleCharactersMax = 300
export const descriptionCharactersMax = 1_000
export const nameCharactersMax = 200
export const imageDescriptionCharactersMax = 1_500
/** Maximum bytes of a URL in a card, or of one that is fetched for it (limits-and-rates.md section 1). */
const cardUrlBytesMax = 2_692

/** Returns a web URL, resolved against `base`; undefined for any other text. */
export const webUrl = (text: string | undefined, base: string): URL | undefined => {
  if (text === undefined || text.trim() === "" || text.length > cardUrlBytesMax) return undefined
  const url = URL.parse(text.trim(), base)
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:") || url.username !== "") return undefined
  return Buffer.byteLength(url.href) <= cardUrlBytesMax ? url : undefined
}
