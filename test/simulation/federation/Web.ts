import { Effect, Exit, Layer } from "effect"
import { createHash } from "node:crypto"
import { Unreachable } from "../../../src/services/outbound/OutboundError.ts"
import {
  type Exchanged,
  Transport,
  type TransportRequest,
  type TransportResponse
} from "../../../src/services/outbound/Transport.ts"
import type { Machine } from "../Machine.ts"
import type { Dice } from "../Seeded.ts"
import type { VirtualTime } from "../VirtualTime.ts"
import type { Side } from "../World.ts"
import type { Exchange, Incoming, NetworkFault, Reply } from "./Exchange.ts"

/** Maximum milliseconds of a request or response between two servers. */
const delayMillisMax = 300

/** Milliseconds between a proxy's attempts to forward a request. */
const queueMillis = 5_000

interface Server {
  readonly machine: Machine
  readonly reply: (request: Incoming) => Effect.Effect<Reply>
}

interface Pending {
  readonly at: Machine
  readonly broken: () => void
}

/** Outage of a host; `busy` is a proxy's 503 with these seconds in `Retry-After`. */
export type Outage = "refuses" | "silent" | { readonly busy: number }

/** The internet between the servers of a run: plain requests without sockets, TLS and DNS. */
export class Web {
  readonly exchanges: Array<Exchange> = []
  readonly trace = createHash("sha1")
  readonly outages = new Map<string, Outage>()
  /** Maximum additional delay of a host's requests and responses, in milliseconds. */
  readonly slow = new Map<string, number>()
  /** Returns the fault of an outgoing request; undefined for none. */
  networkFault: (exchange: Exchange) => NetworkFault | undefined = () => undefined
  /** Called around a machine's requests and responses; then the returned effect runs. */
  step: (machine: Machine, step: "request" | "response", side: Side) => Effect.Effect<void> = () => Effect.void
  private readonly servers = new Map<string, Server>()
  private readonly pending = new Set<Pending>()
  private readonly open = new Map<number, Machine>()
  private sent = 0
  /** Requests in flight. */
  private inFlight = 0
  private readonly time: VirtualTime
  private readonly dice: Dice

  constructor(time: VirtualTime, dice: Dice) {
    this.time = time
    this.dice = dice
  }

  listen(host: string, server: Server) {
    this.servers.set(host, server)
  }

  /** Makes the machine unreachable; waiting requests fail. */
  disconnect(machine: Machine) {
    for (const [host, server] of this.servers) if (server.machine === machine) this.servers.delete(host)
    for (const waiting of this.pending) if (waiting.at === machine) this.end(waiting)
  }

  /** True while a request is in flight or a response is awaited. */
  get isBusy() {
    if (this.inFlight > 0) return true
    for (const [id, machine] of this.open) {
      if (!machine.dead) return true
      this.open.delete(id)
    }
    return false
  }

  /** Returns a server's transport to others. */
  transport(host: string, machine: Machine) {
    const around = (effect: Effect.Effect<TransportResponse, Unreachable>) =>
      this.step(machine, "request", "before").pipe(
        Effect.andThen(effect),
        Effect.tap(() => this.step(machine, "request", "after"))
      )
    const send = (request: TransportRequest) => around(this.send(host, machine, request))
    return Layer.succeed(Transport, {
      send,
      exchange: (request, _, done) => {
        const fiber = Effect.runForkWith(machine.context)(Effect.result(Effect.flatMap(send(request), exchanged)))
        let ended = false
        fiber.addObserver((exit) => {
          if (!ended && Exit.isSuccess(exit)) done(exit.value)
        })
        return () => {
          ended = true
          fiber.interruptUnsafe()
          return undefined
        }
      }
    })
  }

  private delayTo(host: string) {
    return this.dice.between(1, delayMillisMax) + this.dice.between(0, (this.slow.get(host) ?? 0) + 1)
  }

  private transmit(millis: number, there: () => void) {
    this.inFlight++
    this.time.after(millis, () => {
      this.inFlight--
      there()
    })
  }

  private end(waiting: Pending) {
    if (this.pending.delete(waiting)) waiting.broken()
  }

