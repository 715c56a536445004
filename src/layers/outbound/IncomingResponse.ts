import type { Dispatcher } from "@effect/platform-node/Undici"
import { Effect } from "effect"
import type { TransportResponse } from "../../services/outbound/Transport.ts"
import { type Failure, failureOf, joined } from "./Failures.ts"

/** Buffered bytes of a response from which the connection is paused. */
const waitingBytesMax = 65_536

type Waiting = (effect: Effect.Effect<Uint8Array | undefined, Failure>) => void

/** Streamed response with backpressure. */
export class IncomingResponse implements Dispatcher.DispatchHandler {
  readonly #url: string
  readonly #started: (effect: Effect.Effect<TransportResponse, Failure>) => void
  #controller: Dispatcher.DispatchController | undefined
  #chunks: Array<Uint8Array> = []
  #bytes = 0
  #ended = false
  #failure: Failure | undefined
  #waiting: Waiting | undefined
  #givenUp = false

  constructor(url: string, started: (effect: Effect.Effect<TransportResponse, Failure>) => void) {
    this.#url = url
    this.#started = started
  }

  /** Ends the request. */
  abort() {
    this.#givenUp = true
    if (!this.#ended && this.#failure === undefined) this.#controller?.abort(new Error("given up"))
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#controller = controller
    if (this.#givenUp) controller.abort(new Error("given up"))
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | Array<string> | undefined>
  ) {
    // Responses before the final one (103 and the like) are skipped.
    if (status < 200) return
    const entries = Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, joined(value)]]
    )
    this.#started(Effect.succeed({ status, headers: Object.fromEntries(entries), read: this.#read }))
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer) {
    this.#chunks.push(chunk)
    this.#bytes += chunk.byteLength
    if (this.#bytes > waitingBytesMax) controller.pause()
    this.#resumeReader()
  }

  onResponseEnd() {
    this.#ended = true
    this.#resumeReader()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error) {
    const failure = failureOf(this.#url, error)
    this.#failure = failure
    this.#started(Effect.fail(failure))
    this.#resumeReader()
  }

  #resumeReader() {
    const waiting = this.#waiting
    if (waiting === undefined) return
    this.#waiting = undefined
    waiting(this.#next())
  }

  /** Returns the buffered bytes, the end or the failure; only called when there is one. */
  #next(): Effect.Effect<Uint8Array | undefined, Failure> {
    if (this.#chunks.length > 0) {
      const bytes = Buffer.concat(this.#chunks, this.#bytes)
      this.#chunks = []
      this.#bytes = 0
      if (this.#controller?.paused === true) this.#controller.resume()
      return Effect.succeed(bytes)
    }
    return this.#failure === undefined ? Effect.succeed(undefined) : Effect.fail(this.#failure)
  }

  readonly #read = Effect.callback<Uint8Array | undefined, Failure>((resume) => {
    if (this.#chunks.length > 0 || this.#ended || this.#failure !== undefined) resume(this.#next())
    else this.#waiting = resume
  })
}
