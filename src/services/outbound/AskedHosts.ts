import { Context, Effect } from "effect"
import type { Unreachable } from "./OutboundError.ts"

/** Decides before each request of some work, redirects included, whether its host may be asked. */
type Admission = (url: URL) => Effect.Effect<void, Unreachable>

/** Admission of the current work; admits every host by default. */
const CurrentAdmission = Context.Reference<Admission>("murmuration/services/outbound/AskedHosts", {
  defaultValue: () => () => Effect.void
})

/** Fails if the current work may not ask this host. */
export const admit: Admission = (url) => Effect.flatMap(CurrentAdmission, (admission) => admission(url))

/** Runs work whose requests pass an admission. */
export const admittedBy = (admission: Admission) => Effect.provideService(CurrentAdmission, admission)
