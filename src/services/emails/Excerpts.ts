/** Maximum characters of a text in a subject. */
const lineCharactersMax = 60

/** Cuts a text to a number of characters. */
export const cut = (text: string, charactersMax: number): string => {
  const characters = Array.from(text)
  return characters.length > charactersMax ? `${characters.slice(0, charactersMax - 1).join("")}…` : text
}

/** Returns a text in one line that fits into a subject. */
export const line = (text: string): string => cut(text.replaceAll(/\s+/g, " ").trim(), lineCharactersMax)
