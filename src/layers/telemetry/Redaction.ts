/** Replacement for a secret in a log line. */
export const redactedValue = "<redacted>"

/** Names of parameters and variables whose values are secrets, in any text. */
export const secretNames: ReadonlyArray<string> = [
  "access_token",
  "authenticity_token",
  "bearer_token",
  "client_secret",
  "code",
  "code_verifier",
  "confirmation_token",
  "invite_code",
  "new_password",
  "password",
  "refresh_token",
  "reset_password_token",
  "secret_key",
  "setup_token",
  "token"
]

/** Ends before a value. In an address that is a parameter of another, the signs around the name are percent-encoded. */
const before = (names: ReadonlyArray<string>) =>
  String.raw`["']?(?:\b|(?<=%[\da-f]{2}))(?:${names.join("|")})\\{0,3}["']?\s*(?:[=:]|%3d)\s*`

/**
 * Text in double quotes up to the closing quote, where `slashes` backslashes escape each quote: none in JSON, one in JSON
 * that a string quotes, three in a string that quotes that one. Without a closing quote it is the rest of the text.
 */
const quoted = (slashes: number) =>
  String.raw`(\\{${slashes}}")(?:[^"\\]|\\{${2 * slashes + 2}}|\\{${2 * slashes + 1}}"|\\{1,${
    2 * slashes + 1
  }}(?!["\\]))+`

/** A secret among parameters, in a form, a query or JSON: in quotes, or up to the next delimiter. */
const parameter = [
  `(${before(secretNames)})(?:${[0, 1, 3].map(quoted).join("|")}`,
  String.raw`(')(?:\\.|[^'\\\n])+|[^"'&\s,;}\\]+)`
].join("|")

/** A password without quotes, which may have spaces: up to the next key or the end of the line. */
const phrase = [
  `(${before(secretNames.filter((name) => name.endsWith("password")))})`,
  String.raw`[^"'&\s,;}\\]+(?:[,;]?[^\S\n](?!["']?[\w.-]{1,40}["']?[=:])[^"&\s\\]*)*`
].join("")

/** Patterns of secrets, and the groups that are kept. */
const patterns: ReadonlyArray<readonly [pattern: RegExp, replacement: string]> = [
  // A token in a header.
  [/(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi, "$1"],
  [new RegExp(phrase, "gi"), "$1"],
  [new RegExp(parameter, "gi"), "$1$2$3$4$5"],
  // The password in a URL. Bounded, because clients choose the text that is searched.
  [/(\b[a-z][a-z0-9+.-]{0,31}:\/\/[^\s:/@]{0,255}:)[^\s@/]+(?=@)/gi, "$1"]
]

/** Maximum characters of an exported text; the rest is cut. */
const charactersMax = 65_536

/** Removes secrets from a text that leaves the process, such as one that quotes foreign input. */
export const redact = (text: string): string =>
  patterns.reduce(
    (rest, [pattern, replacement]) => rest.replace(pattern, `${replacement}${redactedValue}`),
    text.slice(0, charactersMax)
  )
