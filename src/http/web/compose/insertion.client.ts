/* Texts that the composer's scripts insert. */

/** Replaces the text from `start` to the caret. */
export const insert = (field: HTMLTextAreaElement, start: number, text: string): void => {
  field.setRangeText(text, start, field.selectionEnd, "end")
  field.focus()
}
