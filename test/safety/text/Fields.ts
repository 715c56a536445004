import { OpenApi } from "effect/http-api"
import { Api } from "../../../src/http/Api.ts"
import { methods } from "../../../src/http/docs/OpenApiDocument.ts"
import { excludedPaths, others } from "../hostile/Tries.ts"

/** A text field of a request. */
export interface Field {
  readonly method: string
  /** With `:names` for parameters. */
  readonly path: string
  readonly name: string
  /** Replacement value; other fields are normal. */
  readonly json: ((text: string) => unknown) | undefined
  readonly form: boolean
  readonly query: boolean
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
const asArray = (value: unknown): ReadonlyArray<unknown> => Array.isArray(value) ? value : []

const { components, paths } = OpenApi.fromApi(Api)
const resolved = (schema: unknown): Readonly<Record<string, unknown>> => {
  if (!isObject(schema)) return {}
  return "$ref" in schema ? resolved(components.schemas[String(schema["$ref"]).split("/").at(-1) ?? ""]) : schema
}
const depthMax = 5

/** Ways to put a text into a schema's value, and the usual value; the name identifies the field. */
interface Shape {
  readonly usual: unknown
  readonly places: ReadonlyArray<readonly [name: string, put: (text: string) => unknown]>
}

const shapeOf = (given: unknown, depth = 0): Shape => {
  const schema = resolved(given)
  if (depth > depthMax) return { usual: "x", places: [] }
  const choices = [...asArray(schema["anyOf"]), ...asArray(schema["oneOf"])]
  if (choices.length > 0) {
    const shapes = choices.map((choice) => shapeOf(choice, depth + 1))
    return { usual: shapes[0]?.usual, places: shapes.flatMap(({ places }) => places) }
  }
  const parts = asArray(schema["allOf"])
  if (parts.length > 0 && !("type" in schema)) {
    const shapes = parts.map((part) => shapeOf(part, depth + 1))
    return { usual: shapes[0]?.usual, places: shapes.flatMap(({ places }) => places) }
  }
  switch (schema["type"]) {
    case "object": {
      const properties = Object.entries(isObject(schema["properties"]) ? schema["properties"] : {})
        .map(([name, property]) => [name, shapeOf(property, depth + 1)] as const)
      const required = asArray(schema["required"])
      const usual = Object.fromEntries(
        properties.filter(([name]) => required.includes(name)).map(([name, shape]) => [name, shape.usual])
      )
      return {
        usual,
        places: properties.flatMap(([name, { places }]) =>
          places.map(([inner, put]) =>
            [`${name}${inner}`, (text: string) => ({ ...usual, [name]: put(text) })] as const
          )
        )
      }
    }
    case "array": {
      const item = shapeOf(schema["items"], depth + 1)
      return {
        usual: [item.usual],
        places: item.places.map(([inner, put]) => [`[]${inner}`, (text: string) => [put(text)]] as const)
      }
    }
    case "string":
      return { usual: asArray(schema["enum"])[0] ?? "x", places: [["", (text) => text]] }
    case "integer":
    case "number":
      return { usual: 1, places: [["", (text) => text]] }
    case "boolean":
      return { usual: true, places: [["", (text) => text]] }
    default:
      return { usual: "x", places: [["", (text) => text]] }
  }
}

const declared: ReadonlyArray<Field> = Object.entries(paths).flatMap(([path, item]) =>
  methods.flatMap((method) => {
    const operation = item[method]
    if (operation === undefined) return []
    const field = (name: string, json: Field["json"]): Field => ({
      method: method.toUpperCase(),
      path: path.replaceAll(/\{(\w+)\}/g, ":$1"),
      name,
      json,
      form: false,
      query: json === undefined
    })
    const body = Object.values(operation.requestBody?.content ?? {})[0]
    const queried = operation.parameters.filter(({ in: where }) => where === "query")
    const places = body === undefined ? [] : shapeOf(body.schema).places
    return queried.map(({ name }) => field(name, undefined)).concat(places.map(([name, put]) => field(name, put)))
  })
)

const pageFields: ReadonlyArray<Field> = others.flatMap(({ method, names, path }) =>
  names.map((name) => ({ method, path, name, json: undefined, form: method !== "GET", query: method === "GET" }))
)

/** Every declared field of the API, and those of pages, each once. */
export const fields: ReadonlyArray<Field> = [
  ...new Map(
    [...declared, ...pageFields].filter(({ path }) => !excludedPaths.test(path))
      .map((field) => [`${field.method} ${field.path} ${field.query} ${field.name}`, field])
  ).values()
]
