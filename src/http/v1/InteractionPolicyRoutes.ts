import { Effect } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { traced } from "../../services/runtime/Traced.ts"
import { DefaultPolicies, type Defaults } from "../../services/statuses/DefaultPolicies.ts"
import { Access } from "../guard/Access.ts"
import { Caller } from "../guard/Caller.ts"
import { group } from "../guard/Group.ts"
import { Guard } from "../guard/Guard.ts"
import * as Reply from "../guard/Reply.ts"
import { policyValues } from "../render/PolicyValues.ts"
import { DefaultPolicies as ShownDefaults, DefaultsChange } from "../wire/InteractionPolicy.ts"
import { json } from "../wire/Keys.ts"
import { policyEntriesOf } from "./PolicyPayloads.ts"

const path = "/api/v1/interaction_policies/defaults"

export class InteractionPoliciesGroup extends HttpApiGroup.make("interactionPolicies")
  .add(
    HttpApiEndpoint.get("show", path, { success: ShownDefaults })
      .annotate(Access, Access.user("read", "read:accounts")),
    HttpApiEndpoint.patch("change", path, { payload: DefaultsChange, success: ShownDefaults })
      .annotate(Access, Access.user("write", "write:accounts"))
  )
  .middleware(Guard)
{}

const shown = (defaults: Defaults) =>
  Reply.json(json<ShownDefaults>({
    direct: policyValues(defaults.direct),
    private: policyValues(defaults.private),
    unlisted: policyValues(defaults.unlisted),
    public: policyValues(defaults.public)
  }))

/** Beyond Mastodon: default interaction policies of the user's future posts. */
export const layer = group(
  InteractionPoliciesGroup,
  Effect.fn(function*(handlers) {
    const policies = yield* DefaultPolicies
    return handlers.handleAll({
      show: traced("interactionPolicies.show")(function*() {
        return shown(yield* policies.of(yield* Caller.account))
      }),
      // A visibility that the request omits is reset to its default, as in GoToSocial.
      change: traced("interactionPolicies.change")(function*({ payload }) {
        const viewer = yield* Caller.account
        const defaults = {
          public: (yield* policyEntriesOf(payload.public)) ?? [],
          unlisted: (yield* policyEntriesOf(payload.unlisted)) ?? [],
          private: (yield* policyEntriesOf(payload.private)) ?? [],
          direct: (yield* policyEntriesOf(payload.direct)) ?? []
        }
        yield* policies.change(viewer, defaults)
        return shown(defaults)
      })
    })
  })
)
