import { Context, Effect, Layer } from "effect"
import { AccountId } from "../../../../services/database/Ids.ts"
import { requireEmail } from "../../../../services/identity/RegistrationRules.ts"
import { TwoFactorReset } from "../../../../services/identity/TwoFactorReset.ts"
import { AccountControls } from "../../../../services/moderation/AccountControls.ts"
import type { AdminAccountRecord } from "../../../../services/moderation/AdminAccounts.ts"
import type { ClientError } from "../../../../services/runtime/Errors.ts"
import type { Permission } from "../../../../services/staff/Permissions.ts"
import { outranks } from "../../../../services/staff/Rank.ts"
import { Roles } from "../../../../services/staff/Roles.ts"
import { type Html, html } from "../../../html/Html.ts"
import type { Act, Confirmation, Visit } from "../StaffVisit.ts"
import { idOf } from "../StaffVisit.ts"
import { actButton, button, form, select, textField } from "./Controls.ts"
import { section } from "./Texts.ts"

interface Subject {
  readonly id: bigint
  readonly name: string
}

/** Staff actions on local users other than moderation: e-mail address, role, two-factor reset, memorial. */
export class UserControls extends Context.Service<UserControls, {
  readonly show: (visit: Visit, account: AdminAccountRecord) => Effect.Effect<Html>
  readonly acts: (
    subject: (visit: Visit) => Effect.Effect<Subject, ClientError>
  ) => Readonly<Record<"email" | "resend" | "role" | "factor" | "memorial", Act>>
}>()("murmuration/http/staff/pages/parts/UserControls") {
  static readonly layer = Layer.effect(
    UserControls,
    Effect.gen(function*() {
      const controls = yield* AccountControls
      const factors = yield* TwoFactorReset
      const roles = yield* Roles

      const emailForm = (visit: Visit) => {
        const { say } = visit.words
        return form(
          visit,
          html`${
            textField(visit, {
              name: "email",
              type: "email",
              label: say("New email address"),
              hint: say("Takes effect when the person opens the link that we send to this address."),
              required: true
            })
          }<p class="row">${button("email", say("Change address"))}</p>`
        )
      }

      const show = Effect.fnUntraced(function*(visit: Visit, account: AdminAccountRecord) {
        const { may, member, words: { say } } = visit
        if (account.email === null) return html``
        // Staff may only give roles below their own.
        const given = may("manageRoles")
          ? (yield* roles.list).filter(({ position }) => outranks(member, position))
          : []
        const parts = [
          ...(may("manageUsers") ? [emailForm(visit)] : []),
          ...(may("manageUsers") && account.confirmed === false
            ? [actButton(visit, "resend", say("Resend confirmation email"))]
            : []),
          ...(given.length === 0 ? [] : [
            form(
              visit,
              html`${
                select(visit, {
                  name: "role",
                  label: say("Role"),
                  value: String(account.roleId ?? ""),
                  choices: given.map(({ id, name }) => [String(id), name === "" ? say("No role") : name] as const)
                })
              }<p class="row">${button("role", say("Assign role"))}</p>`
            )
          ]),
          ...(may("manageUserAccess")
            ? [actButton(visit, "factor", say("Turn off two-factor sign-in"), { kind: "danger" })]
            : []),
          ...(may("deleteUserData")
            ? [actButton(visit, "memorial", say("Mark as memorial"), { kind: "danger" })]
            : [])
        ]
        return parts.length === 0 ? html`` : section(say("Person"), html`${parts}`)
      })

      const act = (
        permission: Permission,
        work: (visit: Visit, id: AccountId) => Effect.Effect<void, ClientError>,
        notice: (words: Visit["words"], name: string) => string,
        confirm?: (words: Visit["words"], name: string) => Confirmation
      ) =>
      (subject: (visit: Visit) => Effect.Effect<Subject, ClientError>): Act => ({
        permission,
        ...(confirm !== undefined && {
          confirm: (visit) => Effect.map(subject(visit), ({ name }) => confirm(visit.words, name))
        }),
        run: Effect.fnUntraced(function*(visit) {
          const { id, name } = yield* subject(visit)
          yield* work(visit, AccountId.make(id))
          return { notice: notice(visit.words, name) }
        })
      })

      const acts = {
        email: act(
          "manageUsers",
          (visit, id) =>
            Effect.flatMap(
              requireEmail(visit.form.get("email") ?? ""),
              (email) => controls.changeEmail(visit.by, id, email)
            ),
          ({ say }, name) => say("A confirmation email was sent to the new address of {name}.", { name })
        ),
        resend: act(
          "manageUsers",
          (visit, id) => controls.resend(visit.by, id),
          ({ say }, name) => say("The confirmation email was sent to {name}.", { name })
        ),
        role: act(
          "manageRoles",
          (visit, id) => controls.changeRole(visit.by, id, idOf(visit.form.get("role")) ?? 0n),
          ({ say }, name) => say("{name} now has the role.", { name }),
          ({ say }, name) => ({
            title: say("Assign this role to {name}?", { name }),
            text: say("The permissions apply immediately. You can change the role at any time."),
            button: say("Assign role")
          })
        ),
        factor: act(
          "manageUserAccess",
          (visit, id) => factors.disable(id, visit.by),
          ({ say }, name) => say("{name} can now sign in with the password alone.", { name }),
          ({ say }, name) => ({
            title: say("Turn off two-factor sign-in for {name}?", { name }),
            text: say("The password alone is enough until the person sets it up again. They are notified by email."),
            button: say("Turn it off"),
            danger: true
          })
        ),
        memorial: act(
          "deleteUserData",
          (visit, id) => controls.memorialize(visit.by, id),
          ({ say }, name) => say("{name} is now a memorial account.", { name }),
          ({ say }, name) => ({
            title: say("Mark {name} as a memorial?", { name }),
            text: say(
              "Nobody can sign in any more, and the profile says that it is a memorial. This cannot be undone."
            ),
            button: say("Mark as memorial"),
            danger: true
          })
        )
      }

      return UserControls.of({
        show,
        acts: (subject) => ({
          email: acts.email(subject),
          resend: acts.resend(subject),
          role: acts.role(subject),
          factor: acts.factor(subject),
          memorial: acts.memorial(subject)
        })
      })
    })
  ).pipe(Layer.provide(AccountControls.layer))
}
