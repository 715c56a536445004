import { HttpBody } from "effect/http"
import { readOnce } from "../../services/OneTimeChunks.ts"

/**
 * A body whose bytes are those of one response, so that their memory is given back when that is sent. They are made at once, as
 * their number is told first, and anew for a response that is sent again.
 */
export class OneTimeBody extends HttpBody.Uint8Array {
  readonly #make: () => Uint8Array
  #made: Uint8Array | undefined

  constructor(make: () => Uint8Array, contentType: string) {
    const made = make()
    super(undefined, contentType, made.length)
    this.#make = make
    this.#made = made
  }

  override get body(): Uint8Array {
    const bytes = readOnce(this.#made ?? this.#make())
    this.#made = undefined
    return bytes
  }
}
