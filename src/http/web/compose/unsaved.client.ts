/* The text of a composer that the server has not confirmed yet, in the browser's storage. */

/** Prefix of keys in the browser's storage. */
const storagePrefix = "compose:"

/** Fields that a person types into. */
const typedNames: ReadonlySet<string> = new Set(["text", "more[]", "spoiler_text", "option[]"])

/** Names and values of typed fields, in the order of the form. */
export type Typed = ReadonlyArray<readonly [name: string, value: string]>

/** What was typed, and the facts that tell whether the server has it. */
export interface Unsaved {
  readonly typed: Typed
  /** Fields of the last save that the server confirmed. */
  readonly confirmed: Typed | null
  /** Draft of that save. */
  readonly draft: string | null
  /** Key of the form: saves with the same key make one draft. */
  readonly key: string
  /** True once the form was submitted. */
  readonly sent: boolean
}

const isPair = (one: unknown): one is readonly [string, string] =>
  Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "string"
const isTyped = (value: unknown): value is Typed => Array.isArray(value) && value.every(isPair)
const isUnsaved = (value: unknown): value is Unsaved =>
  typeof value === "object" && value !== null && "typed" in value && isTyped(value.typed) &&
  "confirmed" in value && (value.confirmed === null || isTyped(value.confirmed)) &&
  "draft" in value && (value.draft === null || typeof value.draft === "string") &&
  "key" in value && typeof value.key === "string" && "sent" in value && typeof value.sent === "boolean"

/** Returns what was typed into a form. */
export const typedOf = (form: HTMLFormElement): Typed =>
  [...new FormData(form)].flatMap(([name, value]) =>
    typedNames.has(name) && typeof value === "string" ? [[name, value] as const] : []
  )

export const isBlank = (typed: Typed): boolean => typed.every(([, value]) => value.trim() === "")

/** Compares texts and content warnings; the server may drop empty options of polls. */
export const isSame = (some: Typed, other: Typed): boolean => {
  const texts = (typed: Typed) =>
    typed.filter(([name]) => name !== "option[]").map(([name, value]) => [name, value.trim()])
  return JSON.stringify(texts(some)) === JSON.stringify(texts(other))
}

/** Storage of one form of one page. */
export const storageOf = (form: HTMLFormElement) => {
  const place = [storagePrefix, form.dataset["compose"], location.pathname, location.search].join("")
  return {
    /** Returns undefined if nothing is there, or if the browser allows no storage. */
    read: (): Unsaved | undefined => {
      try {
        const kept: unknown = JSON.parse(localStorage.getItem(place) ?? "null")
        return isUnsaved(kept) ? kept : undefined
      } catch {
        return undefined
      }
    },
    /** Does nothing if the storage is full or not allowed. */
    write: (unsaved: Unsaved): void => {
      try {
        localStorage.setItem(place, JSON.stringify(unsaved))
      } catch {
        // The draft on the server remains.
      }
    },
    forget: (): void => {
      try {
        localStorage.removeItem(place)
      } catch {
        // Nothing was written either.
      }
    }
  }
}

/** Fills fields by name and order. Texts without a field of their own are appended to the first one. */
export const fill = (form: HTMLFormElement, typed: Typed): void => {
  const all = [...form.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>("textarea[name], input[name]")]
  const rest = typed.filter(([name, value]) => {
    const at = all.findIndex((field) => field.name === name)
    const [field] = at === -1 ? [] : all.splice(at, 1)
    if (field === undefined) return name !== "option[]" && value.trim() !== ""
    field.value = value
    const details = field.closest("details")
    if (details !== null && value !== "") details.open = true
    return false
  })
  const text = form.querySelector<HTMLTextAreaElement>("textarea[name=text]")
  if (text !== null && rest.length > 0) text.value = [text.value, ...rest.map(([, value]) => value)].join("\n\n")
}

/** Reads a draft from the server; undefined if it was published or deleted. Throws without a connection. */
export const draftOf = async (id: string): Promise<Typed | undefined> => {
  const response = await fetch(`/publish?draft=${id}`)
  if (response.status === 404) return undefined
  if (!response.ok || response.redirected) throw new Error(String(response.status))
  const page = new DOMParser().parseFromString(await response.text(), "text/html")
  const form = page.querySelector<HTMLFormElement>("form[data-compose]:not(.short)")
  return form === null ? undefined : typedOf(form)
}
