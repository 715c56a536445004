/**
 * Returns true if a text has more than `max` characters (code points), in time that grows with `max` and not with the
 * text.
 */
export const hasMoreCharacters = (text: string, max: number): boolean => {
  if (text.length <= max) return false
  // A character has up to two UTF-16 code units.
  return text.length > 2 * max || [...text].length > max
}
