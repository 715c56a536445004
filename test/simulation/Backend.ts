import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto"
import { connect, type Socket } from "node:net"
import type { Address } from "../support/PostgresServer.ts"
import * as Wire from "./Wire.ts"

/** Time after which Postgres checks for a deadlock. */
const deadlockTimeout = "5ms"

const codes = { authentication: 0x52, error: 0x45, key: 0x4b, ready: 0x5a, password: 0x70 }

const hmac = (key: Buffer, text: string) => createHmac("sha256", key).update(text).digest()

/** Client side of SCRAM-SHA-256 (RFC 5802). */
const scram = (password: string) => {
  const first = `n=,r=${randomBytes(18).toString("base64")}`
  const initial = Buffer.from(`n,,${first}`)
  const length = Buffer.alloc(4)
  length.writeInt32BE(initial.length)
  return {
    first: Buffer.concat([Buffer.from("SCRAM-SHA-256\0"), length, initial]),
    second: (challenge: string) => {
      const [nonce = "", salt = "", rounds = ""] = challenge.split(",").map((part) => part.slice(2))
      const salted = pbkdf2Sync(password, Buffer.from(salt, "base64"), Number(rounds), 32, "sha256")
      const last = `c=biws,r=${nonce}`
      const key = hmac(salted, "Client Key")
      const signature = hmac(createHash("sha256").update(key).digest(), `${first},${challenge},${last}`)
      return Buffer.from(`${last},p=${Buffer.from(key.map((byte, at) => byte ^ signature[at]!)).toString("base64")}`)
    }
  }
}

/** A real session with Postgres that handles one request at a time, up to its complete response. */
export class Backend {
  readonly statements: Wire.Statements
  /** Messages that Postgres sends to a new client. */
  greeting: Buffer = Buffer.alloc(0)
  pid = 0
  /** True within a transaction. */
  inside = false
  private readonly socket: Socket
  private received: Buffer = Buffer.alloc(0)
  private read = 0
  private ready = 0
  private wanted = 1
  private resume: ((response: Buffer) => void) | undefined

  private constructor(socket: Socket, change?: (text: string) => string) {
    this.socket = socket
    this.statements = new Wire.Statements(change)
  }

  static async open(address: Address, database: string, change?: (text: string) => string) {
    const socket = connect(address.port, address.host)
    socket.setNoDelay(true)
    await new Promise<void>((resume, fail) => socket.once("connect", resume).once("error", fail))
    const backend = new Backend(socket, change)
    const proof = scram(address.password)
    socket.on("data", (chunk) => backend.take(chunk, proof))
    backend.greeting = await new Promise<Buffer>((resume) => {
      backend.resume = resume
      socket.write(Wire.startup({
        user: address.username,
        database,
        timezone: "UTC",
        ["plan_cache_mode"]: "force_generic_plan",
        jit: "off",
        ["deadlock_timeout"]: deadlockTimeout
      }))
    })
    return backend
  }

  /** Sends bytes and waits for the given number of ReadyForQuery messages. */
  send(chunk: Buffer, ends: number): Promise<Buffer> {
    this.wanted = ends
    return new Promise((resume) => {
      this.resume = resume
      this.socket.write(chunk)
    })
  }

  /** Returns the rows of a statement, columns as text. */
  async query(text: string): Promise<ReadonlyArray<ReadonlyArray<string>>> {
    const response = await this.send(Wire.simpleQuery(text), 1)
    if (Wire.hasError(response)) throw new Error(`${text}: ${response.toString("latin1")}`)
    return Wire.rows(response)
  }

  close() {
    this.socket.destroy()
  }

  private take(chunk: Buffer, proof: ReturnType<typeof scram>) {
    this.received = Buffer.concat([this.received, chunk])
    while (this.read + 5 <= this.received.length) {
      const end = this.read + 1 + this.received.readInt32BE(this.read + 1)
      if (end > this.received.length) return
      const type = this.received[this.read]
      const body = this.received.subarray(this.read + 5, end)
      this.read = end
      if (type === codes.authentication) this.prove(body, proof)
      if (type === codes.key) this.pid = body.readInt32BE(0)
      if (type === codes.ready) {
        this.ready++
        this.inside = body[0] !== 0x49
      }
    }
    if (this.ready < this.wanted) return
    const response = this.received
    this.received = Buffer.alloc(0)
    this.read = this.ready = 0
    this.resume?.(response)
  }

  /** Runs the authentication steps with Postgres; the client only learns that it is connected. */
  private prove(body: Buffer, { first, second }: ReturnType<typeof scram>) {
    const step = body.readInt32BE(0)
    if (step === 10) this.socket.write(Wire.message(codes.password, first))
    if (step === 11) this.socket.write(Wire.message(codes.password, second(body.toString("utf8", 4))))
    if (step !== 0) {
      this.received = this.received.subarray(this.read)
      this.read = 0
    }
  }
}
