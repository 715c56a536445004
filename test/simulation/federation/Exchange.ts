/** A request between servers, as received. */
export interface Incoming {
  readonly from: string
  readonly method: "GET" | "POST"
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** A request and its result; times in milliseconds since 1970. */
export interface Exchange extends Incoming {
  readonly to: string
  readonly askedAt: number
  /** Body as text, and its hash. */
  readonly text: string
  /** Response to each arrival, in order; a request may arrive in copies. */
  readonly responses: Array<{ readonly status: number; readonly at: number; readonly text: string }>
  /** Time at which the sender learned of the acceptance; undefined if it did not. */
  takenAt: number | undefined
}

/** Network fault of a request. */
export type NetworkFault =
  /** Lost, silently or with an error to the sender. */
  | { readonly _tag: "RequestLost"; readonly silent: boolean }
  /** Handled, but the response is lost. */
  | { readonly _tag: "ResponseLost"; readonly silent: boolean }
  /** Arrives a second time after `millis`. */
  | { readonly _tag: "Duplicated"; readonly millis: number }
  /** Delayed by `millis`. */
  | { readonly _tag: "Delayed"; readonly millis: number }
  /** Accepted at once by a proxy, which forwards it after `millis`, in any order. */
  | { readonly _tag: "Queued"; readonly millis: number }
