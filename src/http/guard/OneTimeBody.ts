import { HttpBody } from "effect/http"
import { markDisposable } from "../../services/runtime/OneTimeChunks.ts"

/**
 * Body whose bytes belong to one response, so that their memory is freed once it is sent. They are made at once,
 * because their length is sent first, and made again if the body is sent again.
 */
export class OneTimeBody extends HttpBody.Uint8Array {
  readonly #make: () => Uint8Array
  #made: Uint8Array | undefined

  constructor(make: () => Uint8Array, contentType: string) {
    const body = make()
    super(undefined, contentType, body.length)
    this.#make = make
    this.#made = body
  }

  override get body(): Uint8Array {
    const bytes = markDisposable(this.#made ?? this.#make())
    this.#made = undefined
    return bytes
  }
}
