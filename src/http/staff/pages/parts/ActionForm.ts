import { Effect } from "effect"
import { actionTextCharactersMax, type ActionType, actionTypes } from "../../../../services/moderation/ActionTypes.ts"
import type { WarningPreset, WarningPresets } from "../../../../services/moderation/WarningPresets.ts"
import { type ClientError, validationFailed } from "../../../../services/runtime/Errors.ts"
import { type Html, html } from "../../../html/Html.ts"
import type { AccountDecisions } from "../AccountDecisions.ts"
import { type Act, idOf, type Visit } from "../StaffVisit.ts"
import { accountPath } from "./AccountLines.ts"
import { choices, effects, liftButtons, resultTexts } from "./ActionTexts.ts"
import { button, checkbox, form, select, textArea } from "./Controls.ts"

/** Form of moderation actions with their effects; `possible` holds the actions that are not in force yet. */
export const actionForm = (
  visit: Visit,
  name: string,
  possible: ReadonlyArray<ActionType>,
  presets: ReadonlyArray<WarningPreset>
): Html => {
  const { words: { say }, words } = visit
  const chosen = visit.form.get("type") ?? "none"
  return form(
    visit,
    html`<fieldset><legend>${say("Action")}</legend>${
      possible.map((type) =>
        html`<label class="check"><input type="radio" name="type" value="${type}"${
          type === chosen ? html` checked` : ""
        }><span>${choices[type](words)}<span class="hint">${effects[type](words, name)}</span></span></label>`
      )
    }</fieldset>${
      presets.length === 0 ? "" : select(visit, {
        name: "preset",
        label: say("Saved message"),
        choices: [
          ["", say("None")],
          ...presets.map(({ id, text, title }) => [String(id), title === "" ? text.slice(0, 80) : title] as const)
        ]
      })
    }${
      textArea(visit, {
        name: "text",
        label: say("Message to the person"),
        hint: say("Shown in the email and in the strike, which the person can appeal."),
        rows: 3,
        max: actionTextCharactersMax
      })
    }${checkbox(visit, { name: "tells", label: say("Notify the person by email and notification"), checked: true })}${
      button("take", say("Next"), "main")
    }`
  )
}

/** Target of a moderation action: account, name and report. */
interface Subject {
  readonly id: bigint
  readonly name: string
  readonly reportId: bigint | null
}

/** Makes the action of `actionForm`, with a confirmation page; `subject` finds its target. */
export const takeAction = (
  decisions: AccountDecisions["Service"],
  presets: WarningPresets["Service"],
  subject: (visit: Visit) => Effect.Effect<Subject, ClientError>
): Act => ({
  confirm: Effect.fnUntraced(function*(visit) {
    const { name } = yield* subject(visit)
    const type = yield* typeOf(visit)
    const { words } = visit
    return {
      title: words.say("{act}: {name}?", { act: choices[type](words), name }),
      text: html`<p>${effects[type](words, name)}</p>${
        visit.form.get("tells") === "yes"
          ? html`<p>${words.say("The person is notified and can appeal within 20 days.")}</p>`
          : html`<p>${words.say("The person is not notified.")}</p>`
      }`,
      button: choices[type](words),
      danger: type !== "none"
    }
  }),
  run: Effect.fnUntraced(function*(visit) {
    const { id, name, reportId } = yield* subject(visit)
    const type = yield* typeOf(visit)
    const presetId = idOf(visit.form.get("preset"))
    const preset = presetId === undefined ? "" : (yield* presets.find(presetId)).text
    // The preset comes first, then the moderator's own text.
    const text = [preset, visit.form.get("text") ?? ""].filter((one) => one !== "").join("\n\n")
    yield* decisions.take(visit.by, id, { type, text, reportId, tells: visit.form.get("tells") === "yes" })
    return {
      notice: resultTexts[type](visit.words, name),
      ...(type === "none" || !visit.may("manageUsers")
        ? {}
        : { undo: { path: accountPath(id), act: liftButtons[type].act } })
    }
  })
})

const typeOf = ({ form }: Visit) => {
  const type = actionTypes.find((one) => one === form.get("type"))
  return type === undefined ? validationFailed("Type is not included in the list") : Effect.succeed(type)
}
