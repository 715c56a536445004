import { Effect, Fiber, FiberSet } from "effect"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { hasPage } from "../support/Requests.ts"
import { type Account, type Node, type Reply, request, type RequestOptions } from "./Nodes.ts"

/** Requests of the load: two writes by the account's actor, one by a service, and two reads. */
export type Kind = "post" | "favourite" | "bookmark" | "home" | "status"

export interface Outcome extends Reply {
  readonly kind: Kind
  readonly by: Account
  readonly through: Node
  /** Times of request and response, in milliseconds of `performance.now()`. */
  readonly began: number
  readonly ended: number
}

/** Delay before a refused post is retried under its key, in milliseconds. */
const retryMillis = 1_000

/** Maximum factor by which rounds are further apart on a slow machine: fewer requests would show less. */
const slowedMax = 2

/** Returns the id of the entity in a response body. */
export const idOf = (body: unknown) => typeof body === "object" && body !== null && "id" in body ? String(body.id) : ""

/**
 * Runs a steady load of all people, through the `nodes` in turn. Each round sends requests without waiting: a post with
 * a key, retried until it gets a 200; a home timeline; and every second time a favourite, a bookmark or a status.
 * `nodes` may change during the load. It runs until the scope ends or `stop` is called, which waits for the last post.
 * Rounds are further apart on a slow machine, so that it is not asked for more than it can do.
 */
export const startLoad = Effect.fnUntraced(
  function*(nodes: ReadonlyArray<Node>, people: ReadonlyArray<Account>, roundMillis: number) {
    const outcomes: Array<Outcome> = []
    /** Ids of acknowledged posts by their text. */
    const acknowledged = new Map<string, string>()
    const posted: Array<string> = []
    /** Successful requests other than posts, as "favourite ACCOUNT STATUS". */
    const interactions = new Set<string>()
    const pauseMillis = Math.min(slowedMax * roundMillis, allowedMillis(roundMillis))
    let turn = 0
    const next = () => nodes[turn++ % nodes.length]!
    const ask = Effect.fnUntraced(
      function*(kind: Kind, by: Account, path: string, options: RequestOptions = {}, through: Node = next()) {
        const began = performance.now()
        const response = yield* request(through, by, path, options)
        outcomes.push({ ...response, kind, by, through, began, ended: performance.now() })
        return response
      }
    )
    const post = Effect.fnUntraced(function*(person: Account, status: string, first?: Node) {
      const options = { method: "POST", form: { status }, key: status }
      for (let through = first; !acknowledged.has(status); through = undefined) {
        const response = yield* ask("post", person, "/api/v1/statuses", options, through)
        if (response.status !== 200) {
          yield* Effect.sleep(retryMillis)
          continue
        }
        const id = idOf(response.body)
        acknowledged.set(status, id)
        posted.push(id)
      }
    })

    const requests = yield* FiberSet.make()
    const posts = yield* FiberSet.make()
    const round = Effect.fnUntraced(function*(n: number) {
      const at = (k: number) => people[(n + k) % people.length]!
      yield* FiberSet.run(posts, post(at(0), `post ${n}`))
      yield* FiberSet.run(requests, ask("home", at(1), "/api/v1/timelines/home"))
      const id = posted[Math.max(0, posted.length - 1 - n % 20)]
      if (id === undefined || n % 2 === 0) return
      const path = `/api/v1/statuses/${id}`
      const kind = (["favourite", "bookmark", "status"] as const)[(n >> 1) % 3]!
      if (kind === "status") return yield* FiberSet.run(requests, ask(kind, at(2), path))
      yield* FiberSet.run(
        requests,
        Effect.map(ask(kind, at(2), `${path}/${kind}`, { method: "POST" }), ({ status }) => {
          if (status === 200) interactions.add(`${kind} ${at(2).id} ${id}`)
        })
      )
    })
    const rounds = yield* Effect.gen(function*() {
      for (let n = 0;; n++) {
        yield* round(n)
        yield* Effect.sleep(pauseMillis)
      }
    }).pipe(Effect.forkScoped)

    return {
      outcomes: outcomes as ReadonlyArray<Outcome>,
      acknowledged: acknowledged as ReadonlyMap<string, string>,
      interactions: interactions as ReadonlySet<string>,
      /** Adds a post, which is sent to the given node first, then like the others. */
      post: (person: Account, status: string, first: Node) =>
        Effect.asVoid(FiberSet.run(posts, post(person, status, first))),
      stop: Effect.andThen(
        Fiber.interrupt(rounds),
        Effect.andThen(FiberSet.awaitEmpty(posts), FiberSet.awaitEmpty(requests))
      )
    }
  }
)

export type Load = Effect.Success<ReturnType<typeof startLoad>>

/** Returns true for a success. */
export const succeeded = ({ status }: Outcome) => hasPage(status)

/** Time without failures after which everything counts as recovered, in milliseconds. */
const quietMillis = 3_000

/** Waits until nothing has failed for a while; returns the milliseconds from `since` to the last failure. */
export const recovery = (load: Load, since: number): Effect.Effect<number> =>
  Effect.gen(function*() {
    while (true) {
      const last = Math.max(since, ...load.outcomes.filter((one) => !succeeded(one)).map(({ ended }) => ended))
      if (performance.now() - last > quietMillis) return last - since
      yield* Effect.sleep("100 millis")
    }
  })

/** Returns the slowest response and a percentile of responses, in milliseconds. */
export const slowest = (outcomes: ReadonlyArray<Outcome>) => Math.max(0, ...outcomes.map(({ millis }) => millis))
export const percentile = (outcomes: ReadonlyArray<Outcome>, part: number) =>
  outcomes.map(({ millis }) => millis).sort((a, b) => a - b)[Math.floor((outcomes.length - 1) * part)] ?? 0

/** Counts responses by status, as text: "200: 31, 503: 12". */
export const tally = (outcomes: ReadonlyArray<Outcome>) => {
  const counts = new Map<number, number>()
  for (const { status } of outcomes) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`).join(", ")
}
