import { Effect, Layer, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Instance } from "../../../services/instance/Instance.ts"
import { InstanceRules } from "../../../services/instance/InstanceRules.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { rulesJson } from "../../render/InstanceJson.ts"
import { ruleValues } from "../../render/Values.ts"
import { Rule } from "../../wire/Instance.ts"
import { json } from "../../wire/Keys.ts"
import { RuleWrite } from "../wire/Rule.ts"
import { staffEndpoints } from "./StaffEndpoints.ts"

const path = "/api/v1/admin/rules"
const at = staffEndpoints({ path, permission: "manageRules", row: Rule, write: RuleWrite })

export class AdminRulesGroup extends HttpApiGroup.make("admin/rules")
  .add(
    HttpApiEndpoint.get("all", path, { success: Schema.Array(Rule) }).annotate(Access, at.reading),
    at.create,
    at.replace,
    at.change,
    at.remove
  )
  .middleware(Guard)
{}

interface Changing {
  readonly params: { readonly id: bigint }
  readonly payload: RuleWrite
}

/** Server rules for staff, in their order (S-235). */
export const layer = group(
  AdminRulesGroup,
  Effect.fn(function*(handlers) {
    const instance = yield* Instance
    const rules = yield* InstanceRules

    const shown = Effect.fnUntraced(function*(id: bigint) {
      const found = (yield* instance.rules).find((rule) => rule.id === id)
      return found === undefined ? yield* new RecordNotFound() : Reply.json(json<Rule>(ruleValues(found)))
    })
    const change = traced("admin.rules.change")(function*({ params: { id }, payload }: Changing) {
      yield* rules.change(yield* Caller.account, id, changeOf(payload))
      return yield* shown(id)
    })

    return handlers.handleAll({
      all: traced("admin.rules.all")(() => Effect.map(instance.rules, (all) => Reply.json(rulesJson(all)))),
      create: traced("admin.rules.create")(function*({ payload }) {
        const { hint = "", text = "", ...rest } = changeOf(payload)
        return yield* shown(yield* rules.add(yield* Caller.account, { text, hint, ...rest }))
      }),
      replace: change,
      change,
      remove: traced("admin.rules.remove")(function*({ params }) {
        yield* rules.remove(yield* Caller.account, params.id)
        return Reply.empty
      })
    })
  })
).pipe(Layer.provide(InstanceRules.layer))

/** Returns the changes of a rule; a translation with an empty text is removed. */
const changeOf = ({ hint, position, text, translations }: RuleWrite) => ({
  ...(text !== undefined && { text: text ?? "" }),
  ...(hint !== undefined && { hint: hint ?? "" }),
  place: position,
  translations: Object.fromEntries(
    Object.entries(translations ?? {}).map(([language, rule]) => [
      language,
      (rule?.text ?? "") === "" ? undefined : { text: rule?.text ?? "", hint: rule?.hint ?? "" }
    ])
  )
})
