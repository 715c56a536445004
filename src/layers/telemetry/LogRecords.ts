import { Array, Cause, DateTime, Effect, type Logger, Predicate, References } from "effect"
import { isSqlError } from "effect/sql/SqlError"
import { chainOf, isOperational } from "./Mendable.ts"
import { redact, redactedValue, secretNames } from "./Redaction.ts"

/** Maximum characters of a text, and maximum errors, spans and annotations of a record. */
const charactersMax = 16_384
const partsMax = 64
const labelCharactersMax = 128

/** An error for the log. */
interface LoggedError {
  readonly name: string
  /** Messages of the error and its causes, from the outermost. */
  readonly message: string
  /** Only for defects. */
  readonly stack?: string
}

/** A log line before it is written in a format. Texts are bounded and have no secrets. */
export interface LogRecord {
  /** ISO 8601. */
  readonly time: string
  readonly level: string
  readonly fiber: string
  readonly message: string
  readonly errors: ReadonlyArray<LoggedError>
  /** Durations in milliseconds. */
  readonly spans: ReadonlyArray<readonly [label: string, millis: number]>
  readonly annotations: ReadonlyArray<readonly [label: string, value: string | number | boolean | null]>
}

const secret: ReadonlySet<string> = new Set(secretNames)
const isSecret = (label: string) => secret.has(label.toLowerCase())

const json = (value: object): string => {
  try {
    return JSON.stringify(
      value,
      (key, inner: unknown) => isSecret(key) ? redactedValue : typeof inner === "bigint" ? String(inner) : inner
    ) ?? String(value)
  } catch {
    return String(value)
  }
}

const bounded = (text: string) => redact(text.slice(0, charactersMax).toWellFormed())

const textOf = (value: unknown): string =>
  bounded(
    typeof value === "string"
      ? value
      : value instanceof Error
      ? `${nameOf(value)}: ${messageOf(value)}`
      : typeof value === "object" && value !== null
      ? json(value)
      : String(value)
  )

/** Lone surrogates would be printed as the same character, and labels be there twice. */
const labelOf = (label: string) => label.slice(0, labelCharactersMax).toWellFormed()

const valueOf = (label: string, value: unknown): string | number | boolean | null =>
  isSecret(label)
    ? redactedValue
    : value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
    ? value
    : textOf(value)

const nameOf = (error: unknown): string =>
  Predicate.hasProperty(error, "_tag") && typeof error._tag === "string"
    ? error._tag
    : error instanceof Error
    ? error.name
    : typeof error

const messageOf = (error: unknown): string => {
  const messages: Array<string> = []
  for (const one of chainOf(error)) {
    const message = one instanceof Error ? one.message : typeof one === "string" ? one : json(Object(one))
    // An outer error often quotes the inner one.
    if (message !== "" && !messages.some((before) => before.includes(message))) messages.push(message)
  }
  return bounded(messages.join(": "))
}

const errorOf = (reason: Cause.Reason<unknown>): LoggedError => {
  if (Cause.isInterruptReason(reason)) return { name: "Interrupted", message: "" }
  const error = Cause.isFailReason(reason) ? reason.error : reason.defect
  const logged = { name: nameOf(error), message: messageOf(error) }
  // A failed statement is a fault of ours unless the database caused it, whether or not the error was expected.
  const isFault = !isOperational(error) && (!Cause.isFailReason(reason) || isSqlError(error))
  return isFault ? { ...logged, stack: bounded(Cause.pretty(Cause.fromReasons([reason]))) } : logged
}

/** Returns the record of a text that is printed at any level of the log, and in full. */
export const recordOfText = (message: string): Effect.Effect<LogRecord> =>
  Effect.withFiber((fiber) =>
    Effect.map(DateTime.now, (now) => ({
      time: DateTime.formatIso(now),
      level: "INFO",
      fiber: `#${fiber.id}`,
      message,
      errors: [],
      spans: [],
      annotations: []
    }))
  )

/** Returns the record of a log event. */
export const recordOf = ({ cause, date, fiber, logLevel, message }: Logger.Options<unknown>): LogRecord => {
  const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
  const parts = Array.ensure(message).slice(0, partsMax)
  const errors = parts.filter((part) => part instanceof Error)
  const texts = parts.filter((part) => !(part instanceof Error))
  const now = date.getTime()
  return {
    time: date.toISOString(),
    level: logLevel.toUpperCase(),
    fiber: `#${fiber.id}`,
    message: bounded(texts.map(textOf).join(": ")),
    errors: [...errors.map(Cause.makeFailReason), ...cause.reasons].slice(0, partsMax).map(errorOf),
    spans: fiber.getRef(References.CurrentLogSpans).slice(0, partsMax).map((
      [label, since]
    ) => [labelOf(label), now - since]),
    annotations: annotations.slice(0, partsMax).map(([label, value]) => [labelOf(label), valueOf(label, value)])
  }
}
