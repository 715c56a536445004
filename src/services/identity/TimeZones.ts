/** Maximum characters of a time zone's name; the longest known one has 32. */
const nameCharactersMax = 64

const name = /^[a-z][a-z0-9_+/-]*$/i

/** Returns the name if it is a known IANA time zone; otherwise undefined. */
export const isKnown = (text: string): string | undefined => {
  if (text.length > nameCharactersMax || !name.test(text)) return undefined
  try {
    return Intl.DateTimeFormat("en", { timeZone: text }) && text
  } catch {
    return undefined
  }
}
