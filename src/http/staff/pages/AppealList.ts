import { Effect, Layer } from "effect"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { type Appeal, Appeals } from "../../../services/moderation/Appeals.ts"
import type { StrikeAction } from "../../../services/moderation/Strike.ts"
import { Strikes } from "../../../services/moderation/Strikes.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountLines } from "./parts/AccountLines.ts"
import { actionNames } from "./parts/ActionTexts.ts"
import { actButton } from "./parts/Controls.ts"
import { ReportedPosts } from "./parts/ReportedPosts.ts"
import { emptyList, pageOf, pager, table, tabs, total } from "./parts/Tables.ts"
import { badge, definitions, moment, section, userText } from "./parts/Texts.ts"
import { StaffPages } from "./StaffPages.ts"
import { type Act, type Confirmation, requireId, type Visit } from "./StaffVisit.ts"

/** Characters of an appeal that the list shows. */
const textCharactersMax = 200

const stateOf = ({ say }: Messages, state: Appeal["state"]): Html =>
  state === "pending"
    ? badge(say("Pending"), "warn")
    : state === "approved"
    ? badge(say("Approved"), "good")
    : badge(say("Rejected"))

/** Effect of approving an appeal, by the action of its strike. */
const returns: Readonly<Record<StrikeAction, (words: Messages) => string>> = {
  none: ({ say }) => say("The warning no longer counts."),
  disable: ({ say }) => say("The person can sign in again."),
  ["mark_statuses_as_sensitive"]: ({ say }) => say("The posts are no longer marked as sensitive."),
  ["delete_statuses"]: ({ say }) => say("The strike no longer counts; the posts stay removed."),
  sensitive: ({ say }) => say("Media of the account are shown as the author marked them."),
  silence: ({ say }) => say("The account is no longer limited."),
  suspend: ({ say }) => say("The account is restored.")
}

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const appeals = yield* Appeals
  const people = yield* AccountLines
  const posts = yield* ReportedPosts
  const staff = yield* StaffPages
  const strikes = yield* Strikes

  const list = Effect.fnUntraced(function*(visit: Visit) {
    const { query, words: { say }, words } = visit
    const state = (["approved", "rejected", "all"] as const).find((one) => one === query.get("state")) ?? "pending"
    const found = yield* appeals.page(state === "all" ? undefined : state, pageOf(visit))
    const counts = yield* Effect.all({
      pending: appeals.total("pending"),
      approved: appeals.total("approved"),
      rejected: appeals.total("rejected"),
      all: appeals.total(undefined)
    })
    const names = yield* people.load(found.map(({ accountId }) => accountId))
    const strikesById = yield* strikes.load(found.map(({ strikeId }) => strikeId))
    const rows = found.map((appeal) => {
      const strike = strikesById.get(appeal.strikeId)
      return [
        names.line(appeal.accountId),
        strike === undefined ? "" : actionNames[strike.action](words),
        html`<a href="/admin/appeals/${String(appeal.id)}"><bdi>${appeal.text.slice(0, textCharactersMax)}</bdi></a>`,
        stateOf(words, appeal.state),
        moment(words, appeal.createdAt)
      ]
    })
    return {
      title: say("Appeals"),
      body: html`${
        tabs(visit, "state", [
          ["", say("Pending"), counts.pending],
          ["approved", say("Approved"), counts.approved],
          ["rejected", say("Rejected"), counts.rejected],
          ["all", say("All"), counts.all]
        ])
      }${total(visit, counts[state])}${
        rows.length === 0
          ? emptyList(say("No appeals match."))
          : table([say("Account"), say("Strike"), say("Appeal"), say("State"), say("Since")], rows, say("Appeals"))
      }${pager(visit, found.map(({ id }) => id))}`
    }
  })

  const asked = (visit: Visit) => Effect.flatMap(requireId(visit), (id) => appeals.find(id))

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const appeal = yield* asked(visit)
    const strike = (yield* strikes.load([appeal.strikeId])).get(appeal.strikeId)
    const names = yield* people.load([appeal.accountId, appeal.decidedByAccountId])
    return {
      title: say("Appeal of {name}", { name: names.handle(appeal.accountId) ?? "" }),
      body: html`<div class="row top">${stateOf(words, appeal.state)} ${names.line(appeal.accountId)}</div>
<div class="columns"><div>
${
        section(
          say("Reason given"),
          html`${userText(appeal.text)}<p class="soft">${moment(words, appeal.createdAt)}</p>`
        )
      }
${
        appeal.state === "pending"
          ? section(
            say("Decision"),
            html`<div class="row">${actButton(visit, "approve", say("Approve appeal"), { kind: "main" })}${
              actButton(visit, "reject", say("Reject appeal"), { kind: "danger" })
            }</div>`
          )
          : ""
      }
</div><div>
${
        strike === undefined ? "" : section(
          say("The strike"),
          html`${
            definitions([
              [say("Action taken"), actionNames[strike.action](words)],
              [say("Date"), moment(words, strike.createdAt)],
              [
                say("Decided by"),
                appeal.decidedByAccountId === null ? undefined : names.line(appeal.decidedByAccountId)
              ]
            ])
          }${strike.text.trim() === "" ? "" : userText(strike.text)}${
            strike.statusIds.length === 0 ? "" : yield* posts.show(words, strike.statusIds, false)
          }`
        )
      }
</div></div>`
    }
  })

  const deciding = (
    approved: boolean,
    confirm: (words: Messages, action: StrikeAction) => Confirmation,
    notice: (words: Messages) => string
  ): Act => ({
    confirm: Effect.fnUntraced(function*(visit) {
      const { strikeId } = yield* asked(visit)
      const strike = (yield* strikes.load([strikeId])).get(strikeId)
      return confirm(visit.words, strike?.action ?? "none")
    }),
    run: Effect.fnUntraced(function*(visit) {
      const { accountId, id } = yield* asked(visit)
      yield* actors.tell(accountId, { _tag: "DecideAppeal", by: visit.by, appealId: id, approved })
      return { notice: notice(visit.words) }
    })
  })

  return Layer.merge(
    staff.page({ path: "/admin/appeals", permission: "manageAppeals", show: list }),
    staff.page({
      path: "/admin/appeals/:id",
      permission: "manageAppeals",
      show,
      acts: {
        approve: deciding(
          true,
          (words, action) => ({
            title: words.say("Approve the appeal?"),
            text: html`<p>${returns[action](words)} ${words.say("The person is notified. This cannot be undone.")}</p>`,
            button: words.say("Approve the appeal")
          }),
          ({ say }) => say("The appeal was approved.")
        ),
        reject: deciding(
          false,
          ({ say }) => ({
            title: say("Reject the appeal?"),
            text: say("The action stays in place. The person is notified and cannot appeal again."),
            button: say("Reject"),
            danger: true
          }),
          ({ say }) => say("The appeal was rejected.")
        )
      }
    })
  )
})

/** Appeals against strikes, with the decisions of staff. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(ReportedPosts.layer))
