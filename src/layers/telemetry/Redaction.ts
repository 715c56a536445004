/** What a log line may hold in place of a secret. */
const mask = "<redacted>"

const patterns: ReadonlyArray<RegExp> = [
  // A token in a header.
  /(\b(?:bearer|basic)\s+)[\w.~+/=-]{8,}/gi,
  // A secret among parameters, in a form, a query or JSON.
  /(["']?\b(?:access_token|bearer_token|refresh_token|client_secret|code_verifier|password|new_password|secret_key|code)\\?["']?\s*[=:]\s*\\?["']?)[^"'&\s,;}\\]+/gi,
  // The password of a URL.
  /(\b[a-z][a-z0-9+.-]*:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/gi
]

/** Takes secrets out of a line of the log that slipped into it with somebody else's text. */
export const redact = (line: string): string =>
  patterns.reduce((text, pattern) => text.replace(pattern, `$1${mask}`), line)
