/** Placeholders in a template: `{{event}}`, `{{object.account.username}}`, `{{object.media_attachments[0].url}}`. */
const placeholder = /\{\{\s*([\w.[\]]{1,200})\s*\}\}/g

/** Returns the value at a path of own properties; undefined if there is no value. */
const at = (document: unknown, path: string): unknown => {
  let value = document
  for (const key of path.split(/[.[\]]+/).filter((part) => part !== "")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined
    value = Object.getOwnPropertyDescriptor(value, key)?.value
  }
  return value
}

/** Formats a string for use inside JSON quotes, any other value as JSON. */
const written = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value).slice(1, -1) : JSON.stringify(value ?? null)

/** Maximum characters of a body. A template may repeat a placeholder, and each one may stand for the whole object. */
const bodyCharactersMax = 1_048_576

/**
 * Renders a template for an event, as Mastodon does; an empty template gives the event's JSON. Returns undefined if the
 * body is too long.
 */
export const render = (template: string, text: string): string | undefined => {
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

/** Returns true if a template gives valid JSON: with strings inside quotes, and numbers outside. */
export const isTemplate = (template: string): boolean => {
  const filled = template.replace(placeholder, "0")
  try {
    JSON.parse(filled)
    return true
  } catch {
    return false
  }
}
