import type { PGlite } from "@electric-sql/pglite"
import * as Globals from "./Globals.ts"
import { Snapshot } from "./Snapshot.ts"
import * as Wire from "./Wire.ts"

/** Statements that are prepared, at most: each takes about 150 kB of Postgres' memory, twice. */
const preparedMax = 400

/** A database of a process of simulations: one session, in which each run finds what the first one found. */
export class Database {
  private readonly pglite: PGlite
  /** Statements that are prepared and planned where a run begins, by their texts and the types of what they take. */
  private readonly prepared = new Map<string, string>()
  private latest: Wire.Statements | undefined
  private snapshot: Snapshot | undefined
  private libraries = ""

  constructor(pglite: PGlite) {
    this.pglite = pglite
  }

  /** Postgres' answer, in bytes only: what is asked without a receiver PGlite parses as well, and keeps. */
  ask(chunk: Buffer): Buffer {
    if (chunk[0] === 0) return Buffer.from(this.pglite.execProtocolRawSync(new Uint8Array(chunk)))
    const parts: Array<Buffer> = []
    const onRawData = (part: Uint8Array) => void parts.push(Buffer.from(part))
    // It is done when this returns; the promise only tells of what failed.
    this.pglite.execProtocolRawStream(new Uint8Array(chunk), { syncToFs: false, onRawData }).catch(this.failed)
    return Buffer.concat(parts)
  }

  /** Called with what is wrong with the database itself. */
  failed: (cause: unknown) => void = () => {}

  /** The statements of a run; `change` puts another text in the place of each one's. */
  statements(change?: (text: string) => string) {
    const statements = new Wire.Statements(change, this.prepared)
    this.latest = change === undefined ? statements : undefined
    return statements
  }

  /** Leaves nothing of the run before, but that what it prepared needs no plan any more. */
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

  /** What Postgres has of libraries, which are in this process beside its memory. */
  private loaded() {
    const answer = this.ask(
      Wire.simpleQuery("ROLLBACK; SELECT string_agg(file_name, ' ') FROM pg_get_loaded_modules()")
    )
    return Wire.rows(answer).flat().join()
  }

  private prepare(key: string) {
    const name = `p${this.prepared.size}`
    const described = this.ask(Wire.describing(name, key))
    const answer = this.ask(Wire.binding(name, Wire.parametersOf(described)))
    if (Wire.hasError(described) || Wire.hasError(answer)) throw new Error(`${key}: ${answer.toString("latin1")}`)
    this.prepared.set(key, name)
  }
}
