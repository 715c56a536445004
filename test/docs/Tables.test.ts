import { assert, expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { fileURLToPath } from "node:url"
import { TestDatabase } from "../support/TestDatabase.ts"

interface Column {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly defaultValue: string | null
  readonly refersTo: string | null
}

interface Table {
  readonly name: string
  readonly purpose: string | null
  readonly columns: ReadonlyArray<Column>
  readonly indexes: ReadonlyArray<string> | null
}

/** Tables of the schema with their columns, foreign keys and indexes, from Postgres' catalogue. */
const tables = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql<Table>`
    SELECT t.relname AS name, obj_description(t.oid, 'pg_class') AS purpose,
      (SELECT json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod),
          'required', a.attnotnull, 'defaultValue', pg_get_expr(d.adbin, d.adrelid),
          'refersTo', (SELECT k.confrelid::regclass::text FROM pg_constraint k
            WHERE k.conrelid = t.oid AND k.contype = 'f' AND a.attnum = ANY (k.conkey) ORDER BY k.conname LIMIT 1))
          ORDER BY a.attnum)
        FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = t.oid AND d.adnum = a.attnum
        WHERE a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
      (SELECT json_agg(regexp_replace(pg_get_indexdef(i.indexrelid), '^CREATE (?:UNIQUE )?INDEX \\S+ ON \\S+ USING ',
          CASE WHEN i.indisprimary THEN 'primary key ' WHEN i.indisunique THEN 'unique ' ELSE '' END) ORDER BY i.indisprimary DESC, i.indexrelid::regclass::text)
        FROM pg_index i WHERE i.indrelid = t.oid) AS indexes
    FROM pg_class t WHERE t.relkind IN ('r', 'p') AND t.relnamespace = 'public'::regnamespace ORDER BY t.relname`)

const cell = (text: string) => text.replaceAll("|", "\\|")

const sectionOf = ({ columns, indexes, name, purpose }: Table) =>
  `## ${name}

${purpose ?? ""}

| Column | Type | Required | Default | Refers to |
|---|---|---|---|---|
${
    columns.map(({ defaultValue, name: column, refersTo, required, type }) =>
      `| \`${column}\` | ${type} | ${required ? "yes" : ""} | ${
        defaultValue === null ? "" : `\`${cell(defaultValue)}\``
      } | ${refersTo === null ? "" : `[${refersTo}](#${refersTo})`} |`
    ).join("\n")
  }

${(indexes ?? []).map((index) => `- \`${index}\``).join("\n")}
`

layer(TestDatabase.layer, { excludeTestServices: true })("docs/tables.md", (it) => {
  it.effect("equals the output of `npm run docs:tables` for the current schema; every table has a purpose", () =>
    Effect.gen(function*() {
      const found = yield* tables
      assert.deepStrictEqual(found.filter(({ purpose }) => purpose === null).map(({ name }) => name), [])
      const page = `# Tables

Every table of the database, its columns and its indexes. \`npm run docs:tables\` writes this page from the schema after the last migration.
Ids are 64-bit integers that sort by creation time.

${found.map(({ name, purpose }) => `- [${name}](#${name}): ${purpose ?? ""}`).join("\n")}

${found.map(sectionOf).join("\n")}`
      yield* Effect.promise(() =>
        expect(page).toMatchFileSnapshot(fileURLToPath(new URL("../../docs/tables.md", import.meta.url)))
      )
    }))
})
