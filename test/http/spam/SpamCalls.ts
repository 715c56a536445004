import { Effect } from "effect"
import { ask } from "../../support/Api.ts"
import type { Person } from "../../support/Server.ts"

export const path = "/api/v1/admin/spam_rules"

/** Creates a rule, switched on by default. */
export const rule = Effect.fnUntraced(
  function*(by: Person, action: string, conditions: object, more: Record<string, unknown> = {}) {
    const { body, status } = yield* ask(by, "POST", path, { name: action, state: "on", action, conditions, ...more })
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
    return body
  }
)

export const write = (by: Person, text: string, more: Record<string, unknown> = {}) =>
  ask(by, "POST", "/api/v1/statuses", { status: text, ...more })

/** Deletes all rules. */
export const unruled = Effect.fnUntraced(function*(by: Person) {
  const { body } = yield* ask(by, "GET", path)
  for (const { id } of body) yield* ask(by, "DELETE", `${path}/${id}`)
})
