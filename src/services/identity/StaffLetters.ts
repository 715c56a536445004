import { Context, Effect, Layer, Option } from "effect"
import type { AccountId } from "../Ids.ts"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { Wordings } from "../instance/Wordings.ts"
import { Letters } from "../letters/Letters.ts"
import * as Texts from "../letters/Texts.ts"
import { traced } from "../Traced.ts"
import { Approvals } from "./Approvals.ts"

/** Letters to those who may decide about sign-ups. */
export class StaffLetters extends Context.Service<StaffLetters, {
  /** Somebody waits for a moderator from now on; nobody waits for the letters. */
  readonly waits: (accountId: AccountId) => Effect.Effect<void>
}>()("murmuration/services/identity/StaffLetters") {
  static readonly layer = Layer.effect(
    StaffLetters,
    Effect.gen(function*() {
      const approvals = yield* Approvals
      const letters = yield* Letters
      const { localDomain: server } = yield* ServerConfig
      const wordings = yield* Wordings
      return StaffLetters.of({
        waits: traced("StaffLetters.waits")(function*(accountId) {
          const found = yield* Effect.option(approvals.find(accountId))
          if (Option.isNone(found)) return
          const { reason, username } = found.value
          for (const { email: to, locale } of yield* approvals.staff) {
            const words = wordings.of({ locale: locale ?? undefined })
            yield* letters.post(Effect.map(words, Texts.waiting({ to, server, username, reason })))
          }
        })
      })
    })
  ).pipe(Layer.provide([Approvals.layer, Wordings.layer]))
}
