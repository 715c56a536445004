import { Effect, Fiber, FiberSet } from "effect"
import { type Account, type Answer, type Node, request } from "./Nodes.ts"

/** What the load asks for: two kinds of writes by the account's actor, one by its service, and two reads. */
export type Kind = "post" | "favourite" | "bookmark" | "home" | "status"

export interface Outcome extends Answer {
  readonly kind: Kind
  /** When it was asked and answered, in milliseconds of `performance.now()`. */
  readonly began: number
  readonly ended: number
}

/** Between two rounds of the load, and before a post that was refused is tried again under its key. */
const roundMillis = 100
const retryMillis = 2_000

const idOf = (body: unknown) => typeof body === "object" && body !== null && "id" in body ? String(body.id) : ""

/**
 * A small load, about 25 requests a second that do not wait for one another: posts, each with a key and tried until it is
 * answered 200, favourites, bookmarks and reads, of all people by turns through all of `nodes`. It is kept up until the
 * scope ends or `stop`, which waits for the last post.
 */
export const startLoad = Effect.fnUntraced(
  function*(name: string, nodes: ReadonlyArray<Node>, people: ReadonlyArray<Account>) {
    const outcomes: Array<Outcome> = []
    /** Ids of the posts that were answered, by their text. */
    const answered = new Map<string, string>()
    const posted: Array<string> = []
    let turn = 0
    const ask = (kind: Kind, person: Account, path: string, options?: Parameters<typeof request>[3]) =>
      Effect.gen(function*() {
        const began = performance.now()
        const answer = yield* request(nodes[turn++ % nodes.length]!, person, path, options)
        outcomes.push({ ...answer, kind, began, ended: performance.now() })
        return answer
      })
    const post = Effect.fnUntraced(function*(person: Account, status: string) {
      while (!answered.has(status)) {
        const answer = yield* ask("post", person, "/api/v1/statuses", { method: "POST", form: { status }, key: status })
        if (answer.status !== 200) {
          yield* Effect.sleep(retryMillis)
          continue
        }
        const id = idOf(answer.body)
        answered.set(status, id)
        posted.push(id)
      }
    })

    const requests = yield* FiberSet.make()
    const posts = yield* FiberSet.make()
    const round = Effect.fnUntraced(function*(n: number) {
      const at = (k: number) => people[(n + k) % people.length]!
      yield* FiberSet.run(posts, post(at(0), `${name} ${n}`))
      yield* FiberSet.run(requests, ask("home", at(1), "/api/v1/timelines/home"))
      const id = posted[Math.max(0, posted.length - 1 - n % 20)]
      if (id === undefined || n % 2 === 0) return
      const path = `/api/v1/statuses/${id}`
      const kind = (["favourite", "bookmark", "status"] as const)[(n >> 1) % 3]!
      yield* FiberSet.run(
        requests,
        kind === "status" ? ask(kind, at(2), path) : ask(kind, at(2), `${path}/${kind}`, { method: "POST" })
      )
    })
    const rounds = yield* Effect.gen(function*() {
      for (let n = 0;; n++) {
        yield* round(n)
        yield* Effect.sleep(roundMillis)
      }
    }).pipe(Effect.forkScoped)

    return {
      outcomes: outcomes as ReadonlyArray<Outcome>,
      answered: answered as ReadonlyMap<string, string>,
      stop: Effect.andThen(
        Fiber.interrupt(rounds),
        Effect.andThen(FiberSet.awaitEmpty(posts), FiberSet.awaitEmpty(requests))
      )
    }
  }
)

export type Load = Effect.Success<ReturnType<typeof startLoad>>

/** Milliseconds that nothing may fail for before everything counts as working again. */
const quietMillis = 3_000

/** Waits until nothing has failed for a while, and answers how long after `since` the last failure was answered. */
export const recovery = (load: Load, since: number): Effect.Effect<number> =>
  Effect.gen(function*() {
    while (true) {
      const last = Math.max(since, ...load.outcomes.filter(({ status }) => status !== 200).map(({ ended }) => ended))
      if (performance.now() - last > quietMillis) return last - since
      yield* Effect.sleep("100 millis")
    }
  })

/** The slowest of some outcomes, and how many of them were slower than 99 of 100, in milliseconds. */
export const slowest = (outcomes: ReadonlyArray<Outcome>) => Math.max(0, ...outcomes.map(({ millis }) => millis))
export const percentile = (outcomes: ReadonlyArray<Outcome>, part: number) =>
  outcomes.map(({ millis }) => millis).sort((a, b) => a - b)[Math.floor((outcomes.length - 1) * part)] ?? 0

/** How many of the outcomes had each status, as text: "200: 31, 503: 12". */
export const tally = (outcomes: ReadonlyArray<Outcome>) => {
  const counts = new Map<number, number>()
  for (const { status } of outcomes) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`).join(", ")
}