  private send(from: string, machine: Machine, { body, headers, method, url }: TransportRequest) {
    return Effect.callback<TransportResponse, Unreachable>((ended) => {
      const id = ++this.sent
      this.open.set(id, machine)
      const resume = (end: Effect.Effect<TransportResponse, Unreachable>) => {
        this.open.delete(id)
        ended(end)
      }
      const bytes = body ?? new Uint8Array()
      const exchange: Exchange = {
        from,
        to: url.host,
        method,
        url,
        headers: { ...headers, host: url.host },
        body: bytes,
        text: new TextDecoder().decode(bytes),
        askedAt: this.time.now,
        responses: [],
        takenAt: undefined
      }
      this.exchanges.push(exchange)
      this.note(`${from}>${url.href} ${headers["signature"]} ${exchange.text}`)
      const fails = (reason: "closed" | "connect") =>
        this.time.after(
          this.delayTo(url.host),
          () => machine.soon(() => resume(Effect.fail(new Unreachable({ url: url.href, reason }))))
        )
      const networkFault = this.networkFault(exchange)
      const givenUp = Effect.sync(() => void this.open.delete(id))
      if (networkFault?._tag === "RequestLost") {
        if (!networkFault.silent) fails("closed")
        return givenUp
      }
      const respond = (reply: Reply) =>
        this.time.after(this.delayTo(url.host), () =>
          machine.soon(() => {
            const isTaken = this.open.has(id) && reply.status >= 200 && reply.status < 300
            if (isTaken) exchange.takenAt = this.time.now
            resume(Effect.succeed(received(reply)))
          }))
      if (networkFault?._tag === "Queued") {
        respond(accepted)
        this.forward(exchange, networkFault.millis)
        return givenUp
      }
      const late = networkFault?._tag === "Delayed" ? networkFault.millis : 0
      this.transmit(this.delayTo(url.host) + late, () =>
        this.arrive(exchange, (reply) => {
          if (reply === "lost") return
          if (typeof reply === "string") return fails(reply)
          if (networkFault?._tag === "ResponseLost") return networkFault.silent ? undefined : fails("closed")
          respond(reply)
        }))
      if (networkFault?._tag === "Duplicated") {
        this.transmit(this.delayTo(url.host) + networkFault.millis, () => this.arrive(exchange, () => {}))
      }
      return givenUp
    })
  }

  /** Repeats a request from a proxy until the server accepts or refuses it. */
  private forward(exchange: Exchange, millis: number) {
    this.transmit(millis, () =>
      this.arrive(exchange, (reply) => {
        if (typeof reply === "string" || reply.status === 503) this.forward(exchange, queueMillis)
      }))
  }

  /** Handles an arrival; `then` gets the response, or the way in which the connection ended, or is never called. */
  private arrive(exchange: Exchange, then: (reply: Reply | "closed" | "connect" | "lost") => void) {
    const outage = this.outages.get(exchange.to)
    if (outage === "silent") return then("lost")
    if (typeof outage === "object") {
      return then({ status: 503, headers: { "retry-after": String(outage.busy) }, body: new Uint8Array() })
    }
    const server = this.servers.get(exchange.to)
    if (server === undefined || outage === "refuses") return then("connect")
    const { reply, machine } = server
    const waiting: Pending = { at: machine, broken: () => then("closed") }
    this.pending.add(waiting)
    const responded = ({ body, headers, status }: Reply) =>
      Effect.sync(() => {
        if (!this.pending.delete(waiting)) return
        const text = new TextDecoder().decode(body)
        exchange.responses.push({ status, at: this.time.now, text })
        this.note(`${exchange.to}<${exchange.from} ${exchange.url.pathname} ${status} ${text}`)
        then({ body, headers, status })
      })
    machine.run(
      this.step(machine, "response", "before").pipe(
        Effect.andThen(reply(exchange)),
        Effect.tap(() => this.step(machine, "response", "after")),
        Effect.flatMap(responded),
        Effect.onError(() => Effect.sync(() => this.end(waiting)))
      )
    )
  }

  private note(text: string) {
    this.trace.update(`${this.time.now} ${text}\n`)
  }
}

/** Parts of a response that the exchange records. */
const exchanged = ({ headers, read, status }: TransportResponse) =>
  Effect.map(
    read,
    (body): Exchanged => ({ status, retryAfter: headers["retry-after"], body: body ?? new Uint8Array() })
  )

const accepted: Reply = { status: 202, headers: {}, body: new Uint8Array() }

const received = ({ body, headers, status }: Reply): TransportResponse => {
  let left: Uint8Array | undefined = body
  return {
    status,
    headers,
    read: Effect.sync(() => {
      const chunk = left
      left = undefined
      return chunk
    })
  }
}
