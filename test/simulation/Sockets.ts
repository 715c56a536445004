import { createHash } from "node:crypto"
import { Duplex } from "node:stream"
import type { Machine } from "./Machine.ts"
import type { VirtualTime } from "./VirtualTime.ts"
import * as Wire from "./Wire.ts"
import type { Side } from "./World.ts"

/** A client message that reaches Postgres. */
export interface Message {
  readonly machine: Machine
  /** True if the message ends a transaction that wrote. */
  readonly commits: boolean
  /** True if the message is a transaction by itself, and writes. */
  readonly writes: boolean
  readonly text: string
}

/** Fault of a message, before Postgres handles it or between that and the response. */
export interface SocketFault {
  readonly side: Side
  readonly act: () => void
  /** True if the connection breaks too. */
  readonly breaks: boolean
}

/** Server side of a connection. */
export interface Connection {
  readonly machine: Machine
  readonly duplex: Duplex
  readonly statements: Map<string, { readonly name: string; readonly text: string }>
  closed: boolean
  wrote: boolean
  /** True within a transaction. */
  inside: boolean
}

/** Makes the client side of a connection; `answered` lets it send more. */
const socket = (server: {
  readonly receive: (chunk: Buffer, responded: () => void) => void
  readonly close: () => void
}): Duplex =>
  new Duplex({
    read() {},
    write: (chunk: Buffer, _encoding, responded) => server.receive(chunk, responded),
    final: (done) => {
      server.close()
      done()
    },
    destroy: (error, done) => {
      server.close()
      done(error)
    }
  })

/** Connections of machines to Postgres, which may break or be refused. Subclasses order Postgres's work. */
export abstract class Sockets<Of extends Connection> {
  /** Hash of all messages, for the trace. */
  readonly trace = createHash("sha1")
  socketFault: (message: Message) => SocketFault | undefined = () => undefined
  protected readonly time: VirtualTime
  private readonly connections = new Set<Of>()
  private refusing = false

  constructor(time: VirtualTime) {
    this.time = time
  }

  /** True while Postgres is working; `progress` completes when that ends, if there is no other way to find out. */
  abstract get busy(): boolean
  get progress(): Promise<void> | undefined {
    return undefined
  }
  /** Creates the state kept for a connection. */
  protected abstract opened(connection: Connection): Of
  /** Handles bytes that a client sent. */
  protected abstract take(connection: Of, chunk: Buffer, responded: () => void): void
  /** Called when a client disconnects. */
  protected abstract left(connection: Of): void

  /** True while new connections are refused. */
  get refuses() {
    return this.refusing
  }

  connect(machine: Machine) {
    return () => {
      const duplex: Duplex = socket({
        receive: (chunk, responded) => this.receive(connection, chunk, responded),
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

  /**
   * Stops the server: breaks every connection of other machines, rolls back transactions, and refuses connections until
   * `resume`.
   */
  refuse(except: Machine) {
    this.refusing = true
    for (const connection of this.connections) if (connection.machine !== except) this.cut(connection)
  }
  resume() {
    this.refusing = false
  }

  /** Closes the connections of a dead machine, as the operating system does. */
  release(machine: Machine) {
    for (const connection of this.connections) if (connection.machine === machine) this.close(connection)
  }

  private receive(connection: Of, chunk: Buffer, responded: () => void) {
    const purpose = Wire.purposeOf(chunk)
    if (purpose === "work" || (purpose === "start" && !this.refusing)) return this.take(connection, chunk, responded)
    if (purpose === "start") connection.machine.soon(() => connection.duplex.push(Wire.refusal))
    // A cancel request is always too late here, as one statement runs at a time.
    if (purpose !== "terminate") this.cut(connection)
    responded()
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

  /** Adds a message to the trace; returns its fault, if any. */
  protected record(
    { inside, machine, wrote }: Of,
    chunk: Buffer,
    text: string,
    mayFail: boolean
  ): SocketFault | undefined {
    this.trace.update(
      `${this.time.now} ${machine.name} ${chunk.toString("latin1").replace(/effect_[0-9a-f]{16}/g, "ps")}`
    )
    if (!mayFail) return undefined
    return this.socketFault({
      machine,
      commits: text.endsWith("COMMIT") && wrote,
      writes: !inside && writes(text),
      text
    })
  }

  protected applyFault(connection: Of, { act, breaks }: SocketFault) {
    act()
    if (breaks) this.cut(connection)
    return breaks
  }
}

/** Returns true for a statement that writes. */
export const writes = (text: string) => /^\s*(INSERT|UPDATE|DELETE|WITH)/.test(text)

/** Postgres as machines see it. */
export type Sessions = Sockets<Connection>
