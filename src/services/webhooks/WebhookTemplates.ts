/** What a template names: `{{event}}`, `{{object.account.username}}`, `{{object.media_attachments[0].url}}`. */
const placeholder = /\{\{\s*([\w.[\]]{1,200})\s*\}\}/g

/** The value at a path, undefined where there is none; only what the document itself has. */
const at = (document: unknown, path: string): unknown => {
  let value = document
  for (const key of path.split(/[.[\]]+/).filter((part) => part !== "")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined
    value = Object.getOwnPropertyDescriptor(value, key)?.value
  }
  return value
}

/** A text as it stands inside of quotes of JSON, anything else as JSON. */
const written = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value).slice(1, -1) : JSON.stringify(value ?? null)

/** Characters of a body: what a template names it may name often, and each time it is the whole of it. */
const bodyCharactersMax = 1_048_576

/** The body that a template makes of an event, as Mastodon's do; without one it is the event itself. Undefined where it is too long. */
export const templated = (template: string, text: string): string | undefined => {
  if (template === "") return text
  const document: unknown = JSON.parse(text)
  let room = bodyCharactersMax - template.length
  const body = template.replace(placeholder, (_, path: string) => {
    const value = room < 0 ? "" : written(at(document, path))
    room -= value.length
    return value
  })
  return room < 0 ? undefined : body
}

/** Whether a template makes JSON: with texts for all that it names, or with numbers where those stand outside of quotes. */
export const isTemplate = (template: string): boolean => {
  const filled = template.replace(placeholder, "0")
  try {
    JSON.parse(filled)
    return true
  } catch {
    return false
  }
}
