import { Clock, Effect } from "effect"
import { freshMillisMax, FreshSignIn } from "../../services/identity/FreshSignIn.ts"
import type { Session } from "../../services/identity/Sessions.ts"

/** Runs the work of a form in its session, which may have begun just now (`FreshSignIn`). */
export const inSession = <A, E, R>({ startedAt }: Session, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(
    Clock.currentTimeMillis,
    (now) => Effect.provideService(work, FreshSignIn, now - startedAt.getTime() < freshMillisMax)
  )
