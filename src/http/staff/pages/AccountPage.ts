import { Effect, Layer } from "effect"
import { AccountId } from "../../../services/database/Ids.ts"
import { lastingTypes } from "../../../services/moderation/ActionTypes.ts"
import { type AdminAccountRecord, AdminAccounts } from "../../../services/moderation/AdminAccounts.ts"
import { AdminReports } from "../../../services/moderation/AdminReports.ts"
import { Appeals } from "../../../services/moderation/Appeals.ts"
import { Strikes } from "../../../services/moderation/Strikes.ts"
import { WarningPresets } from "../../../services/moderation/WarningPresets.ts"
import { validationFailed } from "../../../services/runtime/Errors.ts"
import { type Html, html } from "../../html/Html.ts"
import { AccountDecisions } from "./AccountDecisions.ts"
import { facts, ipAddresses } from "./parts/AccountFacts.ts"
import { AccountLines } from "./parts/AccountLines.ts"
import { states } from "./parts/AccountStates.ts"
import { actionForm, takeAction } from "./parts/ActionForm.ts"
import { liftButtons } from "./parts/ActionTexts.ts"
import { actButton, button, form, textField } from "./parts/Controls.ts"
import { NoteList } from "./parts/NoteList.ts"
import { reportLines } from "./parts/ReportLines.ts"
import { strikeLines } from "./parts/StrikeLines.ts"
import { emptyList } from "./parts/Tables.ts"
import { handleOf, section } from "./parts/Texts.ts"
import { UserControls } from "./parts/UserControls.ts"
import { StaffPages } from "./StaffPages.ts"
import { type Act, type Confirmation, requireId, type Visit } from "./StaffVisit.ts"

/** Maximum strikes and reports listed on an account's page. */
const namedMax = 10

const lasting = (account: AdminAccountRecord) => ({
  disable: account.disabled === true,
  sensitive: account.sensitized,
  silence: account.silenced,
  suspend: account.suspended
})

