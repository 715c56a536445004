/** A JSON schema. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

export const anyText: JsonSchema = { type: "string" }

/** Any text at all, without a condition. */
export const isAnyText = (schema: JsonSchema): boolean =>
  schema["type"] === "string" && Object.keys(schema).length === 1

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** What a value may be: one of several, or what the schema says. */
export const alternativesOf = (schema: JsonSchema): ReadonlyArray<JsonSchema> => {
  const { anyOf } = schema
  return Array.isArray(anyOf) ? anyOf.filter(isSchema) : [schema]
}

/** The three numbers that JSON writes as texts; no client sends one. */
const isNoNumber = ({ enum: values }: JsonSchema): boolean => Array.isArray(values) && values.includes("NaN")

/**
 * A schema of what clients send, as readers understand it: alternatives that are part of another one are left out. An
 * object of which nothing is known is called one.
 */
export const tidy = (schema: JsonSchema): JsonSchema => {
  if (isSchema(schema["not"]) && Object.keys(schema).length === 1) return { type: "object" }
  if (!Array.isArray(schema["anyOf"])) {
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, keyword === "enum" ? value : tidyValue(value)])
    )
  }
  const all = alternativesOf(schema).map(tidy).filter((one) => !isNoNumber(one))
  const kept = all.some(isAnyText) ? all.filter((one) => isAnyText(one) || one["type"] !== "string") : all
  const [only, ...others] = kept
  const { anyOf: _anyOf, ...rest } = schema
  return only !== undefined && others.length === 0 ? { ...only, ...rest } : { ...rest, anyOf: kept }
}

const tidyValue = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(tidyValue) : isSchema(value) ? tidy(value) : value
