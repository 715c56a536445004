import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { hasPage } from "../../support/Requests.ts"
import type { Person } from "../../support/Server.ts"
import { get, type Reply } from "../Calls.ts"

/** Maximum size of a response, in bytes: a page of 40 posts of 64 kB with their entities. */
export const responseBytesMax = 4 * 1_048_576

/**
 * Asserts that a response is a success, a client error or a 503 with Retry-After, but no other server error, and not
 * too large.
 */
export const assertNoServerError = (
  { headers, status, text }: Pick<Reply, "headers" | "status" | "text">,
  about: string
) => {
  const again = status === 503 && Number(headers.get("retry-after")) > 0
  assert.isTrue(status < 500 || again, `${about}: ${status} ${text.slice(0, 300)}`)
  assert.isAtMost(Buffer.byteLength(text), responseBytesMax, about)
}

/** Checks that normal requests still work. */
export const assertServed = Effect.fnUntraced(function*(by: Person, about: string) {
  for (
    const path of [
      "/api/v1/timelines/public?limit=40",
      "/api/v1/timelines/home?limit=40",
      "/api/v1/notifications?limit=40",
      "/api/v1/accounts/verify_credentials",
      `/@${by.username}`
    ]
  ) {
    const { status, text } = yield* get(path, by)
    assert.isTrue(hasPage(status), `${path} after ${about}: ${status} ${text.slice(0, 300)}`)
    assert.isAtMost(Buffer.byteLength(text), responseBytesMax, `${path} after ${about}`)
  }
})

/** Runs an effect and reports its longest event loop pause, which means nothing on a busy machine. */
export const withPauses = <A, E, R>(work: Effect.Effect<A, E, R>, tell: (message: string) => unknown) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const histogram = monitorEventLoopDelay({ resolution: 5 })
      histogram.enable()
      return histogram
    }),
    () => work,
    (histogram) =>
      Effect.sync(() => {
        histogram.disable()
        tell(`longest pause of the event loop: ${Math.round(histogram.max / 1e6)} ms`)
      })
  )
