import { Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Settings } from "../../services/identity/Settings.ts"
import { traced } from "../../services/runtime/Traced.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { encode } from "../wire/Keys.ts"
import { Preferences, preferences } from "../wire/Preferences.ts"

export class PreferencesGroup extends HttpApiGroup.make("preferences")
  .add(
    HttpApiEndpoint.get("show", "/api/v1/preferences", { success: Preferences })
      .annotate(Access, Access.user("read", "read:accounts"))
  )
  .middleware(Guard)
{}

/** The user's preferences for posting and reading (S-225). */
export const layer = group(
  PreferencesGroup,
  Effect.fn(function*(handlers) {
    const settings = yield* Settings
    return handlers.handleAll({
      show: traced("preferences.show")(function*() {
        return Reply.json(encode(preferences(yield* settings.of(yield* Caller.account))))
      })
    })
  })
)
