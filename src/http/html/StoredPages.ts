import { tokenField } from "./FormTokens.ts"

/*
 * Copies of pages without the secrets in them. A mark replaces each secret; texts of a page contain no `<`. The secret of
 * a link in an e-mail is read from the URL of the form's page again, where the browser has it.
 */

/** Fields with the secret of a link. */
const linkFields = new Set(["reset_password_token", "confirmation_token", "setup_token", "token"])
const hiddenField = /<input type="hidden" name="([^"]*)" value="([^"]*)"/g
const mark = /<(form-token|reset_password_token|confirmation_token|setup_token|token)>/g

/** Secrets of pages that are not stored: those that a page shows once, and codes for apps. */
const shownOnce = /class="secret"|<input type="hidden" name="(?:code|setup)"/

/** Returns the query of one of our paths. */
export const asked = (path: string): URLSearchParams => new URLSearchParams(path.split("?").slice(1).join("?"))

/**
 * Returns a copy of a page to store; undefined for a page with other secrets than those of the form's page, whose path
 * is `to`.
 */
export const copyOf = (page: string, to: string): string | undefined => {
  if (shownOnce.test(page)) return undefined
  const link = asked(to)
  const secrets = [...page.matchAll(hiddenField)].map(([, name = "", value = ""]) => ({ name, value }))
    .filter(({ name, value }) => linkFields.has(name) && value !== "")
  const copy = page.replaceAll(hiddenField, (field, name: string, value: string) => {
    const replaced = name === tokenField ? "form-token" : linkFields.has(name) && value !== "" ? name : undefined
    return replaced === undefined ? field : `<input type="hidden" name="${name}" value="<${replaced}>"`
  })
  return secrets.every(({ name, value }) => link.get(name) === value && !copy.includes(value)) ? copy : undefined
}

/** Fills the secrets in again; undefined if the path of the form's page lacks one. */
export const filled = (copy: string, to: string, token: string): string | undefined => {
  const link = asked(to)
  const valueOf = (name: string) => name === "form-token" ? token : link.get(name)
  const values = new Map([...copy.matchAll(mark)].map(([, name = ""]) => [name, valueOf(name)]))
  if ([...values.values()].some((value) => value === null || !/^[\w.~-]*$/.test(value))) return undefined
  return copy.replaceAll(mark, (_, name: string) => values.get(name) ?? "")
}
