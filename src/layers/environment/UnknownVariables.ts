import { ConfigProvider, Effect } from "effect"
import { variables } from "./variables.ts"

const known = Object.keys(variables)

/** Variables of Mastodon's configuration, and the ones that replace them here. */
const ofMastodon: Readonly<Record<string, string>> = {
  WEB_DOMAIN: "PUBLIC_URL",
  DB_HOST: "DATABASE_URL",
  REDIS_HOST: "REDIS_URL",
  SMTP_SERVER: "SMTP_URL",
  SMTP_PORT: "SMTP_URL",
  SMTP_LOGIN: "SMTP_URL",
  SMTP_PASSWORD: "SMTP_URL",
  SMTP_FROM_ADDRESS: "MAIL_FROM",
  SECRET_KEY_BASE: "SECRET_KEY",
  LIMITED_FEDERATION_MODE: "LIMITED_FEDERATION",
  S3_ALIAS_HOST: "MEDIA_BASE_URL",
  CDN_HOST: "MEDIA_BASE_URL"
}

/** Beginnings of names that only this server's settings have. */
const families = ["S3_", "SMTP_", "CAPTCHA_", "TRANSLATION_"]

/** Length of a known name from which two typing errors count as a misspelling; shorter names resemble too many others. */
const twoErrorsLengthMin = 9
/** Maximum parts of names that are read. */
const namesMax = 10_000
/** Maximum variables that are reported. */
const reportedMax = 20

/** Counts the typing errors between two names: a missing, added, other or swapped character. */
const typingErrors = (left: string, right: string): number => {
  let [before, row] = [new Array<number>(), Array.from({ length: right.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= left.length; i++) {
    const next = [i]
    for (let j = 1; j <= right.length; j++) {
      const swapped = i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]
      next.push(Math.min(
        (row[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
        (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1),
        swapped ? (before[j - 2] ?? 0) + 1 : Infinity
      ))
    }
    before = row
    row = next
  }
  return row[right.length] ?? 0
}

/** Returns the setting that a name probably means; undefined if none is close. */
const suggestionFor = (name: string): string | undefined => {
  const upper = name.toUpperCase()
  return ofMastodon[upper] ?? known.filter(({ length }) => Math.abs(length - upper.length) <= 2)
    .map((setting) => ({ setting, errors: typingErrors(upper, setting) }))
    .filter(({ errors, setting }) => errors <= (setting.length >= twoErrorsLengthMin ? 2 : 1))
    .toSorted((a, b) => a.errors - b.errors)[0]?.setting
}

/** Returns a message about a variable that resembles a setting but is none; undefined for any other variable. */
const complaint = (name: string): string | undefined => {
  if (known.includes(name)) return undefined
  const setting = suggestionFor(name)
  if (setting !== undefined) return `${name} is not a setting of this server; did you mean ${setting}?`
  return families.some((family) => name.startsWith(family)) ? `${name} is not a setting of this server.` : undefined
}

/** Returns the names of the variables that are set. */
const names = Effect.gen(function*() {
  const provider = yield* ConfigProvider.ConfigProvider
  const found: Array<string> = []
  const waiting: Array<ReadonlyArray<string>> = [[]]
  for (let path = waiting.pop(), read = 0; path !== undefined && read < namesMax; path = waiting.pop(), read++) {
    const node = yield* Effect.orElseSucceed(provider.load(path), () => undefined)
    if (node === undefined) continue
    if (node.value !== undefined && path.length > 0) found.push(path.join("_"))
    if (node._tag === "Record") { for (const key of node.keys) waiting.push([...path, key]) }
  }
  return found
})

/** Returns a message about each variable that is set and resembles a setting, sorted; values are never shown. */
export const unknownWarnings = Effect.map(
  names,
  (found) => found.map(complaint).filter((message) => message !== undefined).toSorted().slice(0, reportedMax)
)
