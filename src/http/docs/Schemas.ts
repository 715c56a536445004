/** A JSON schema. */
export interface JsonSchema {
  readonly [keyword: string]: unknown
}

export const anyText: JsonSchema = { type: "string" }

/** Returns true for a text without constraints. */
export const isAnyText = (schema: JsonSchema): boolean =>
  schema["type"] === "string" && Object.keys(schema).length === 1

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the alternatives of a schema, or the schema itself. */
export const alternativesOf = (schema: JsonSchema): ReadonlyArray<JsonSchema> => {
  const { anyOf } = schema
  return Array.isArray(anyOf) ? anyOf.filter(isSchema) : [schema]
}

/** Returns true for the three numbers that are texts in JSON (NaN and the infinities); no client sends them. */
const isNoNumber = ({ enum: values }: JsonSchema): boolean => Array.isArray(values) && values.includes("NaN")

/**
 * Simplifies a schema for readers: leaves out alternatives that others include, and describes an unknown object as an
 * object.
 */
export const tidy = (schema: JsonSchema): JsonSchema => {
  if (isSchema(schema["not"]) && Object.keys(schema).length === 1) return { type: "object" }
  if (!Array.isArray(schema["anyOf"])) {
    return Object.fromEntries(
      Object.entries(schema).map(([keyword, value]) => [keyword, keyword === "enum" ? value : tidyValue(value)])
    )
  }
  const all = alternativesOf(schema).map(tidy).filter((one) => !isNoNumber(one))
  const alternatives = all.some(isAnyText) ? all.filter((one) => isAnyText(one) || one["type"] !== "string") : all
  const [only, ...others] = alternatives
  const { anyOf: _anyOf, ...rest } = schema
  return only !== undefined && others.length === 0 ? { ...only, ...rest } : { ...rest, anyOf: alternatives }
}

const tidyValue = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(tidyValue) : isSchema(value) ? tidy(value) : value
