/** Returns true for text of more than `max` characters (code points), in time that grows with `max` and not with the text. */
export const hasMoreCharacters = (text: string, max: number): boolean => {
  if (text.length <= max) return false
  // A character is two UTF-16 code units at most.
  return text.length > 2 * max || [...text].length > max
}
