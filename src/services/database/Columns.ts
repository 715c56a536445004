import { type Schema, type SchemaAST, String } from "effect"
import type { SqlClient } from "effect/sql/SqlClient"
import type { Fragment } from "effect/sql/Statement"
import { nullable } from "./Rows.ts"

/** Returns the SQL type of a column by its field's type; ignores null. */
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

/** Column name, and member name on the wire, of a field. */
export type SnakeCase<Field> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Field

type TypeOf<Value> = Value extends string ? "text" : Value extends boolean ? "boolean" : Value extends bigint ? "bigint"
: Value extends number ? "integer"
: "timestamptz"

/** SQL column declarations by field. Non-null columns have a default, for rows older than the column. */
export type Columns<Row> = {
  readonly [Field in keyof Row]: `${SnakeCase<Field> & string} ${null extends Row[Field] ?
    TypeOf<NonNullable<Row[Field]>>
    : `${TypeOf<Row[Field]>} NOT NULL DEFAULT ${string}`}`
}

interface Column {
  /** Field of the row. */
  readonly field: string
  readonly name: string
  readonly type: string
  readonly isArray: boolean
}

/** Returns the SQL type of the parameter for the column. */
const givenType = ({ isArray, type }: Column) => isArray ? "text" : type

const givenOf = ({ field }: Column, row: object): unknown => {
  const value: unknown = Reflect.get(row, field)
  return Array.isArray(value) ? `{${value.join()}}` : value
}

const template = (pieces: ReadonlyArray<string>): TemplateStringsArray => Object.assign([...pieces], { raw: pieces })

/**
 * Maps a schema to a table's columns: each field is a column of that name in snake_case. Call it once for each schema.
 */
export const columnsOf = <Fields extends Schema.Struct.Fields>(row: Schema.Struct<Fields>) => {
  type Row = Schema.Struct<Fields>["Type"]
  const columns = Object.entries(row.fields).map(([field, { ast }]): Column => {
    const type = typeOf(ast)
    return { field, name: String.camelToSnake(field), type, isArray: type.endsWith("[]") }
  })
  const names = columns.map(({ name }) => name).join(", ")
  // One SQL template with a parameter for each column, as if written by hand: assembling fragments on each call costs
  // microseconds each.
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
    /** Returns the column list, qualified by `alias` if given. */
    list: (sql: SqlClient, alias?: string): Fragment =>
      sql.literal(alias === undefined ? names : columns.map(({ name }) => `${alias}.${name}`).join(", ")),
    /**
     * Returns a FROM item of the rows with their `place` from 1. Arrays are passed as texts: Postgres has no arrays of
     * arrays of different lengths.
     */
    fromRows: (sql: SqlClient, rows: ReadonlyArray<Row>): Fragment => {
      const [row, ...others] = rows
      return row !== undefined && others.length === 0
        ? sql(one, ...columns.map((column) => givenOf(column, row)))
        : sql(many, ...columns.map((column) => nullable(rows.map((each) => givenOf(column, each)))))
    },
    /**
     * Returns the column list and the values of rows `given` under `alias`; `instead` replaces some values by
     * expressions.
     */
    columnsAndValues: (sql: SqlClient, alias: string, instead: { readonly [Field in keyof Fields]?: Fragment }) => {
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
    /** Returns the assignments of a SET clause: values, or SQL expressions. */
    setClause: (sql: SqlClient, values: { readonly [Field in keyof Row]?: Row[Field] | Fragment }): Fragment =>
      sql.csv(
        columns.filter(({ field }) => field in values).map(({ field, name, type }) =>
          sql`${sql.literal(name)} = ${Reflect.get(values, field)}::${sql.literal(type)}`
        )
      )
  }
}
