/** Whether a text has more than so many characters (code points). Takes time by `max`, not by the text's length. */
export const hasMoreCharacters = (text: string, max: number): boolean => {
  if (text.length <= max) return false
  // A character is two UTF-16 code units at most.
  return text.length > 2 * max || [...text].length > max
}
