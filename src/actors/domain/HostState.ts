import { requestsPerHostMax } from "../../services/outbound/HostSlots.ts"

/** Failures in a row after which a host gets no requests for `pauseMillis` (federation.md section 12). */
export const failuresMax = 10
const pauseMillis = 60_000
/** Deliveries claimed per concurrent request. */
const rowsPerSlot = 8

/** In-memory state of a host since its actor started; small, whatever the queue's length. */
export interface HostState {
  readonly host: string
  /** Maximum concurrent requests: grows by one after as many successes, and halves on a failure. */
  width: number
  /** Failures since the last success. */
  failures: number
  /** No requests before this time, in milliseconds since 1970. */
  pausedUntil: number
  /** Day (since 1970) of the last failure that was stored. */
  failedDay: number
}

// Starts with one connection, which is enough for most hosts.
export const begin = (host: string): HostState => ({ host, width: 1, failures: 0, pausedUntil: 0, failedDay: -1 })

/** After a pause a single request probes whether the host works again. */
const isProbing = ({ failures }: HostState) => failures >= failuresMax

export const slots = (state: HostState): number => isProbing(state) ? 1 : Math.floor(state.width)
export const rows = (state: HostState): number => isProbing(state) ? 1 : slots(state) * rowsPerSlot

export const succeeded = (state: HostState) => {
  state.failures = 0
  state.width = Math.min(requestsPerHostMax, state.width + 1 / state.width)
}

/** Records a failure of the host. */
export const failed = (state: HostState, now: number) => {
  state.failures++
  state.width = Math.max(1, state.width / 2)
  if (isProbing(state)) pause(state, now + pauseMillis)
}

export const pause = (state: HostState, until: number) => {
  state.pausedUntil = Math.max(state.pausedUntil, until)
}
