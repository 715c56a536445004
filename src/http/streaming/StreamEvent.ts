const encoder = new TextEncoder()

/**
 * An event, encoded at most once per `stream` label: all recipients of the same bytes share one array. `payload` is a
 * string, for entities their JSON; undefined for an event without one.
 */
export class StreamEvent {
  readonly event: string
  readonly payload: string | undefined
  readonly #messages = new Map<string, Uint8Array>()
  #quoted: string | undefined
  #serverSent: Uint8Array | undefined

  constructor(event: string, payload: string | undefined) {
    this.event = event
    this.payload = payload
  }

  /** Returns the text message for a WebSocket; `label` is the JSON of the channel's name and parameter. */
  message(label: string): Uint8Array {
    const known = this.#messages.get(label)
    if (known !== undefined) return known
    const payload = this.payload === undefined ? "" : `,"payload":${this.#quoted ??= JSON.stringify(this.payload)}`
    const encoded = encoder.encode(`{"stream":${label},"event":${JSON.stringify(this.event)}${payload}}`)
    this.#messages.set(label, encoded)
    return encoded
  }

  /**
   * The server-sent event. Browsers drop events without data, so one without a payload says `undefined`, as in
   * Mastodon.
   */
  get serverSent(): Uint8Array {
    return this.#serverSent ??= encoder.encode(`event: ${this.event}\ndata: ${this.payload}\n\n`)
  }
}
