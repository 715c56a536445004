import type { Backend } from "./Backend.ts"
import { type Backends, moment } from "./Backends.ts"
import type { Dice } from "./Seeded.ts"
import { type Connection, type SocketFault, Sockets, writes } from "./Sockets.ts"
import type { VirtualTime } from "./VirtualTime.ts"
import * as Wire from "./Wire.ts"

/**
 * Maximum delay before a statement reaches Postgres, in milliseconds. Longer for writes, so that their locks are held.
 */
const delayMillisMax = { reads: 4, writes: 20 }
/** Timeout of a session that is idle in a transaction, in milliseconds, as in the product's configuration. */
const idleMillisMax = 5_000

interface Served extends Connection {
  backend: Backend | undefined
}

interface Job {
  readonly connection: Served
  readonly chunk: Buffer
  /** The rewritten request for its session; undefined before it has a session. */
  readonly request: Wire.Request | undefined
  readonly responded: () => void
}

/** Current work of a session; the response is set once it arrives. */
interface Flight {
  readonly backend: Backend
  readonly job: Job
  readonly text: string
  readonly socketFault: SocketFault | undefined
  response: Buffer | undefined
}

/**
 * Postgres with many connections of many machines, each a real Postgres session. One statement runs at a time, drawn
 * from the seed, until it gets a response or waits for another's lock. Statements that it unblocks also run. So the
 * seed decides how transactions overlap, except for decisions of Postgres.
 */
export class Overlap extends Sockets<Served> {
  /** Called with the statement that Postgres aborted to resolve a deadlock. */
  deadlock: (text: string) => void = () => {}
  /** Called when a statement has to wait for a lock. */
  waits: () => void = () => {}
  private current: Promise<void> | undefined
  private readonly jobs: Array<Job> = []
  private readonly flights: Array<Flight> = []
  private readonly backends: Backends
  private readonly dice: Dice

  constructor(backends: Backends, time: VirtualTime, dice: Dice) {
    super(time)
    this.backends = backends
    this.dice = dice
  }

  get busy() {
    return this.current !== undefined
  }
  override get progress() {
    return this.current
  }
  protected opened(connection: Connection) {
    return { ...connection, backend: undefined }
  }

  protected take(connection: Served, chunk: Buffer, responded: () => void) {
    const request = connection.backend?.statements.rewrite(connection.statements, chunk)
    const delay = delayMillisMax[request?.texts.some(writes) === true ? "writes" : "reads"]
    this.time.after(this.dice.between(0, delay), () => this.enter({ connection, chunk, request, responded }))
  }

  private enter(job: Job) {
    this.jobs.push(job)
    this.time.soon(this.pump)
  }

  /** A client that disconnects loses its transaction: at once, or after the response to its last request. */
  protected left(connection: Served) {
    const { backend } = connection
    if (backend !== undefined && !this.flights.some((flight) => flight.backend === backend)) this.leave(connection)
  }

  private leave(connection: Served) {
    const { backend } = connection
    if (backend === undefined) return
    if (backend.inside) {
      const chunk = Wire.simpleQuery("ROLLBACK")
      return this.enter({
        connection,
        chunk,
        request: { chunk, texts: ["ROLLBACK"], confirm: () => {} },
        responded: () => {}
      })
    }
    connection.backend = undefined
    this.backends.give(backend)
  }

  private readonly pump = () => {
    if (this.current !== undefined || this.jobs.length === 0) return
    const job = this.dice.pick(this.jobs)
    this.jobs.splice(this.jobs.indexOf(job), 1)
    this.current = this.handle(job).catch((cause: unknown) => {
      this.time.stuck = `the database failed: ${String(cause)}`
    }).finally(() => {
      this.current = undefined
      this.time.soon(this.pump)
    })
  }

  private async handle(job: Job) {
    const { responded, chunk, connection, request } = job
    const { machine } = connection
    if (connection.backend === undefined || request === undefined) {
      if (connection.closed) return
      const backend = connection.backend = await this.backends.take()
      return machine.soon(() => {
        if (!connection.closed) connection.duplex.push(backend.greeting)
        responded()
      })
    }
    const { backend } = connection
    const text = request.texts.join("; ")
    if (writes(text)) connection.wrote = true
    const socketFault = this.record(connection, chunk, text, !connection.closed)
    if (socketFault?.side === "before" && this.applyFault(connection, socketFault)) return
    const flight: Flight = { backend, job, text, socketFault, response: undefined }
    this.flights.push(flight)
    const response = backend.send(request.chunk, Wire.readyCount(chunk)).then((given) => void (flight.response = given))
    await this.settle(response)
    if (flight.response === undefined) this.waits()
    for (const over of this.flights.filter(({ response }) => response !== undefined)) this.finish(over)
  }

  /** Waits until every session has a response, or waits for the lock of a session that has one. */
  private async settle(response: Promise<void>) {
    await Promise.race([response, moment()])
    for (;;) {
      const flying = this.flights.filter(({ response }) => response === undefined)
      if (flying.length === 0) return
      const waiting = await this.backends.waiting()
      const still = flying.filter(({ response }) => response === undefined)
      const held = (pid: number, seen: ReadonlySet<number>): boolean =>
        !seen.has(pid) &&
        (waiting.get(pid)?.every((by) => !waiting.has(by) || held(by, new Set([...seen, pid]))) ?? false)
      if (still.length === flying.length && still.every(({ backend }) => held(backend.pid, new Set()))) return
      await moment()
    }
  }

  private finish(flight: Flight) {
    const { response, backend, job: { responded, connection, request }, socketFault, text } = flight
    if (response === undefined) return
    const { duplex, machine } = connection
    this.flights.splice(this.flights.indexOf(flight), 1)
    this.trace.update(Wire.comparable(response))
    const error = Wire.errorOf(response)
    if (error === undefined) request?.confirm()
    if (error?.code === "40P01") this.deadlock(`${machine.name}: ${text.replaceAll(/\s+/g, " ").slice(0, 200)}`)
    connection.inside = backend.inside
    if (!backend.inside) connection.wrote = false
    if (connection.closed) return this.leave(connection)
    if (socketFault?.side === "after" && this.applyFault(connection, socketFault)) return
    machine.soon(() => {
      if (!connection.closed) duplex.push(response)
      responded()
    })
    if (!machine.isFrozen || !backend.inside) return
    this.time.after(idleMillisMax, () => {
      if (machine.isFrozen && backend.inside && connection.backend === backend) this.cut(connection)
    })
  }
}
