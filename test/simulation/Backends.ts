import type { Address } from "../support/PostgresServer.ts"
import { Backend } from "./Backend.ts"

/** Poll interval for lock waits, in milliseconds of real time. */
const lookMillis = 2

// The real timer; runs replace the global one.
const { setTimeout: later } = globalThis

/** Waits a short real time. */
export const moment = () => new Promise<void>((resume) => later(resume, lookMillis))

/** Sessions of a real Postgres with their own database, and one session that observes lock waits. */
export class Backends {
  private readonly all: Array<Backend> = []
  private readonly taken = new Set<Backend>()
  private readonly observer: Backend
  private readonly address: Address
  private readonly database: string
  change: ((text: string) => string) | undefined

  private constructor(address: Address, database: string, observer: Backend) {
    this.address = address
    this.database = database
    this.observer = observer
  }

  /** Opens sessions with their own database, a copy of `template`. */
  static async open(address: Address, template: string, statement: string) {
    const database = `simulation_${process.pid}`
    const admin = await Backend.open(address, "postgres")
    await admin.query(`DROP DATABASE IF EXISTS ${database}`)
    await admin.query(`CREATE DATABASE ${database} TEMPLATE ${template}`)
    admin.close()
    const observer = await Backend.open(address, database)
    await observer.query(statement)
    return new Backends(address, database, observer)
  }

  /** Removes everything that the last run left; `change` rewrites the text of every statement. */
  async empty(change: ((text: string) => string) | undefined) {
    for (const backend of this.all) backend.close()
    this.all.length = 0
    this.taken.clear()
    this.change = change
    const { observer } = this
    while (
      Number(
        (await observer.query(`SELECT count(*) FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`))[0]?.[0]
      ) > 0
    ) {
      await moment()
    }
    const rows = await observer.query(
      `SELECT quote_ident(relname) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
        AND pg_relation_size(oid) > 0 AND relname NOT IN ('roles', 'effect_sql_migrations') ORDER BY relname`
    )
    if (rows.length > 0) await observer.query(`TRUNCATE ${rows.flat().join(", ")} RESTART IDENTITY CASCADE`)
    await observer.query("ALTER SEQUENCE id_sequence RESTART")
  }

  async take() {
    const free = this.all.find((backend) => !this.taken.has(backend))
    const backend = free ?? await Backend.open(this.address, this.database, this.change)
    if (free === undefined) this.all.push(backend)
    this.taken.add(backend)
    return backend
  }

  give(backend: Backend) {
    this.taken.delete(backend)
  }

  /** Returns the sessions that wait for a lock, with the sessions that hold it. */
  async waiting(): Promise<ReadonlyMap<number, ReadonlyArray<number>>> {
    const rows = await this.observer.query(
      "SELECT pid, array_to_string(pg_blocking_pids(pid), ',') FROM pg_locks WHERE NOT granted"
    )
    return new Map(rows.map(([pid = "", by = ""]) => [Number(pid), by.split(",").map(Number)]))
  }
}
