import type { Dispatcher } from "@effect/platform-node/Undici"
import { Result } from "effect"
import type { Exchanged } from "../../services/outbound/Transport.ts"
import { type Failure, failureOf, joined } from "./Failures.ts"

const nothing = new Uint8Array()

/** Request whose response is read as a whole, or not at all if it is too large. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #url: string
  readonly #bytesMax: number
  readonly #done: (result: Result.Result<Exchanged, Failure>) => void
  #controller: Dispatcher.DispatchController | undefined
  #over = false
  #status = 0
  #retryAfter: string | undefined
  #chunks: Array<Uint8Array> = []
  #bytes = 0

  constructor(url: string, bytesMax: number, done: (result: Result.Result<Exchanged, Failure>) => void) {
    this.#url = url
    this.#bytesMax = bytesMax
    this.#done = done
  }

  /** Ends the request. Returns the response so far; undefined if there is no status yet or it was over. */
  end(): Exchanged | undefined {
    if (this.#over) return undefined
    this.#over = true
    this.#controller?.abort(new Error("given up"))
    return this.#status === 0 ? undefined : this.#exchanged(nothing)
  }

  onRequestStart(controller: Dispatcher.DispatchController) {
    this.#controller = controller
    if (this.#over) controller.abort(new Error("given up"))
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | Array<string> | undefined>
  ) {
    // Responses before the final one (103 and the like) are skipped.
    if (status < 200) return
    this.#status = status
    const { "content-encoding": encoding = "identity", "content-length": length = "0", "retry-after": after } = headers
    this.#retryAfter = after === undefined ? undefined : joined(after)
    if (joined(encoding).toLowerCase() !== "identity" || Number(length) > this.#bytesMax) this.#discardRest(controller)
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer) {
    this.#bytes += chunk.byteLength
    if (this.#bytes > this.#bytesMax) this.#discardRest(controller)
    else this.#chunks.push(chunk)
  }

  onResponseEnd() {
    const body = this.#bytes === 0 ? nothing : Buffer.concat(this.#chunks, this.#bytes)
    this.#finish(Result.succeed(this.#exchanged(body)))
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error) {
    this.#finish(
      this.#status === 0 ? Result.fail(failureOf(this.#url, error)) : Result.succeed(this.#exchanged(nothing))
    )
  }

  /** Ends the request without reading the rest, so the connection cannot be reused. */
  #discardRest(controller: Dispatcher.DispatchController) {
    this.#finish(Result.succeed(this.#exchanged(nothing)))
    controller.abort(new Error("too much"))
  }

  #exchanged(body: Uint8Array): Exchanged {
    return { status: this.#status, retryAfter: this.#retryAfter, body }
  }

  #finish(result: Result.Result<Exchanged, Failure>) {
    if (this.#over) return
    this.#over = true
    this.#done(result)
  }
}
