import { type Schema, type SchemaAST, String } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { nullable } from "./Rows.ts"

/** The SQL type of a column by the type of its field; null does not count. */
const typeOf = (ast: SchemaAST.AST): string => {
  switch (ast._tag) {
    case "BigInt":
      return "bigint"
    case "Boolean":
      return "boolean"
    case "Number":
      return "integer"
    case "String":
    case "Literal":
      return "text"
    case "Declaration":
      return "timestamptz"
    case "Arrays":
      return `${ast.rest.map(typeOf).join()}[]`
    case "Union":
      return typeOf(ast.types.find((type) => type._tag !== "Null") ?? ast)
    default:
      throw new Error(`No column has the type ${ast._tag}`)
  }
}

/** Rows of a table by their schema: a field is a column of that name in snake_case. Made once a schema. */
export const columnsOf = <Fields extends Schema.Struct.Fields>(row: Schema.Struct<Fields>) => {
  type Row = Schema.Struct<Fields>["Type"]
  const columns = Object.entries(row.fields).map(([field, { ast }]) => {
    const type = typeOf(ast)
    return { field, name: String.camelToSnake(field), type, isArray: type.endsWith("[]") }
  })
  const names = columns.map(({ name }) => name).join(", ")

  return {
    columns,
    /** The columns; those of the table under `alias`, where one is named. */
    list: (sql: SqlClient, alias?: string): Fragment =>
      sql.literal(alias === undefined ? names : columns.map(({ name }) => `${alias}.${name}`).join(", ")),
    /** Rows for a FROM, with their `place` from 1; arrays are texts, as Postgres has no arrays of arrays of several lengths. */
    given: (sql: SqlClient, alias: string, rows: ReadonlyArray<Row>): Fragment =>
      sql`unnest(${
        sql.csv(columns.map(({ field, isArray, type }) => {
          const values = rows.map((row) => {
            const value: unknown = Reflect.get(row, field)
            return Array.isArray(value) ? `{${value.join()}}` : value
          })
          return sql`${nullable(values)}::${sql.literal(isArray ? "text[]" : `${type}[]`)}`
        }))
      }) WITH ORDINALITY AS ${sql.literal(`${alias} (${names}, place)`)}`,
    /** The columns of rows that were `given`; `instead` has expressions for what is not taken as it is given. */
    taken: (sql: SqlClient, alias: string, instead: { readonly [Field in keyof Fields]?: Fragment }): Fragment =>
      sql.csv(
        columns.map(({ field, isArray, name, type }) =>
          Reflect.get(instead, field) ?? sql.literal(`${alias}.${name}${isArray ? `::${type}` : ""}`)
        )
      ),
    /** What SET is followed by: values, or expressions of them. */
    assigned: (sql: SqlClient, values: { readonly [Field in keyof Row]?: Row[Field] | Fragment }): Fragment =>
      sql.csv(
        columns.filter(({ field }) => field in values).map(({ field, name, type }) =>
          sql`${sql.literal(name)} = ${Reflect.get(values, field)}::${sql.literal(type)}`
        )
      )
  }
}
