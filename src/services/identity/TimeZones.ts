/** Characters of a time zone's name; the longest that there is has 32. */
const nameCharactersMax = 64

const name = /^[a-z][a-z0-9_+/-]*$/i

/** The name, if it is one of the IANA time zone database's that is known here; a zone that there is not is none. */
export const known = (text: string): string | undefined => {
  if (text.length > nameCharactersMax || !name.test(text)) return undefined
  try {
    return Intl.DateTimeFormat("en", { timeZone: text }) && text
  } catch {
    return undefined
  }
}
