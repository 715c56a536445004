import { Effect, Layer, Option, Schema, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { failureFile } from "../../../services/transfers/FailureFiles.ts"
import { FileImports, type ImportPlan } from "../../../services/transfers/FileImports.ts"
import type { FailedLine } from "../../../services/transfers/ImportLine.ts"
import { ImportLines } from "../../../services/transfers/ImportLines.ts"
import { ExportKind } from "../../../services/transfers/ListExports.ts"
import { isOfList, isRunning, type Transfer } from "../../../services/transfers/Transfer.ts"
import { Transfers } from "../../../services/transfers/Transfers.ts"
import { type Html, html } from "../../html/Html.ts"
import { transfersPath } from "../../html/PagePaths.ts"
import { form } from "../settings/FormFields.ts"
import * as SettingPages from "../settings/SettingPages.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { downloadHeaders } from "./Downloads.ts"
import { kindNames, reasonTexts, stateNames } from "./TransferTexts.ts"

/** Failed lines that the page shows; the file has all. */
const failuresShown = 20
const decodeKind = Schema.decodeUnknownOption(ExportKind)

/** Renders some of the names of a plan, below a heading. */
const nameList = (title: string, names: ReadonlyArray<string>): Html | "" =>
  names.length === 0 ? "" : html`<h2>${title}</h2><ul>${names.map((name) => html`<li><bdi>${name}</bdi></li>`)}</ul>`

const failureList = (words: Messages, failures: ReadonlyArray<FailedLine>): Html | "" => {
  const texts = reasonTexts(words)
  return failures.length === 0
    ? ""
    : html`<h2>${words.say("Cannot be imported")}</h2><ul>${
      failures.map(({ name, reason }) => html`<li><bdi>${name}</bdi>: ${texts[reason]}</li>`)
    }</ul>`
}

const make = Effect.gen(function*() {
  const imports = yield* FileImports
  const lines = yield* ImportLines
  const pages = yield* WebPages
  const settingPage = yield* SettingPages.make
  const transfers = yield* Transfers

  const found = Effect.fnUntraced(function*({ params, viewer }: MemberVisit) {
    const id = parseId(params["id"])
    const transfer = id === undefined ? undefined : yield* transfers.find(viewer, id)
    return transfer !== undefined && isOfList(transfer) ? transfer : yield* new RecordNotFound()
  })

  /** Renders what an unconfirmed import would do, with the buttons that start and cancel it. */
  const planned = (visit: MemberVisit, plan: ImportPlan) => {
    const { words } = visit.reader
    const { say } = words
    const likelyKind = Option.getOrUndefined(decodeKind(plan.options.seems))
    const nothing = plan.added === 0 && (plan.removed === 0 || !plan.options.overwrite)
    return html`${
      likelyKind === undefined ?
        "" :
        html`<p class="problem" role="alert">${
          say("This file looks like another kind: {kind}. Check that you chose the right one.", {
            kind: kindNames(words)[likelyKind]
          })
        }</p>`
    }<p>${say("Nothing has changed yet. This is what the import will do:")}</p><ul>
<li>${say("{count, plural, one {# entry is added.} other {# entries are added.}}", { count: plan.added })} ${
      plan.unknown === 0
        ? ""
        : say(
          "{count, plural, one {# of them must be looked up at another server first.} other {# of them must be looked up at other servers first.}}",
          { count: plan.unknown }
        )
    }</li>
<li>${
      say("{count, plural, one {# entry exists already.} other {# entries exist already.}}", { count: plan.present })
    }</li>${
      plan.options.overwrite
        ? html`<li>${
          say("{count, plural, one {# entry is removed.} other {# entries are removed.}}", { count: plan.removed })
        }</li>`
        : ""
    }<li>${
      say("{count, plural, one {# line cannot be imported.} other {# lines cannot be imported.}}", {
        count: plan.failed
      })
    }</li></ul>${nothing ? html`<p>${say("Nothing to do.")}</p>` : ""}<div class="row">${
      form(visit, html``, { act: "confirm", button: say("Start import"), danger: plan.options.overwrite })
    }${form(visit, html``, { act: "cancel", button: say("Cancel"), plain: true })}</div>${
      nameList(say("First entries that are added"), plan.addedNames)
    }${plan.options.overwrite ? nameList(say("First entries that are removed"), plan.removedNames) : ""}${
      failureList(words, plan.failures)
    }`
  }

  const progress = Effect.fnUntraced(function*(visit: MemberVisit, transfer: Transfer) {
    const { way, words } = visit.reader
    const { figure, say } = words
    const { added, failed, id, processed, removed, state, total } = transfer
    return html`<p><progress max="${Math.max(total, 1)}" value="${
      state === "finished" ? Math.max(total, 1) : processed
    }" aria-label="${say("Progress")}"></progress></p>
<p role="status">${stateNames(words)[state]}. ${
      say("{processed} of {total} lines, {failed} failed", {
        processed: figure(processed),
        total: figure(total),
        failed: figure(failed)
      })
    } · ${say("{added} added, {removed} removed", { added: figure(added), removed: figure(removed) })}</p>${
      isRunning(state)
        ? html`<p>${say("You can close this page: the import continues.")} <a href="${way(visit.pathAndQuery)}">${
          say("Show the current state")
        }</a></p>${form(visit, html``, { act: "cancel", button: say("Cancel import"), danger: true })}`
        : ""
    }${failureList(words, yield* Effect.orDie(lines.failures(id, -1, failuresShown)))}${
      failed === 0 ?
        "" :
        html`<p><a href="${way(`${transfersPath}/${id}/failures.csv`)}" download>${
          say("Download all lines that failed")
        }</a></p>`
    }`
  })

  const show = Effect.fnUntraced(function*(visit: MemberVisit) {
    const { way, words } = visit.reader
    const transfer = yield* found(visit)
    const plan = yield* imports.plan(transfer)
    return html`<p><strong>${kindNames(words)[transfer.kind]}</strong> <bdi>${transfer.source}</bdi></p>${
      plan === undefined ? yield* progress(visit, transfer) : planned(visit, plan)
    }<p class="below"><a href="${way(transfersPath)}">${words.say("Import and export")}</a></p>`
  })

  const failures = pages.member(Effect.fnUntraced(function*(visit) {
    const transfer = yield* found(visit)
    return HttpServerResponse.stream(
      Stream.encodeText(Stream.orDie(failureFile(lines, transfer))),
      downloadHeaders(`${transfer.kind}_failures.csv`)
    )
  }))

  return Layer.mergeAll(
    settingPage({
      path: `${transfersPath}/:id`,
      title: ({ say }) => say("Import"),
      show,
      acts: {
        confirm: Effect.fnUntraced(function*(visit) {
          const { id } = yield* found(visit)
          const { state } = yield* transfers.confirm(visit.viewer, id)
          const { say } = visit.reader.words
          return { notice: isRunning(state) ? say("The import has started.") : stateNames(visit.reader.words)[state] }
        }),
        cancel: Effect.fnUntraced(function*(visit) {
          const { id } = yield* found(visit)
          yield* transfers.cancel(visit.viewer, id)
          return { to: transfersPath, notice: visit.reader.words.say("The import was cancelled.") }
        })
      }
    }),
    HttpRouter.add("GET", `${transfersPath}/:id/failures.csv`, failures)
  )
})

/** An import of a member's lists: its plan, its progress and its failures. */
export const layer = Layer.unwrap(make)
