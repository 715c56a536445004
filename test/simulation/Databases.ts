import type { PGlite } from "@electric-sql/pglite"
import * as Globals from "./Globals.ts"
import { Snapshot } from "./Snapshot.ts"
import * as Wire from "./Wire.ts"

/** Maximum number of prepared statements: each takes about 150 kB of Postgres' memory, twice. */
const preparedMax = 400

/** Database of a simulation process. It has one session, which starts each run in the same state. */
export class Database {
  private readonly pglite: PGlite
  /** Statements that are prepared and planned before a run, by text and parameter types. */
  private readonly prepared = new Map<string, string>()
  private latest: Wire.Statements | undefined
  private snapshot: Snapshot | undefined
  private libraries = ""

  constructor(pglite: PGlite) {
    this.pglite = pglite
  }

  /**
   * Returns Postgres's response as raw bytes: without a receiver, PGlite would also parse and keep it. Calls `failed` if
   * the database itself fails.
   */
  ask(chunk: Buffer, failed: (cause: unknown) => void = () => {}): Buffer {
    if (chunk[0] === 0) return Buffer.from(this.pglite.execProtocolRawSync(new Uint8Array(chunk)))
    const parts: Array<Buffer> = []
    const onRawData = (part: Uint8Array) => void parts.push(Buffer.from(part))
    // Completes synchronously; the promise only reports failures.
    this.pglite.execProtocolRawStream(new Uint8Array(chunk), { syncToFs: false, onRawData }).catch(failed)
    return Buffer.concat(parts)
  }

  /** Returns the statements of a run; `change` rewrites the text of each. */
  statements(change?: (text: string) => string) {
    const statements = new Wire.Statements(change, this.prepared)
    this.latest = change === undefined ? statements : undefined
    return statements
  }

  /** Removes everything that the last run left, but keeps the plans of its prepared statements. */
  empty() {
    Globals.withoutTimers(() => {
      const { snapshot } = this
      const unknown = [...this.latest?.keys ?? []].filter((key) => !this.prepared.has(key))
      const fresh = snapshot === undefined ? [] : unknown.slice(0, preparedMax - this.prepared.size)
      this.latest = undefined
      if (snapshot === undefined) {
        this.snapshot = new Snapshot(this.pglite)
        this.libraries = this.loaded()
        return
      }
      const libraries = this.loaded()
      if (libraries !== this.libraries) throw new Error(`a run loads one of ${libraries}, which has to be there before`)
      snapshot.restore()
      for (const key of fresh) this.prepare(key)
      if (fresh.length > 0) snapshot.take()
    })
  }

  /** Returns the libraries that Postgres has loaded, which are in this process but outside Postgres's memory. */
  private loaded() {
    const response = this.ask(
      Wire.simpleQuery("ROLLBACK; SELECT string_agg(file_name, ' ') FROM pg_get_loaded_modules()")
    )
    return Wire.rows(response).flat().join()
  }

  private prepare(key: string) {
    const name = `p${this.prepared.size}`
    const described = this.ask(Wire.describing(name, key))
    const response = this.ask(Wire.binding(name, Wire.parametersOf(described)))
    if (Wire.hasError(described) || Wire.hasError(response)) throw new Error(`${key}: ${response.toString("latin1")}`)
    this.prepared.set(key, name)
  }
}
