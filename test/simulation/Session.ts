import { PGlite } from "@electric-sql/pglite"
import { createHash } from "node:crypto"
import { Duplex } from "node:stream"

/** A node as its database sees it. */
export interface Peer {
  readonly name: string
  /** A dead node's SQL is never answered. */
  dead: boolean
  /** Transactions that the node begins before this moment (milliseconds of virtual time) wait until then. */
  frozenUntil: number
  readonly crash: () => void
}

interface Connection {
  closed: boolean
  /** Postgres works on a message of it. */
  working?: boolean
}

/** The message with which a client says goodbye. */
const terminate = 0x58

export type Fault = "before" | "after" | "refuse" | undefined

/**
 * Many connections of many nodes on the one session that PGlite has: whoever is inside a transaction holds it until the
 * server says that it is idle. Every message of a node can be the point at which the node crashes, or be refused.
 */
export class Session {
  readonly trace: Array<string> = []
  /** Messages that Postgres works on at the moment. */
  pending = 0
  now: () => number = () => 0
  onMessage: (peer: Peer, nth: number) => Fault = () => undefined
  private holder: object | undefined
  private waiting: Array<() => void> = []
  private frozen: Array<() => void> = []
  private counts = new Map<string, number>()
  private readonly database: PGlite

  constructor(database: PGlite) {
    this.database = database
  }

  count(name: string) {
    return this.counts.get(name) ?? 0
  }

  /** Lets frozen nodes look at the clock again; the driver calls it after every step of time. */
  thaw() {
    this.frozen.splice(0).forEach((resume) => resume())
  }

  connect(peer: Peer) {
    return () => {
      const connection: Connection = { closed: false }
      const duplex: Duplex = new Duplex({
        read() {},
        write: (chunk: Buffer, _encoding, done) => {
          this.send(peer, connection, chunk).then((answer) => {
            if (answer === undefined || peer.dead) return
            duplex.push(answer)
            done()
          }, done)
        },
        final: (done) => {
          duplex.push(null)
          this.close(connection)
          done()
        },
        destroy: (error, done) => {
          this.close(connection)
          done(error)
        }
      })
      return duplex
    }
  }

  /** The server ends the transaction of a client that goes away; one that waits never begins. */
  private close(connection: Connection) {
    if (connection.closed) return
    connection.closed = true
    if (this.holder === connection && !connection.working) void this.rollBack()
  }

  private async send(peer: Peer, connection: Connection, chunk: Buffer): Promise<Buffer | undefined> {
    while (this.holder !== connection && (this.holder !== undefined || peer.frozenUntil > this.now())) {
      await new Promise<void>((resume) => (this.holder === undefined ? this.frozen : this.waiting).push(resume))
      if (connection.closed) return undefined
    }
    if (chunk[0] === terminate) return undefined
    if (peer.dead) return undefined
    const nth = this.count(peer.name) + 1
    this.counts.set(peer.name, nth)
    const fault = this.onMessage(peer, nth)
    // A refusal comes before a transaction, as from a server that is starting up; inside one the server would be gone.
    if (fault === "refuse" && this.holder === undefined) return refusal(chunk)
    this.holder = connection
    this.trace.push(`${peer.name} ${digest(chunk)}`)
    if (fault === "before") {
      peer.crash()
      await this.rollBack()
      return undefined
    }
    this.pending++
    connection.working = true
    const answer = Buffer.from(await this.database.execProtocolRaw(new Uint8Array(chunk)))
    connection.working = false
    this.pending--
    const idle = answer.at(-6) === 0x5a && answer.at(-1) === 0x49
    if (fault === "after") {
      peer.crash()
      if (idle) this.free()
      else await this.rollBack()
      return undefined
    }
    if (idle || chunk[0] === 0) this.free()
    else if (connection.closed) await this.rollBack()
    return answer
  }

  private free() {
    this.holder = undefined
    this.waiting.splice(0).forEach((resume) => resume())
    this.thaw()
  }

  private async rollBack() {
    this.pending++
    await this.database.execProtocolRaw(new Uint8Array(query("ROLLBACK")))
    this.pending--
    this.free()
  }
}

// sql-pg names prepared statements with a random prefix, which is no part of what happened.
const digest = (chunk: Buffer) =>
  createHash("sha1").update(chunk.toString("latin1").replace(/effect_[0-9a-f]{16}/g, "ps")).digest("hex").slice(0, 8)

const query = (text: string) => {
  const body = Buffer.from(`${text}\0`)
  const message = Buffer.alloc(5)
  message[0] = 0x51
  message.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([message, body])
}

/** ErrorResponse 57P03 (cannot_connect_now), then ReadyForQuery for every Sync and simple query of the chunk. */
const refusal = (chunk: Buffer) => {
  const fields = Buffer.from("SERROR\0VERROR\0C57P03\0Mthe database system is starting up\0\0")
  const error = Buffer.alloc(5)
  error[0] = 0x45
  error.writeInt32BE(fields.length + 4, 1)
  const answers: Array<Buffer> = []
  for (let at = 0; at + 5 <= chunk.length; at += 1 + chunk.readInt32BE(at + 1)) {
    if (chunk[at] !== 0x53 && chunk[at] !== 0x51) continue
    answers.push(error, fields, Buffer.from([0x5a, 0, 0, 0, 5, 0x49]))
  }
  return Buffer.concat(answers)
}
