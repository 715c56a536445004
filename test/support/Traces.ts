import { Schema } from "effect"

const Attribute = Schema.Struct({ key: Schema.String, value: Schema.Record(Schema.String, Schema.Unknown) })
const OtlpSpan = Schema.Struct({
  traceId: Schema.String,
  spanId: Schema.String,
  parentSpanId: Schema.optionalKey(Schema.String),
  name: Schema.String,
  attributes: Schema.Array(Attribute)
})
const TraceData = Schema.fromJsonString(Schema.Struct({
  resourceSpans: Schema.Array(
    Schema.Struct({ scopeSpans: Schema.Array(Schema.Struct({ spans: Schema.Array(OtlpSpan) })) })
  )
}))
const decode = Schema.decodeUnknownSync(TraceData)

/** A span that a collector received; `parent` is the id of its parent. */
export interface ReceivedSpan {
  readonly name: string
  readonly traceId: string
  readonly id: string
  readonly parent: string | undefined
  readonly attributes: Readonly<Record<string, string>>
}

const path = "/v1/traces "

/** Returns the spans that a collector received, in OTLP's JSON form. */
export const spansOf = (received: ReadonlyArray<string>): ReadonlyArray<ReceivedSpan> =>
  received.filter((one) => one.startsWith(path)).flatMap((one) =>
    decode(one.slice(path.length)).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
  ).map(({ attributes, name, parentSpanId, spanId, traceId }) => ({
    name,
    traceId,
    id: spanId,
    parent: parentSpanId,
    attributes: Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])]))
  }))

/** Returns the names of a span and its ancestors, outermost first. */
export const pathOf = (spans: ReadonlyArray<ReceivedSpan>, span: ReceivedSpan): ReadonlyArray<string> => {
  const above = spans.find(({ id }) => id === span.parent)
  return above === undefined ? [span.name] : [...pathOf(spans, above), span.name]
}
