import { terminalJson, terminalLine, terminalText } from "../../services/text/TerminalText.ts"
import type { LogRecord } from "./LogRecords.ts"
import { redact } from "./Redaction.ts"

/** Keys of a line that annotations and spans must not repeat. */
const ownKeys = ["timestamp", "level", "fiber", "message", "error", "stack"]

/** Returns a function that makes labels unique, by a number at the end of later ones. */
const uniquely = (taken: ReadonlyArray<string>) => {
  const used = new Set(taken)
  return (label: string): string => {
    let key = label
    for (let n = 2; used.has(key); n++) key = `${label}_${n}`
    used.add(key)
    return key
  }
}

/** Label as a key of logfmt, which has no quotes for keys. */
const keyOf = (label: string) => terminalLine(label).replaceAll(/[\s="]/g, "_") || "_"
const plain = /^[^\s"=]+$/
const pair = (key: string, text: string) => {
  const value = terminalText(text)
  return `${key}=${plain.test(value) ? value : JSON.stringify(value)}`
}

/**
 * Writes a record as one line of `key=value` pairs, without control characters, which a terminal would obey. Each key
 * is there once.
 */
export const logfmt = ({ annotations, errors, fiber, level, message, spans, time }: LogRecord): string => {
  const unique = uniquely(ownKeys)
  const stacks = errors.flatMap(({ stack = [] }) => stack)
  const errorTexts = errors.map(({ message, name }) => message === "" ? name : `${name}: ${message}`)
  const line = [
    pair("timestamp", time),
    pair("level", level),
    pair("fiber", fiber),
    pair("message", message),
    ...(errorTexts.length === 0 ? [] : [pair("error", errorTexts.join("; "))]),
    ...(stacks.length === 0 ? [] : [pair("stack", stacks.join("\n"))]),
    ...spans.map(([label, millis]) => pair(unique(keyOf(label)), `${millis}ms`)),
    ...annotations.map(([label, value]) => pair(unique(keyOf(label)), String(value)))
  ]
  return terminalLine(redact(line.join(" ")))
}

const lineSeparators = /[\u2028\u2029]/g

/** Writes a record as one line of JSON: an object of `time`, `level`, `message`, `fiber`, and the other parts if any. */
export const jsonLine = ({ annotations, errors, fiber, level, message, spans, time }: LogRecord): string => {
  const unique = { span: uniquely([]), annotation: uniquely([]) }
  const line = JSON.stringify({
    time,
    level,
    message,
    fiber,
    ...(errors.length === 0 ? {} : { errors }),
    ...(spans.length === 0
      ? {}
      : { spans: Object.fromEntries(spans.map(([label, millis]) => [unique.span(label), millis])) }),
    ...(annotations.length === 0
      ? {}
      : { annotations: Object.fromEntries(annotations.map(([label, value]) => [unique.annotation(label), value])) })
  })
  return terminalJson(line).replaceAll(lineSeparators, (one) => one === "\u2028" ? "\\u2028" : "\\u2029")
}
