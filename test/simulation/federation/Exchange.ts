/** One request of a server to another as it reaches that. */
export interface Incoming {
  readonly from: string
  readonly method: "GET" | "POST"
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A request and what became of it; times in milliseconds since 1970. */
export interface Exchange extends Incoming {
  readonly to: string
  readonly askedAt: number
  /** The body as text, and its hash. */
  readonly text: string
  /** What the other server answered each time that it came there, in order; there may be copies. */
  readonly answers: Array<{ readonly status: number; readonly at: number; readonly text: string }>
  /** When the sender heard that it was taken; undefined where it did not. */
  takenAt: number | undefined
}

/** What the network does to one request. */
export type Fate =
  /** It gets lost, in silence or so that the sender knows. */
  | { readonly _tag: "Lost"; readonly silent: boolean }
  /** It is done, but the answer gets lost. */
  | { readonly _tag: "Unheard"; readonly silent: boolean }
  /** It comes once more, so many milliseconds after it came. */
  | { readonly _tag: "Twice"; readonly millis: number }
  /** It is on its way for so many milliseconds. */
  | { readonly _tag: "Late"; readonly millis: number }
  /** Something in front of the server takes it at once and brings it so many milliseconds later: in no order. */
  | { readonly _tag: "Queued"; readonly millis: number }
