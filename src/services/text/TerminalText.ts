/** Control characters except line ends and tabs: a terminal would take them, or what follows, as commands. */
const controls = /[^\P{Cc}\n\t]/gu

/** Returns a text for a terminal, without control characters that strangers may have written. */
export const terminalText = (text: string): string => text.replaceAll(controls, "")

/** Returns JSON with all control characters in its strings escaped; RFC 8259 leaves those after U+001F as they are. */
export const terminalJson = (json: string): string =>
  json.replaceAll(controls, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`)
