import { Effect, Layer } from "effect"
import { EmailChoices } from "../../../services/emails/EmailChoices.ts"
import { type EmailedType, emailedTypes, neededFor, StaffEmail } from "../../../services/emails/EmailLists.ts"
import { may } from "../../../services/staff/Permissions.ts"
import { html } from "../../html/Html.ts"
import { emailSettingsPath } from "../../html/PagePaths.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import type { Filled } from "./Filled.ts"
import { checkBoxes, form } from "./FormFields.ts"
import * as SettingPages from "./SettingPages.ts"

/** Returns the choices that a user with these permissions has. */
const offered = (permissions: bigint) => ({
  types: emailedTypes.filter((type) => type !== "admin.report" || may(permissions, neededFor[type])),
  staff: StaffEmail.literals.filter((one) => may(permissions, neededFor[one]))
})

const make = Effect.gen(function*() {
  const choices = yield* EmailChoices
  const page = yield* SettingPages.make

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    const { words: { say } } = visit.reader
    const { permissions } = visit.session
    const stored = yield* choices.of(visit.viewer, permissions)
    const { staff, types } = offered(permissions)
    const titles: Readonly<Record<EmailedType, string>> = {
      mention: say("Someone mentions you or writes to you in private"),
      quote: say("Someone quotes your post"),
      follow: say("Someone follows you"),
      "follow_request": say("Someone asks to follow you"),
      favourite: say("Someone favourites your post"),
      reblog: say("Someone boosts your post"),
      status: say("Someone you get post notifications for posts"),
      "admin.report": say("Someone submits a report")
    }
    const staffTitles: Readonly<Record<StaffEmail, string>> = {
      "sign_ups": say("A sign-up needs approval, or was decided"),
      appeals: say("Someone appeals a moderation decision"),
      trends: say("A hashtag that begins to trend needs review")
    }
    const declined = StaffEmail.literals.filter((one) => !stored.declined.includes(one))
    return html`<p>${
      say(
        "Emails about notifications are sent when you have been away for an hour: one email an hour at most, with all that is new. Muted and filtered notifications are left out, and the text of private posts is not shown."
      )
    }</p>
${
      form(
        visit,
        html`${
          checkBoxes(
            "types",
            say("Email me when"),
            filled.all("types", stored.types),
            types.map((type) => [type, titles[type]])
          )
        }${
          staff.length === 0 ? "" : checkBoxes(
            "staff",
            say("Email me as a moderator when"),
            filled.all("staff", declined),
            staff.map((one) => [one, staffTitles[one]])
          )
        }`,
        { act: "save", button: say("Save changes") }
      )
    }
<p class="soft">${
      say("Emails about the security of your account, such as new sign-ins and changed passwords, are always sent.")
    }</p>`
  })

  const save = Effect.fnUntraced(function*({ session: { permissions }, viewer }: MemberVisit, sent: URLSearchParams) {
    const { staff, types } = offered(permissions)
    const before = yield* choices.of(viewer, permissions)
    const [chosen, chosenStaff] = [sent.getAll("types"), sent.getAll("staff")]
    yield* choices.change(viewer, {
      // Choices that the role does not offer now stay.
      types: emailedTypes.filter((type) => (types.includes(type) ? chosen : before.types).some((one) => one === type)),
      declined: StaffEmail.literals.filter((one) =>
        staff.includes(one) ? !chosenStaff.includes(one) : before.declined.includes(one)
      )
    })
  })

  return page({ path: emailSettingsPath, title: ({ say }) => say("Email notifications"), show, acts: { save } })
})

/** Choice of the e-mails that a member gets. */
export const layer = Layer.unwrap(make)
