import { Context, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { Command } from "../../../actors/account/core/AccountProtocol.ts"
import { AccountId, parseId, StatusId } from "../../../services/database/Ids.ts"
import { Accounts } from "../../../services/identity/Accounts.ts"
import { languagesGiven } from "../../../services/instance/Languages.ts"
import { type ClientError, RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { AccountNotes } from "../../../services/social/AccountNotes.ts"
import { Suggestions } from "../../../services/suggestions/Suggestions.ts"
import { AccountViews } from "../../render/AccountViews.ts"
import { read } from "../../wire/Keys.ts"
import { followForm } from "../account/FollowForm.ts"
import * as People from "../account/People.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { type ActResult, WebPages } from "../shell/WebPages.ts"
import { accountActPath } from "./AccountForms.ts"

type Act = (visit: MemberVisit, id: AccountId, form: URLSearchParams) => Effect.Effect<ActResult | void, ClientError>

/** Maximum posts and rules of a report that are read. */
const reportedMax = 100
const categories = ["spam", "legal", "violation", "other"] as const

/** Returns the ids that a form has under a name, without the brackets. */
const idsOf = (form: URLSearchParams, name: string): ReadonlyArray<bigint> =>
  form.getAll(name).slice(0, reportedMax).flatMap((text) => parseId(text) ?? [])

/** Acts on an account by the value of the pressed button: `POST /web/accounts/ID` with `act`. */
class AccountActs extends Context.Service<AccountActs, Readonly<Record<string, Act>>>()(
  "murmuration/http/web/acts/AccountActs"
) {
  static readonly layer = Layer.effect(
    AccountActs,
    Effect.gen(function*() {
      const accounts = yield* Accounts
      const actors = yield* AccountActors
      const notes = yield* AccountNotes
      const suggestions = yield* Suggestions
      const views = yield* AccountViews
      const tell = (command: (target: AccountId) => Command): Act => ({ viewer }, id) =>
        Effect.asVoid(actors.tell(viewer, command(id)))
      /** Returns the result of an act with a button that undoes the act. */
      const undoing = (id: AccountId, act: string, notice: string): ActResult => ({
        notice,
        undo: { path: accountActPath(String(id)), act }
      })
      return AccountActs.of({
        follow: tell((target) => ({ _tag: "Follow", target, reblogs: null, notify: null, languages: null })),
        unfollow: tell((target) => ({ _tag: "Unfollow", target })),
        followOptions: Effect.fnUntraced(function*({ reader: { words: { say } }, viewer }, target, form) {
          const languages = (form.get("languages") ?? "").split(/[\s,]+/).filter((language) => language !== "")
          yield* actors.tell(viewer, {
            _tag: "Follow",
            target,
            reblogs: form.has("reblogs"),
            notify: form.has("notify"),
            languages: yield* languagesGiven(languages)
          })
          return { notice: say("Saved.") }
        }),
        removeFollower: tell((target) => ({ _tag: "RemoveFollower", target })),
        authorize: tell((target) => ({ _tag: "AuthorizeFollow", target })),
        reject: tell((target) => ({ _tag: "RejectFollow", target })),
        dismissSuggestion: Effect.fnUntraced(function*({ viewer }, id) {
          yield* suggestions.dismiss(viewer, (yield* accounts.find(id)).id)
        }),
        endorse: tell((target) => ({ _tag: "Endorse", target })),
        unendorse: tell((target) => ({ _tag: "Unendorse", target })),
        mute: Effect.fnUntraced(function*({ reader: { words: { say } }, viewer }, target, form) {
          const { acct } = read(yield* views.renderOne(target))
          const seconds = Number(/^\d{1,9}$/.exec(form.get("seconds") ?? "")?.[0] ?? 0)
          const notifications = form.has("notifications")
          yield* actors.tell(viewer, { _tag: "Mute", target, notifications, replies: false, seconds })
          return undoing(target, "unmute", say("You no longer see {account}.", { account: `@${acct}` }))
        }),
        unmute: tell((target) => ({ _tag: "Unmute", target })),
        block: Effect.fnUntraced(function*({ reader: { words: { say } }, viewer }, target) {
          const { acct } = read(yield* views.renderOne(target))
          yield* actors.tell(viewer, { _tag: "Block", target })
          return undoing(target, "unblock", say("You blocked {account}.", { account: `@${acct}` }))
        }),
        unblock: tell((target) => ({ _tag: "Unblock", target })),
        note: Effect.fnUntraced(function*({ reader: { words: { say } }, viewer }, target, form) {
          const { id } = yield* accounts.find(target)
          yield* notes.write(viewer, id, form.get("comment") ?? "")
          return { notice: say("Saved.") }
        }),
        report: Effect.fnUntraced(function*({ reader: { words: { say } }, viewer }, target, form) {
          yield* actors.tell(viewer, {
            _tag: "Report",
            target,
            category: categories.find((one) => one === form.get("category")) ?? "other",
            comment: form.get("comment") ?? "",
            statusIds: idsOf(form, "status_ids").map((id) => StatusId.make(id)),
            ruleIds: idsOf(form, "rule_ids"),
            collectionIds: [],
            forward: form.has("forward"),
            forwardDomains: []
          })
          return { notice: say("Thank you. The moderators have your report.") }
        })
      })
    })
  )
}

const make = Effect.gen(function*() {
  const acts = yield* AccountActs
  const pages = yield* WebPages
  const people = yield* People.make
  const post = pages.act(Effect.fnUntraced(function*(visit, form) {
    const id = parseId(visit.params["id"])
    const name = form.get("act") ?? ""
    const act = Object.hasOwn(acts, name) ? acts[name] : undefined
    if (id === undefined) return yield* new RecordNotFound()
    if (act === undefined) {
      return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    const at = parseId(form.get("status"))
    return {
      at: at === undefined ? `account-${id}` : `status-${at}`,
      part: Effect.gen(function*() {
        const [person] = yield* people.load(visit, [id])
        if (person === undefined) return yield* new RecordNotFound()
        return followForm(
          { ...visit, pathAndQuery: form.get("return") ?? visit.pathAndQuery },
          person.account,
          person.relationship
        )
      }),
      ...yield* act(visit, AccountId.make(id), form)
    }
  }))
  return HttpRouter.add("POST", "/web/accounts/:id", post)
})

/** Acts on accounts, from their profiles, their posts and lists of accounts. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(AccountActs.layer), Layer.provide(AccountViews.layer))
