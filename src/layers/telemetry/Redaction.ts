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
  "token"
]

const patterns: ReadonlyArray<RegExp> = [
  // A token in a header.
  /(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi,
  // A secret among parameters, in a form, a query or JSON.
  new RegExp(String.raw`(["']?\b(?:${secretNames.join("|")})\\?["']?\s*[=:]\s*\\?["']?)[^"'&\s,;}\\]+`, "gi"),
  // The password in a URL. Bounded, because clients choose the text that is searched.
  /(\b[a-z][a-z0-9+.-]{0,31}:\/\/[^\s:/@]{0,255}:)[^\s@/]+(?=@)/gi
]

/** Maximum characters of an exported text; the rest is cut. */
const charactersMax = 65_536

/** Removes secrets from a text that leaves the process, such as one that quotes foreign input. */
export const redact = (text: string): string =>
  patterns.reduce((rest, pattern) => rest.replace(pattern, `$1${redactedValue}`), text.slice(0, charactersMax))
