import { Connection, type Request } from "./Connection.ts"
import { Streams } from "./Streams.ts"

/* Load generator in a process of its own, so that its CPU time is not the server's. */

/** Jobs of the generator, one at a time, and their results. */
export type Job =
  | {
    readonly kind: "requests"
    readonly port: number
    readonly connections: number
    readonly requests: ReadonlyArray<Request>
    /** Ends after this many milliseconds or this many requests. */
    readonly millis?: number
    readonly count?: number
  }
  | { readonly kind: "listen"; readonly port: number; readonly tokens: ReadonlyArray<string> }
  | {
    readonly kind: "events"
    readonly port: number
    readonly token: string
    readonly posts: number
    readonly pause: number
    readonly latencyMax: number
  }
  | { readonly kind: "close streams" }

export interface Load {
  readonly done: number
  readonly millis: number
  /** Number of responses by status. */
  readonly statuses: Readonly<Record<string, number>>
}

const streams = new Streams()
/** Connections by port, kept open between loads. */
const opened = new Map<number, Array<Connection>>()
let sent = 0
let number = 0

const connectionsTo = (port: number, count: number): ReadonlyArray<Connection> => {
  const open = (opened.get(port) ?? []).filter(({ closed }) => !closed)
  while (open.length < count) open.push(new Connection(port))
  opened.set(port, open)
  return open.slice(0, count)
}

const requests = async (job: Extract<Job, { readonly kind: "requests" }>): Promise<Load> => {
  const connections = connectionsTo(job.port, job.connections)
  const statuses: Record<string, number> = {}
  const began = performance.now()
  const end = began + (job.millis ?? Number.POSITIVE_INFINITY)
  let left = job.count ?? Number.POSITIVE_INFINITY
  let done = 0
  await Promise.all(connections.map(async (connection) => {
    while (left-- > 0 && performance.now() < end) {
      const request = job.requests[sent++ % job.requests.length]!
      const body = request.body?.replace("{n}", `${process.pid}-${number++}`)
      const status = await connection.send(body === undefined ? request : { ...request, body })
      statuses[status] = (statuses[status] ?? 0) + 1
      done++
      if (status === 0) return
    }
  }))
  return { done, millis: performance.now() - began, statuses }
}

const work = async (job: Job): Promise<unknown> => {
  switch (job.kind) {
    case "requests":
      return requests(job)
    case "listen":
      return streams.open(job.port, job.tokens)
    case "events":
      return streams.events(job.port, job.token, job.posts, job.pause, job.latencyMax)
    case "close streams":
      return streams.close()
  }
}

process.on("message", (job: Job) => {
  work(job).then(
    (reply) => process.send?.({ reply }),
    (error: unknown) => process.send?.({ error: String(error) })
  )
})
