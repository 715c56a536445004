/**
 * Control characters except line ends and tabs, which a terminal takes for commands, and those that reorder the rest of
 * a line (UAX #9).
 */
const controls = /[^\P{Cc}\n\t]|[\u202A-\u202E\u2066-\u2069]/gu

/** Returns a text for a terminal, without control characters that strangers may have written. */
export const terminalText = (text: string): string => text.replaceAll(controls, "")

/** Returns a text for one line of a terminal: line ends become spaces, so that strangers cannot forge further lines. */
export const terminalLine = (text: string): string => terminalText(text.replaceAll(/[\r\n\u2028\u2029]+/gu, " "))

/** Returns JSON with all control characters in its strings escaped; RFC 8259 leaves those after U+001F as they are. */
export const terminalJson = (json: string): string =>
  json.replaceAll(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`)
