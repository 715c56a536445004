/* Reads, compares and refills the fields of a composer. */

/** Fields that a person types into, and choices that decide who sees the text, and who may interact with it. */
const textNames: ReadonlySet<string> = new Set(["text", "more[]", "spoiler_text", "option[]"])
const choiceNames: ReadonlySet<string> = new Set(["visibility", "quote_policy", "canReply", "canLike", "canAnnounce"])

/** Names and values of these fields, in the order of the form. */
export type Typed = ReadonlyArray<readonly [name: string, value: string]>

const isPair = (one: unknown): one is readonly [string, string] =>
  Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "string"
export const isTyped = (value: unknown): value is Typed => Array.isArray(value) && value.every(isPair)

/** Returns what was typed into a form, and its choices. */
export const typedOf = (form: HTMLFormElement): Typed =>
  [...new FormData(form)].flatMap(([name, value]) =>
    (textNames.has(name) || choiceNames.has(name)) && typeof value === "string" ? [[name, value] as const] : []
  )

/** Returns the typed texts of a form, without its choices. */
export const textsOf = (typed: Typed): ReadonlyArray<string> =>
  typed.flatMap(([name, value]) => textNames.has(name) ? [value] : [])

export const isBlank = (typed: Typed): boolean => textsOf(typed).every((value) => value.trim() === "")

/** Compares texts and content warnings; the server may drop empty options of polls. */
export const isSame = (some: Typed, other: Typed): boolean => {
  const texts = (typed: Typed) =>
    typed.flatMap(([name, value]) => textNames.has(name) && name !== "option[]" ? [[name, value.trim()]] : [])
  return JSON.stringify(texts(some)) === JSON.stringify(texts(other))
}

/** Fills fields by name and order. Texts without a field of their own are appended to the first one. */
export const fill = (form: HTMLFormElement, typed: Typed): void => {
  const all = [
    ...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement>(
      "textarea[name], input[name], select[name]"
    )
  ]
  const rest = typed.filter(([name, value]) => {
    const at = all.findIndex((field) => field.name === name)
    const [field] = at === -1 ? [] : all.splice(at, 1)
    if (field === undefined) return !choiceNames.has(name) && name !== "option[]" && value.trim() !== ""
    const before = field.value
    field.value = value
    // The form may not offer a choice.
    if (field instanceof HTMLSelectElement && field.value !== value) field.value = before
    const details = field.closest("details")
    if (details !== null && value !== before) details.open = true
    return false
  })
  const text = form.querySelector<HTMLTextAreaElement>("textarea[name=text]")
  if (text !== null && rest.length > 0) text.value = [text.value, ...rest.map(([, value]) => value)].join("\n\n")
}
