import { Effect, Schema } from "effect"
import { quoted, type Session } from "./Session.ts"

/** A table with its columns in order, as `name type`. */
export const Table = Schema.Struct({ name: Schema.String, columns: Schema.Array(Schema.String) })
export type Table = typeof Table.Type

/** A sequence and its state. */
export const Sequence = Schema.Struct({ name: Schema.String, lastValue: Schema.String, isCalled: Schema.Boolean })

/**
 * Tables that are not copied: the list of migrations, which the target has itself, and secrets, which may be in files.
 */
const notCopied = ["effect_sql_migrations", "secrets"]

const TableRow = Schema.Tuple([Schema.String, Schema.Array(Schema.String)])
const NameRow = Schema.Tuple([Schema.String])
const StateRow = Schema.Tuple([Schema.String, Schema.Boolean])
const ForeignKeyRow = Schema.Tuple([Schema.String, Schema.String, Schema.String])

/** Returns the tables of the server, sorted by name. */
export const tablesOf = Effect.fnUntraced(function*(session: Session) {
  const found = yield* session.rows(
    TableRow,
    `SELECT c.relname::text,
        array_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum)::text[]
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname <> ALL ($1::text[])
      GROUP BY c.relname ORDER BY c.relname COLLATE "C"`,
    [notCopied]
  )
  return found.map(([name, columns]): Table => ({ name, columns }))
})

/** Returns the columns of a table that a statement may write: all but generated ones. */
export const writableColumns = Effect.fnUntraced(function*(session: Session, table: string) {
  const found = yield* session.rows(
    NameRow,
    `SELECT attname::text FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped
      AND attgenerated = '' ORDER BY attnum`,
    [table]
  )
  return found.map(([name]) => name)
})

/** Returns all sequences with their states. */
export const sequencesOf = Effect.fnUntraced(function*(session: Session) {
  const names = yield* session.rows(
    NameRow,
    `SELECT relname::text FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'S'
      ORDER BY relname`
  )
  return yield* Effect.forEach(
    names,
    ([name]) =>
      Effect.map(
        session.rows(StateRow, `SELECT last_value::text, is_called FROM ${quoted(name)}`),
        ([state]): typeof Sequence.Type => {
          const [lastValue, isCalled] = state ?? ["1", false]
          return { name, lastValue, isCalled }
        }
      )
  )
})

/** Returns the foreign keys: table, name and definition. */
export const foreignKeysOf = (session: Session) =>
  session.rows(
    ForeignKeyRow,
    `SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
      WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY conrelid::regclass::text, conname`
  )

const enabling = { O: "ENABLE TRIGGER", A: "ENABLE ALWAYS TRIGGER", R: "ENABLE REPLICA TRIGGER" } as const
const TriggerRow = Schema.Tuple([Schema.String, Schema.String, Schema.Literals(["O", "A", "R"])])

/** Returns the statements that enable each enabled trigger as it is now. */
export const enablingTriggers = Effect.fnUntraced(function*(session: Session) {
  const found = yield* session.rows(
    TriggerRow,
    `SELECT tgrelid::regclass::text, quote_ident(tgname), tgenabled::text FROM pg_trigger
      JOIN pg_class c ON c.oid = tgrelid
      WHERE NOT tgisinternal AND tgenabled <> 'D' AND c.relnamespace = current_schema()::regnamespace`
  )
  return found.map(([table, name, state]) => `ALTER TABLE ${table} ${enabling[state]} ${name}`)
})

/** Returns the number of the last migration that ran; 0 for an empty database. */
export const migrationOf = Effect.fnUntraced(function*(session: Session) {
  const migrationsTable = yield* session.rows(
    Schema.Tuple([Schema.Boolean]),
    "SELECT to_regclass('effect_sql_migrations') IS NOT NULL"
  )
  if (migrationsTable[0]?.[0] !== true) return 0
  const [row] = yield* session.rows(
    Schema.Tuple([Schema.Int]),
    "SELECT coalesce(max(migration_id), 0)::int FROM effect_sql_migrations"
  )
  return row?.[0] ?? 0
})
