import { ask } from "./Api.ts"
import type { Person } from "./Server.ts"

/* Interaction policies over HTTP: who may reply to, favourite, boost and quote posts. */

export const requests = (by: Person, query = "") => ask(by, "GET", `/api/v1/interaction_requests${query}`)
export const response = (by: Person, id: string, word: "authorize" | "reject") =>
  ask(by, "POST", `/api/v1/interaction_requests/${id}/${word}`)
export const only = (name: string, who: ReadonlyArray<string>, manual: ReadonlyArray<string> = []) => ({
  interaction_policy: { [name]: { automatic_approval: who, manual_approval: manual } }
})
export const act = (by: Person, { id }: { readonly id: string }, what: string) =>
  ask(by, "POST", `/api/v1/statuses/${id}/${what}`)
export const reply = (by: Person, { id }: { readonly id: string }, text = "hm", more: object = {}) =>
  ask(by, "POST", "/api/v1/statuses", { status: text, in_reply_to_id: id, ...more })
