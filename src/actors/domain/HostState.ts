import { requestsPerHostMax } from "../../services/outbound/HostSlots.ts"

/** After so many failures in a row a host is left alone for so many milliseconds (federation.md section 12). */
export const failuresMax = 10
const restMillis = 60_000
/** Deliveries that a round takes for each of the requests that it has under way. */
const rowsPerSlot = 8

/** What an actor has seen of its host since it woke up; small, however much waits. */
export interface HostState {
  readonly host: string
  /** Requests under way at once; grows by one for so many successes, and halves. */
  width: number
  /** Failures since something was taken. */
  failures: number
  /** The host is left alone until then, in milliseconds since 1970. */
  restsUntil: number
  /** The day (since 1970) of the last failure that was noted. */
  failedDay: number
}

// Most hosts get a few deliveries at a time, for which one connection is enough.
export const begin = (host: string): HostState => ({ host, width: 1, failures: 0, restsUntil: 0, failedDay: -1 })

/** After a rest one request finds out whether the host is back. */
const isProbing = ({ failures }: HostState) => failures >= failuresMax

export const slots = (state: HostState): number => isProbing(state) ? 1 : Math.floor(state.width)
export const rows = (state: HostState): number => isProbing(state) ? 1 : slots(state) * rowsPerSlot

export const succeeded = (state: HostState) => {
  state.failures = 0
  state.width = Math.min(requestsPerHostMax, state.width + 1 / state.width)
}

/** The host does not work at `now`. */
export const failed = (state: HostState, now: number) => {
  state.failures++
  state.width = Math.max(1, state.width / 2)
  if (isProbing(state)) rest(state, now + restMillis)
}

export const rest = (state: HostState, until: number) => {
  state.restsUntil = Math.max(state.restsUntil, until)
}