const make = Effect.gen(function*() {
  const accounts = yield* AdminAccounts
  const appeals = yield* Appeals
  const decisions = yield* AccountDecisions
  const noteList = yield* NoteList
  const people = yield* AccountLines
  const reports = yield* AdminReports
  const staff = yield* StaffPages
  const presets = yield* WarningPresets
  const strikes = yield* Strikes
  const userControls = yield* UserControls

  const subject = Effect.fnUntraced(function*(visit: Visit) {
    const account = yield* accounts.find(yield* requireId(visit))
    return { id: account.id, name: handleOf(account), reportId: null }
  })

  const show = Effect.fnUntraced(function*(visit: Visit) {
    const { words: { say }, words } = visit
    const id = yield* requireId(visit)
    const account = yield* accounts.find(id)
    const name = handleOf(account)
    const strikeIds = yield* appeals.strikes(AccountId.make(id), { limit: namedMax })
    const strikesById = yield* strikes.load(strikeIds)
    const about = yield* reports.page({ state: "all", targetAccountId: id }, { limit: namedMax })
    const by = yield* reports.page({ state: "all", accountId: id }, { limit: namedMax })
    const names = yield* people.load([
      id,
      account.invitedById,
      ...about.map(({ accountId }) => accountId),
      ...by.map(({ targetAccountId }) => targetAccountId)
    ])
    const state = lasting(account)
    const possible = [
      "none" as const,
      ...lastingTypes.filter((type) =>
        !state[type] && (type !== "disable" || (account.email !== null && visit.may("manageUsers")))
      )
    ]
    return {
      title: name,
      body: html`<div class="row top">${names.line(id)} ${states(words, account)} ${
        account.domain === null ? html`<a href="/@${account.username}">${say("Public profile")}</a>` : ""
      }</div>
<div class="columns"><div>
${section(say("Account details"), facts(visit, account, names))}
${
        visit.may("manageUsers") && account.email !== null
          ? section(say("Recent IP addresses"), ipAddresses(visit, account))
          : ""
      }
${
        section(
          say("Strikes"),
          strikeIds.length === 0
            ? emptyList(say("No action has been taken against this account."))
            : strikeLines(words, strikeIds.flatMap((one) => strikesById.get(one) ?? []))
        )
      }
${
        visit.may("manageReports")
          ? html`${section(say("Reports about this account"), reportLines(words, about, names, "accountId"))}${
            section(say("Reports by this account"), reportLines(words, by, names, "targetAccountId"))
          }`
          : ""
      }
</div><div>
${decisionSections(visit, account, name)}
${section(say("Take action"), actionForm(visit, name, possible, yield* presets.list))}
${yield* noteList.show(visit, { type: "account", id })}
${yield* userControls.show(visit, account)}
${
        visit.may("deleteUserData") && account.suspended
          ? section(
            say("Delete"),
            html`<p>${say("Removes the account and everything in it permanently.")}</p>${
              form(
                visit,
                html`${
                  textField(visit, { name: "typed", label: say("Type {name} to confirm", { name }), required: true })
                }${button("delete", say("Delete account"), "danger")}`
              )
            }`
          )
          : ""
      }
</div></div>`
    }
  })

  const lifting = (type: keyof typeof liftButtons): Act => ({
    permission: "manageUsers",
    run: Effect.fnUntraced(function*(visit) {
      const { id, name } = yield* subject(visit)
      yield* decisions.lift(visit.by, id, type)
      return { notice: liftButtons[type].notice(visit.words, name) }
    })
  })

  const asking = (confirmation: (words: Visit["words"], name: string) => Confirmation) => (visit: Visit) =>
    Effect.map(subject(visit), ({ name }) => confirmation(visit.words, name))

  return staff.page({
    path: "/admin/accounts/:id",
    permission: ["manageUsers", "manageReports"],
    show,
    acts: {
      ...noteList.acts("account"),
      ...userControls.acts(subject),
      take: takeAction(decisions, presets, subject),
      enable: lifting("disable"),
      unsensitive: lifting("sensitive"),
      unsilence: lifting("silence"),
      unsuspend: lifting("suspend"),
      approve: {
        permission: "manageUsers",
        run: Effect.fnUntraced(function*(visit) {
          const { id, name } = yield* subject(visit)
          yield* decisions.approve(visit.by, id)
          return { notice: visit.words.say("{name} can now sign in.", { name }) }
        })
      },
      reject: {
        permission: "manageUsers",
        confirm: asking(({ say }, name) => ({
          title: say("Reject {name}?", { name }),
          text: say("The sign-up is removed and the person is notified by email. This cannot be undone."),
          button: say("Reject"),
          danger: true
        })),
        run: Effect.fnUntraced(function*(visit) {
          const { id, name } = yield* subject(visit)
          yield* decisions.reject(visit.by, id)
          return {
            notice: visit.words.say("{name} was rejected.", { name }),
            to: "/admin/accounts?status=pending"
          }
        })
      },
      delete: {
        permission: "deleteUserData",
        confirm: asking(({ say }, name) => ({
          title: say("Delete {name} permanently?", { name }),
          text: say(
            "Posts, media and follows are removed here, and other servers are told to remove them. The username cannot be used again. This cannot be undone."
          ),
          button: say("Delete permanently"),
          danger: true
        })),
        run: Effect.fnUntraced(function*(visit) {
          const { id, name } = yield* subject(visit)
          if (visit.form.get("typed")?.trim() !== name) return yield* validationFailed("Confirmation is invalid")
          yield* decisions.remove(visit.by, id)
          return { notice: visit.words.say("{name} is being deleted.", { name }), to: "/admin/accounts" }
        })
      }
    }
  })
})

/** Returns the pending approval with its buttons, and the buttons that lift restrictions in force. */
const decisionSections = (visit: Visit, account: AdminAccountRecord, name: string): Html => {
  const { may, words: { say }, words } = visit
  if (!may("manageUsers")) return html``
  const state = lasting(account)
  const standing = lastingTypes.filter((type) => state[type])
  return html`${
    account.approved === false
      ? section(
        say("Pending approval"),
        html`<p>${say("{name} can sign in after approval.", { name })}</p><div class="row">${
          actButton(visit, "approve", say("Approve"), { kind: "main" })
        }${actButton(visit, "reject", say("Reject"), { kind: "danger" })}</div>`
      )
      : ""
  }${
    standing.length === 0 ? "" : section(
      say("Current restrictions"),
      html`<div class="row">${
        standing.map((type) => actButton(visit, liftButtons[type].act, liftButtons[type].label(words)))
      }</div>`
    )
  }`
}

/** Page of one account: its details and moderation actions. */
export const layer = Layer.unwrap(make)
