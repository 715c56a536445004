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

type SnakeCase<Field> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Field

type TypeOf<Value> = Value extends string ? "text" : Value extends boolean ? "boolean" : never

/** How SQL declares the columns of such rows: a value that is never null has a default, for rows that are older than the column. */
export type Columns<Row> = {
  readonly [Field in keyof Row]: `${SnakeCase<Field> & string} ${null extends Row[Field] ?
    TypeOf<NonNullable<Row[Field]>>
    : `${TypeOf<Row[Field]>} NOT NULL DEFAULT ${string}`}`
}

interface Column {
  /** Of the row. */
  readonly field: string
  readonly name: string
  readonly type: string
  readonly isArray: boolean
}

/** The type in which a value of the column is given. */
const givenType = ({ isArray, type }: Column) => isArray ? "text" : type

const givenOf = ({ field }: Column, row: object): unknown => {
  const value: unknown = Reflect.get(row, field)
  return Array.isArray(value) ? `{${value.join()}}` : value
}

const template = (pieces: ReadonlyArray<string>): TemplateStringsArray => Object.assign([...pieces], { raw: pieces })

/** Rows of a table by their schema: a field is a column of that name in snake_case. Made once a schema. */
export const columnsOf = <Fields extends Schema.Struct.Fields>(row: Schema.Struct<Fields>) => {
  type Row = Schema.Struct<Fields>["Type"]
  const columns = Object.entries(row.fields).map(([field, { ast }]): Column => {
    const type = typeOf(ast)
    return { field, name: String.camelToSnake(field), type, isArray: type.endsWith("[]") }
  })
  const names = columns.map(({ name }) => name).join(", ")
  // A text with a parameter a column, as if it were written by hand: pieces that are put together anew cost microseconds each.
  const [last] = columns.slice(-1)
  const before = columns.slice(0, -1)
  if (last === undefined) throw new Error("A table without columns")
  const many = template([
    "unnest(",
    ...before.map((column) => `::${givenType(column)}[], `),
    `::${givenType(last)}[]) WITH ORDINALITY AS given (${names}, place)`
  ])
  const one = template([
    "(SELECT ",
    ...before.map((column) => `::${givenType(column)} AS ${column.name}, `),
    `::${givenType(last)} AS ${last.name}, 1::bigint AS place) AS given`
  ])

  return {
    columns,
    /** The columns; those of the table under `alias`, where one is named. */
    list: (sql: SqlClient, alias?: string): Fragment =>
      sql.literal(alias === undefined ? names : columns.map(({ name }) => `${alias}.${name}`).join(", ")),
    /** Rows for a FROM, with their `place` from 1; arrays are texts, as Postgres has no arrays of arrays of several lengths. */
    given: (sql: SqlClient, rows: ReadonlyArray<Row>): Fragment => {
      const [row, ...others] = rows
      return row !== undefined && others.length === 0
        ? sql(one, ...columns.map((column) => givenOf(column, row)))
        : sql(many, ...columns.map((column) => nullable(rows.map((each) => givenOf(column, each)))))
    },
    /** The columns, and what they are of rows that were `given` under an alias; `instead` has expressions for some of them. */
    taken: (sql: SqlClient, alias: string, instead: { readonly [Field in keyof Fields]?: Fragment }) => {
      const expressions = new Map(Object.entries<Fragment | undefined>(instead))
      const expressed = columns.flatMap(({ field, name }) => {
        const expression = expressions.get(field)
        return expression === undefined ? [] : [{ name, expression }]
      })
      const plain = columns.filter(({ field }) => !expressions.has(field))
      const value = ({ isArray, name, type }: Column) => `${alias}.${name}${isArray ? `::${type}` : ""}`
      return {
        names: sql.literal([...plain, ...expressed].map(({ name }) => name).join(", ")),
        values: sql.csv([sql.literal(plain.map(value).join(", ")), ...expressed.map(({ expression }) => expression)])
      }
    },
    /** What SET is followed by: values, or expressions of them. */
    assigned: (sql: SqlClient, values: { readonly [Field in keyof Row]?: Row[Field] | Fragment }): Fragment =>
      sql.csv(
        columns.filter(({ field }) => field in values).map(({ field, name, type }) =>
          sql`${sql.literal(name)} = ${Reflect.get(values, field)}::${sql.literal(type)}`
        )
      )
  }
}
