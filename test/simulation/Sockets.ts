import { createHash } from "node:crypto"
import { Duplex } from "node:stream"
import type { Machine } from "./Machine.ts"
import type { VirtualTime } from "./VirtualTime.ts"
import * as Wire from "./Wire.ts"
import type { Side } from "./World.ts"

/** A message of a client that reaches Postgres. */
export interface Message {
  readonly machine: Machine
  /** It ends a transaction that wrote. */
  readonly commits: boolean
  /** It is a transaction by itself, and writes. */
  readonly writes: boolean
  readonly text: string
}

/** What happens to a message before Postgres works on it, or after that and before the answer is there. */
export interface Mishap {
  readonly side: Side
  readonly act: () => void
  /** The connection ends with it. */
  readonly breaks: boolean
}

/** A connection as the server has it. */
export interface Connection {
  readonly machine: Machine
  readonly duplex: Duplex
  readonly statements: Map<string, { readonly name: string; readonly text: string }>
  closed: boolean
  wrote: boolean
  /** It is in a transaction. */
  inside: boolean
}

/** What a client has of a connection; `answered` lets it send more. */
const socket = (server: {
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

/** Connections of machines with Postgres, which may break or be refused; in what order Postgres works is for those who extend it. */
export abstract class Sockets<Of extends Connection> {
  /** Of everything that was said, for the trace. */
  readonly trace = createHash("sha1")
  mishap: (message: Message) => Mishap | undefined = () => undefined
  protected readonly time: VirtualTime
  private readonly connections = new Set<Of>()
  private refusing = false

  constructor(time: VirtualTime) {
    this.time = time
  }

  /** It works on something at the moment; `progress` ends when that is over, where it is not known otherwise. */
  abstract get busy(): boolean
  get progress(): Promise<void> | undefined {
    return undefined
  }
  /** Makes of a connection what is kept of it. */
  protected abstract opened(connection: Connection): Of
  /** Takes what a client sent. */
  protected abstract take(connection: Of, chunk: Buffer, answered: () => void): void
  /** A client went away. */
  protected abstract left(connection: Of): void

  /** New connections are refused. */
  get refuses() {
    return this.refusing
  }

  connect(machine: Machine) {
    return () => {
      const duplex: Duplex = socket({
        receive: (chunk, answered) => this.receive(connection, chunk, answered),
        close: () => this.close(connection)
      })
      const connection = this.opened({
        machine,
        duplex,
        statements: new Map(),
        closed: false,
        wrote: false,
        inside: false
      })
      this.connections.add(connection)
      return duplex
    }
  }

  /** The server ends: every connection of other machines breaks, transactions roll back, and nobody comes in until `resume`. */
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

  private receive(connection: Of, chunk: Buffer, answered: () => void) {
    const purpose = Wire.purposeOf(chunk)
    if (purpose === "work" || (purpose === "start" && !this.refusing)) return this.take(connection, chunk, answered)
    if (purpose === "start") connection.machine.soon(() => connection.duplex.push(Wire.refusal))
    // A request to cancel comes too late here, always, for one statement is worked on at a time.
    if (purpose !== "terminate") this.cut(connection)
    answered()
  }

  private close(connection: Of) {
    if (connection.closed) return
    connection.closed = true
    this.connections.delete(connection)
    this.left(connection)
  }

  protected cut(connection: Of) {
    this.close(connection)
    connection.machine.soon(() => connection.duplex.destroy())
  }

  /** What is said to Postgres goes into the trace; answers whether something befalls it. */
  protected heard({ inside, machine, wrote }: Of, chunk: Buffer, text: string, harmed: boolean): Mishap | undefined {
    this.trace.update(
      `${this.time.now} ${machine.name} ${chunk.toString("latin1").replace(/effect_[0-9a-f]{16}/g, "ps")}`
    )
    if (!harmed) return undefined
    return this.mishap({
      machine,
      commits: text.endsWith("COMMIT") && wrote,
      writes: !inside && writes(text),
      text
    })
  }

  protected harm(connection: Of, { act, breaks }: Mishap) {
    act()
    if (breaks) this.cut(connection)
    return breaks
  }
}

/** A statement that changes something. */
export const writes = (text: string) => /^\s*(INSERT|UPDATE|DELETE|WITH)/.test(text)

/** Postgres as machines reach it. */
export type Sessions = Sockets<Connection>
