import type { Database } from "./Databases.ts"
import * as Globals from "./Globals.ts"
import type { Machine } from "./Machine.ts"
import * as OwnedWrites from "./OwnedWrites.ts"
import type { Dice } from "./Seeded.ts"
import { type Connection, Sockets, writes } from "./Sockets.ts"
import type { VirtualTime } from "./VirtualTime.ts"
import * as Wire from "./Wire.ts"

interface Job {
  readonly connection: Connection
  readonly chunk: Buffer
  readonly responded: () => void
}

/**
 * Many connections of many machines on PGlite's single session. A connection within a transaction holds the session
 * until ReadyForQuery reports idle; the seed draws the next one.
 */
export class Session extends Sockets<Connection> {
  messages = 0
  /** Called when a machine commits an owner's work without checking the owner. */
  unowned: (machine: Machine) => void = () => {}
  private written = OwnedWrites.nothing()
  private holder: Connection | undefined
  private working = false
  private readonly jobs: Array<Job> = []
  private readonly statements: Wire.Statements
  private readonly database: Database
  private readonly dice: Dice

  private readonly delayMillisMax: number

  /** `wayMillisMax` is the maximum delay of a message to the database, in milliseconds. */
  constructor(
    database: Database,
    time: VirtualTime,
    dice: Dice,
    change?: (text: string) => string,
    delayMillisMax = 0
  ) {
    super(time)
    this.delayMillisMax = delayMillisMax
    this.statements = database.statements(change)
    this.database = database
    this.dice = dice
  }

  /** True while Postgres is working. */
  get busy() {
    return this.working
  }

  protected opened(connection: Connection) {
    return connection
  }

  protected take(connection: Connection, chunk: Buffer, responded: () => void) {
    const arrive = () => {
      this.jobs.push({ connection, chunk, responded })
      this.time.soon(this.pump)
    }
    if (this.delayMillisMax === 0) arrive()
    else this.time.after(this.dice.between(0, this.delayMillisMax), arrive)
  }

  /** The server ends the transaction of a client that disconnects; a queued one never starts. */
  protected left(connection: Connection) {
    if (this.holder === connection) this.time.soon(this.pump)
  }

  /** Handles the next message if Postgres is free. Messages that wait for another's transaction are not ready. */
  private readonly pump = () => {
    if (this.working) return
    if (this.holder?.closed === true) return this.work(this.rollBack())
    const ready = this.jobs.filter(({ connection }) =>
      connection.closed || this.holder === undefined || this.holder === connection
    )
    if (ready.length === 0) return
    const job = this.dice.pick(ready)
    this.jobs.splice(this.jobs.indexOf(job), 1)
    if (job.connection.closed) return this.time.soon(this.pump)
    this.work(this.handle(job))
  }

  private work(progress: Promise<void>) {
    this.working = true
    progress.catch(this.failed).finally(() => {
      this.working = false
      this.time.soon(this.pump)
    })
  }

  private readonly failed = (cause: unknown) => {
    this.time.stuck = `the database failed: ${String(cause)}`
  }

  private async handle({ responded, chunk, connection }: Job) {
    const { duplex, machine, statements } = connection
    const request = chunk[0] === 0 ? undefined : this.statements.rewrite(statements, chunk)
    const text = request?.texts.join("; ") ?? "start"
    if (writes(text)) connection.wrote = true
    if (!connection.inside) this.written = OwnedWrites.nothing()
    if (OwnedWrites.isUnowned(this.written, text)) this.unowned(machine)
    this.messages++
    const socketFault = this.record(connection, chunk, text, true)
    if (socketFault?.side === "before" && this.applyFault(connection, socketFault)) return
    this.holder = connection
    // Other tasks of this instant run first, as with a separate server.
    await new Promise<void>((resume) => process.nextTick(resume))
    const response = Globals.withoutTimers(() => this.database.ask(request?.chunk ?? chunk, this.failed))
    this.trace.update(response)
    if (!Wire.hasError(response)) request?.confirm()
    connection.inside = chunk[0] !== 0 && !Wire.endsIdle(response)
    if (!connection.inside) {
      this.holder = undefined
      connection.wrote = false
    }
    if (socketFault?.side === "after" && this.applyFault(connection, socketFault)) return
    machine.soon(() => {
      if (!connection.closed) duplex.push(response)
      responded()
    })
    // The server ends a transaction that its client abandoned; here at once.
    if (machine.isFrozen && this.holder === connection) this.cut(connection)
  }

  private async rollBack() {
    Globals.withoutTimers(() => this.database.ask(Wire.simpleQuery("ROLLBACK"), this.failed))
    this.holder = undefined
  }
}
