import { Context, Effect, type Exit, type Fiber, Layer } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"
import { elapsedMillis } from "../../services/runtime/ElapsedMillis.ts"
import * as TimeoutSet from "../../services/runtime/TimeoutSet.ts"
import * as AddressShares from "../guard/AddressShares.ts"
import { Caller } from "../guard/Caller.ts"
import { addressOf } from "../guard/ClientAddresses.ts"
import { withoutSlot } from "../guard/InFlight.ts"
import { plainError } from "../guard/Reply.ts"

/** Maximum declared bytes of a small body. */
const smallBytesMax = 65_536

/**
 * Maximum bodies that arrive concurrently on a node, and per address; their memory is bounded by their size times this.
 * Files are limited per account instead: a crowd that uploads may share one address.
 */
export const bounds = {
  small: { atOnceMax: 2_000, perAddressMax: 128 },
  /** Bodies of up to a megabyte, or of undeclared size. */
  large: { atOnceMax: 128, perAddressMax: 16 },
  /** Files, which are streamed to storage. */
  files: { atOnceMax: 256, perAddressMax: 16 }
} as const satisfies Record<string, AddressShares.Bounds>
type Kind = keyof typeof bounds

/** Maximum time for a body without files to arrive, in milliseconds. */
export const arrivalMillisMax = 20_000
/** Interval at which late bodies are looked for. */
const sweepPeriod = "500 millis"

const close = { connection: "close" }
const busy = plainError(503, "The server is busy, please try again", { ...close, "retry-after": "5" })
const arrivalTimeout = plainError(408, "The request did not arrive in time", close)

type Response = HttpServerResponse.HttpServerResponse

const addressIn = (context: Context.Context<never>): string => {
  const request = Context.getOrUndefined(context, HttpServerRequest.HttpServerRequest)
  return request === undefined ? "unknown" : addressOf(request)
}

/** Returns the sending account, or the address if an application sends for itself. */
const senderOf = (context: Context.Context<never>): string => {
  const account = Context.getOrUndefined(context, Caller)?.viewer
  return account === undefined ? addressIn(context) : `account ${account}`
}

/**
 * Reads bodies within limits. A client that sends slowly, or nothing at all, takes a slot here instead of one of the
 * requests in progress; each sender has a share of the slots, and a deadline. A sender that may not send a body is
 * refused before.
 */
export class BodyReading extends Context.Service<BodyReading, {
  /** Reads the body of the current request, of `bytes` bytes if that is declared. */
  readonly read: <A, E, R>(bytes: number | undefined, body: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Response, R>
  /** Like `read`, for files, whose only deadline is that of the whole request. */
  readonly readFiles: <A, E, R>(body: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Response, R>
}>()("murmuration/http/body/BodyReading") {
  static readonly layer = Layer.effect(
    BodyReading,
    Effect.gen(function*() {
      const shares = {
        small: AddressShares.make(bounds.small),
        large: AddressShares.make(bounds.large),
        files: AddressShares.make(bounds.files)
      }
      const arriving = yield* TimeoutSet.make(arrivalMillisMax, sweepPeriod)

      const timed = Effect.fnUntraced(function*<A, E, R>(body: Effect.Effect<A, E, R>) {
        const since = yield* elapsedMillis
        // Uses one fiber and no timer per body; most bodies have already arrived.
        const fiber: Fiber.Fiber<A, E> = yield* Effect.forkDetach(body, { startImmediately: true })
        const arrived = fiber.pollUnsafe()
        if (arrived !== undefined) return yield* arrived
        return yield* Effect.callback<A, E | Response>((resume) => {
          const one = {
            since,
            giveUp: () => {
              arriving.delete(one)
              // The rest of the body is not awaited; the response closes the connection.
              resume(Effect.fail(arrivalTimeout))
            }
          }
          arriving.add(one)
          fiber.addObserver((exit: Exit.Exit<A, E>) => {
            arriving.delete(one)
            resume(exit)
          })
          return Effect.sync(() => {
            arriving.delete(one)
            fiber.interruptUnsafe()
          })
        })
      })

      const within = <A, E, R>(kind: Kind, body: Effect.Effect<A, E, R>): Effect.Effect<A, E | Response, R> =>
        Effect.contextWith((context: Context.Context<R>) => {
          const sender = kind === "files" ? senderOf(context) : addressIn(context)
          const place: Effect.Effect<A, E | Response, R> = shares[kind].enter(sender) === undefined
            ? Effect.ensuring(withoutSlot(body), Effect.sync(() => shares[kind].leave(sender)))
            : Effect.fail(busy)
          return place
        })

      return BodyReading.of({
        read: (bytes, body) =>
          bytes === 0 ? body : within(bytes !== undefined && bytes <= smallBytesMax ? "small" : "large", timed(body)),
        readFiles: (body) => within("files", body)
      })
    })
  )
}
