import { Context, Effect, Layer } from "effect"
import { ModerationNotes, type NoteTarget } from "../../../../services/moderation/ModerationNotes.ts"
import type { RecordNotFound } from "../../../../services/runtime/Errors.ts"
import { type Html, html } from "../../../html/Html.ts"
import { type Act, idOf, requireId, type Visit } from "../StaffVisit.ts"
import { AccountLines } from "./AccountLines.ts"
import { actButton, button, form, textArea } from "./Controls.ts"
import { emptyList } from "./Tables.ts"
import { moment, section, userText } from "./Texts.ts"

/** Maximum notes on a page. */
const notesMax = 100

/** Moderators' notes on an account or a report. */
export class NoteList extends Context.Service<NoteList, {
  readonly show: (visit: Visit, target: NoteTarget) => Effect.Effect<Html, RecordNotFound>
  /** Actions `note` and `unnote` of a page whose path has the target's id. */
  readonly acts: (type: NoteTarget["type"]) => { readonly note: Act; readonly unnote: Act }
}>()("murmuration/http/staff/pages/parts/NoteList") {
  static readonly layer = Layer.effect(
    NoteList,
    Effect.gen(function*() {
      const notes = yield* ModerationNotes
      const people = yield* AccountLines
      return NoteList.of({
        show: Effect.fnUntraced(function*(visit, target) {
          const { words: { say }, words } = visit
          const rows = yield* notes.page(target, { limit: notesMax })
          const names = yield* people.load(rows.map(({ accountId }) => accountId))
          return section(
            say("Moderator notes"),
            html`${
              rows.length === 0 ?
                emptyList(say("No notes yet.")) :
                html`<ul class="notes">${
                  rows.map(({ accountId, content, createdAt, id }) =>
                    html`<li>${userText(content)}<div class="row soft">${
                      names.handle(accountId) ?? say("A former moderator")
                    } · ${moment(words, createdAt)} ${
                      actButton(visit, "unnote", say("Delete note"), { fields: { note: String(id) } })
                    }</div></li>`
                  )
                }</ul>`
            }${
              form(
                visit,
                html`${
                  textArea(visit, { name: "content", label: say("Note for other moderators"), rows: 2, max: 2_000 })
                }${button("note", say("Add note"))}`
              )
            }`
          )
        }),
        acts: (type) => ({
          note: {
            run: Effect.fnUntraced(function*(visit) {
              const id = yield* requireId(visit)
              yield* notes.create(visit.by, { type, id }, visit.form.get("content") ?? "")
              return { notice: visit.words.say("The note was added.") }
            })
          },
          unnote: {
            run: Effect.fnUntraced(function*(visit) {
              const id = yield* requireId(visit)
              yield* notes.remove(visit.by, { type, id }, idOf(visit.form.get("note")) ?? 0n)
              return { notice: visit.words.say("The note was deleted.") }
            })
          }
        })
      })
    })
  ).pipe(Layer.provide([ModerationNotes.layer, AccountLines.layer]))
}
