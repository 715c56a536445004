import type { PGlite } from "@electric-sql/pglite"
import { createHash, type Hash } from "node:crypto"
import { Duplex } from "node:stream"
import type { Machine } from "./Machine.ts"
import type { Dice } from "./Seeded.ts"
import type { VirtualTime } from "./VirtualTime.ts"
import * as Wire from "./Wire.ts"
import type { Side } from "./World.ts"

/** A message of a client that reaches Postgres. */
export interface Message {
  readonly machine: Machine
  /** It ends a transaction that wrote. */
  readonly commits: boolean
  readonly text: string
}

/** What happens to a message before Postgres works on it, or after that and before the answer is there. */
export interface Mishap {
  readonly side: Side
  readonly act: () => void
  /** The connection ends with it. */
  readonly breaks: boolean
}

/** Postgres as machines reach it. */
export interface Sessions {
  /** Of everything that was said, for the trace. */
  readonly trace: Hash
  /** It works on something at the moment; `progress` ends when that is over, where it is not known otherwise. */
  readonly busy: boolean
  readonly progress?: Promise<void> | undefined
  /** New connections are refused. */
  readonly refuses: boolean
  mishap: (message: Message) => Mishap | undefined
  readonly connect: (machine: Machine) => () => Duplex
  /** The server ends: every connection of other machines breaks, transactions roll back, and nobody comes in until `resume`. */
  readonly refuse: (except: Machine) => void
  readonly resume: () => void
  /** Connections of a machine that is dead end as the operating system ends them. */
  readonly release: (machine: Machine) => void
}

/** What a client has of a connection; `answered` lets it send more. */
export const socket = (server: {
  readonly receive: (chunk: Buffer, answered: () => void) => void
  readonly close: () => void
}): Duplex =>
  new Duplex({
    read() {},
    write: (chunk: Buffer, _encoding, answered) => server.receive(chunk, answered),
    final: (done) => {
      server.close()
      done()
    },
    destroy: (error, done) => {
      server.close()
      done(error)
    }
  })

interface Connection {
  readonly machine: Machine
  readonly duplex: Duplex
  readonly statements: Map<string, { readonly name: string; readonly text: string }>
  closed: boolean
  wrote: boolean
}

interface Job {
  readonly connection: Connection
  readonly chunk: Buffer
  readonly answered: () => void
}

/**
 * Postgres with many connections of many machines on the one session that PGlite has: whoever is inside a transaction
 * holds it until the server says that it is idle, and who comes next is drawn from the seed.
 */
export class Session implements Sessions {
  readonly trace = createHash("sha1")
  messages = 0
  /** While it is true, new connections are refused. */
  private refusing = false
  mishap: (message: Message) => Mishap | undefined = () => undefined
  private holder: Connection | undefined
  private working = false
  private readonly jobs: Array<Job> = []
  private readonly connections = new Set<Connection>()
  private readonly statements: Wire.Statements
  private readonly database: PGlite
  private readonly time: VirtualTime
  private readonly dice: Dice

  constructor(database: PGlite, time: VirtualTime, dice: Dice, change?: (text: string) => string) {
    this.statements = new Wire.Statements(change)
    this.database = database
    this.time = time
    this.dice = dice
  }

  /** Postgres works on something at the moment. */
  get busy() {
    return this.working
  }

  get refuses() {
    return this.refusing
  }

  connect(machine: Machine) {
    return () => {
      const duplex: Duplex = socket({
        receive: (chunk, answered) => this.receive(connection, chunk, answered),
        close: () => this.close(connection)
      })
      const connection: Connection = { machine, duplex, statements: new Map(), closed: false, wrote: false }
      this.connections.add(connection)
      return duplex
    }
  }

  /** The server ends: every connection of `machines` breaks, transactions roll back, and nobody comes in until `resume`. */
  refuse(except: Machine) {
    this.refusing = true
    for (const connection of this.connections) if (connection.machine !== except) this.cut(connection)
  }
  resume() {
    this.refusing = false
  }

  /** Connections of a machine that is dead end as the operating system ends them. */
  release(machine: Machine) {
    for (const connection of this.connections) if (connection.machine === machine) this.close(connection)
  }

  private receive(connection: Connection, chunk: Buffer, answered: () => void) {
    const purpose = Wire.purposeOf(chunk)
    if (purpose === "work" || (purpose === "start" && !this.refusing)) {
      this.jobs.push({ connection, chunk, answered })
      return this.time.soon(this.pump)
    }
    if (purpose === "start") connection.machine.soon(() => connection.duplex.push(Wire.refusal))
    // A request to cancel comes too late here, always, for Postgres works on one message at a time.
    if (purpose !== "terminate") this.cut(connection)
    answered()
  }

  /** The server ends the transaction of a client that goes away; one that waits never begins. */
  private close(connection: Connection) {
    if (connection.closed) return
    connection.closed = true
    this.connections.delete(connection)
    if (this.holder === connection) this.time.soon(this.pump)
  }

  private cut(connection: Connection) {
    this.close(connection)
    connection.machine.soon(() => connection.duplex.destroy())
  }

  /** Works on the next message, if Postgres has time; one that waits for somebody's transaction is not pending. */
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
    progress.catch((cause: unknown) => {
      this.time.stuck = `the database failed: ${String(cause)}`
    }).finally(() => {
      this.working = false
      this.time.soon(this.pump)
    })
  }

  private async handle({ answered, chunk, connection }: Job) {
    const { duplex, machine, statements } = connection
    const request = chunk[0] === 0 ? undefined : this.statements.rewrite(statements, chunk)
    const text = request?.texts.join("; ") ?? "start"
    if (/^\s*(INSERT|UPDATE|DELETE|WITH)/.test(text)) connection.wrote = true
    const commits = text.endsWith("COMMIT") && connection.wrote
    this.messages++
    this.trace.update(
      `${this.time.now} ${machine.name} ${chunk.toString("latin1").replace(/effect_[0-9a-f]{16}/g, "ps")}`
    )
    const mishap = this.mishap({ machine, commits, text })
    if (mishap?.side === "before" && this.harm(connection, mishap)) return
    this.holder = connection
    // What else can run at this moment runs first, as with a server of its own.
    await new Promise<void>((resume) => process.nextTick(resume))
    const answer = Buffer.from(this.database.execProtocolRawSync(new Uint8Array(request?.chunk ?? chunk)))
    this.trace.update(answer)
    if (!Wire.hasError(answer)) request?.confirm()
    if (chunk[0] === 0 || Wire.endsIdle(answer)) {
      this.holder = undefined
      connection.wrote = false
    }
    if (mishap?.side === "after" && this.harm(connection, mishap)) return
    machine.soon(() => {
      if (!connection.closed) duplex.push(answer)
      answered()
    })
    // A transaction that nobody goes on with is ended by the server, here at once.
    if (machine.standsStill && this.holder === connection) this.cut(connection)
  }

  private harm(connection: Connection, { act, breaks }: Mishap) {
    act()
    if (breaks) this.cut(connection)
    return breaks
  }

  private async rollBack() {
    await this.database.execProtocolRaw(new Uint8Array(Wire.simpleQuery("ROLLBACK")))
    this.holder = undefined
  }
}
