import { Context, Effect, type Fiber, Option, References, Schema, Tracer } from "effect"
import { Headers, HttpTraceContext } from "effect/http"

/*
 * Traces of durable work. A row keeps the span that wrote it, and its later work continues the trace of that span: after
 * a retry, after a restart and on other nodes.
 */

/**
 * Span that wrote a row, as a `traceparent` of W3C Trace Context, version 00 (55 characters); null if it was written
 * without tracing.
 */
export const TraceParent = Schema.NullOr(Schema.String)
export type TraceParent = typeof TraceParent.Type

const traceParent = /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/

const parentOf = (fiber: Fiber.Fiber<unknown, unknown>): TraceParent => {
  if (!fiber.getRef(References.TracerEnabled)) return null
  const span = Option.getOrUndefined(Context.getOption(fiber.context, Tracer.ParentSpan))
  if (span === undefined) return null
  const text = `00-${span.traceId.padStart(32, "0")}-${span.spanId}-${span.sampled ? "01" : "00"}`
  return traceParent.test(text) ? text : null
}

/** The current span, for a row; null without tracing. */
export const currentTraceParent: Effect.Effect<TraceParent> = Effect.withFiber((fiber) =>
  Effect.succeed(parentOf(fiber))
)

const spanOf = (text: TraceParent) =>
  text === null
    ? undefined
    : Option.getOrUndefined(HttpTraceContext.w3c(Headers.fromRecordUnsafe({ traceparent: text })))

/**
 * Runs the work of a row in a span that continues the trace of the row's `parent`, or begins a trace without one:
 * the span that happens to run the work is unrelated. Costs nothing without tracing.
 */
export const continued =
  (name: string, parent: TraceParent, attributes: Readonly<Record<string, unknown>> = {}) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Exclude<R, Tracer.ParentSpan>> =>
    Effect.withFiber((fiber) => {
      if (!fiber.getRef(References.TracerEnabled)) return work
      const span = spanOf(parent)
      return Effect.withSpan(work, name, {
        attributes,
        captureStackTrace: false,
        ...(span === undefined ? { root: true } : { parent: span })
      })
    })
