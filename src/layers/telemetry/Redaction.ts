/** What a log line may hold in place of a secret. */
const mask = "<redacted>"

/** Parameters and variables whose values are secrets, wherever they stand. */
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
  // The password of a URL. Bounded, because clients choose the text that is searched.
  /(\b[a-z][a-z0-9+.-]{0,31}:\/\/[^\s:/@]{0,255}:)[^\s@/]+(?=@)/gi
]

/** Characters of a text that leave the process; the rest is cut. */
const charactersMax = 65_536

/** Takes secrets out of a text that leaves the process, where they slipped in with somebody else's words. */
export const redact = (text: string): string =>
  patterns.reduce((rest, pattern) => rest.replace(pattern, `$1${mask}`), text.slice(0, charactersMax))
