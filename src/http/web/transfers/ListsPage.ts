import { Effect, Layer, Option, Schema, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Storage } from "../../../services/media/Storage.ts"
import { Uploads } from "../../../services/media/Uploads.ts"
import { BackendFailed, RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import { FileImports } from "../../../services/transfers/FileImports.ts"
import { exportFileNames, type ExportKind, exportKinds, ListExports } from "../../../services/transfers/ListExports.ts"
import { fileBytesMax } from "../../../services/transfers/ListFileText.ts"
import { isOfList, ListKind, listKinds } from "../../../services/transfers/Transfer.ts"
import { Transfers } from "../../../services/transfers/Transfers.ts"
import { type Html, html } from "../../html/Html.ts"
import { redirect } from "../../html/HtmlPage.ts"
import { archivesPath, transfersPath } from "../../html/PagePaths.ts"
import { uploadOf } from "../../html/UploadedFile.ts"
import type { Filled } from "../settings/Filled.ts"
import { checkBox, choice, form } from "../settings/FormFields.ts"
import * as SettingPages from "../settings/SettingPages.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { downloadHeaders } from "./Downloads.ts"
import { kindNames, stateNames } from "./TransferTexts.ts"

/** Returns the last part of the path of a download, as Mastodon's. */
const downloadName = (kind: ExportKind): string => kind === "filters" ? "custom_filters.json" : `${kind}.csv`
/** Kinds by the last part of the path; the ending `.json` is not part of paths here. */
const byDownloadName = new Map(exportKinds.map((kind) => [downloadName(kind).replace(".json", ""), kind]))
/** Imports that the page lists. */
const recentMax = 15
const decodeKind = Schema.decodeUnknownOption(ListKind)

/** Renders a file name that breaks after its underscores. */
const breakable = (name: string): Html => html`${name.split(/(?<=_)/).map((part) => html`${part}<wbr>`)}`

const make = Effect.gen(function*() {
  const exports = yield* ListExports
  const imports = yield* FileImports
  const pages = yield* WebPages
  const settingPage = yield* SettingPages.make
  const storage = yield* Storage
  const transfers = yield* Transfers
  const uploads = yield* Uploads

  const exported = Effect.fnUntraced(function*({ reader: { way, words }, viewer }: MemberVisit) {
    const { say } = words
    const figures = yield* exports.counts(viewer)
    const names = kindNames(words)
    return html`<section><h2>${say("Export")}</h2>
<p class="soft">${say("Files that this server and others can import.")}</p>
<table><thead><tr><th scope="col">${say("Kind")}</th><th scope="col">${say("Entries")}</th><th scope="col">${
      say("File")
    }</th></tr></thead><tbody>${
      exportKinds.map((kind) =>
        html`<tr><td>${names[kind]}</td><td>${words.figure(figures[kind])}</td><td><a href="${
          way(`/settings/exports/${downloadName(kind)}`)
        }" download aria-label="${say("Download {file}", { file: exportFileNames[kind] })}">${
          breakable(exportFileNames[kind])
        }</a></td></tr>`
      )
    }</tbody></table></section>`
  })

  const importForm = (visit: MemberVisit, filled: Filled) => {
    const { words } = visit.reader
    const { say } = words
    const names = kindNames(words)
    return html`<section><h2>${say("Import")}</h2>${
      form(
        visit,
        html`<label>${say("File")}<span class="hint">${
          say(
            "A CSV file of Mastodon, GoToSocial or Akkoma, a JSON file of Pixelfed, or a file of filters. Up to 20 MB and 20,000 lines."
          )
        }</span><input type="file" name="file" accept=".csv,.txt,.json,text/csv,application/json" required></label>${
          choice("kind", say("Kind"), filled.text("kind", ""), [
            ["", say("Detect from the file")],
            ...listKinds.map((kind) => [kind, names[kind]] as const)
          ])
        }${
          choice("mode", say("What you have already"), filled.text("mode", "merge"), [
            ["merge", say("Keep it, and add what the file has")],
            ["overwrite", say("Remove what the file does not have")]
          ])
        }${
          checkBox("follow", say("Follow the accounts of imported lists"), filled.isOn("follow", true))
        }<p class="soft">${say("You see a preview before anything changes.")}</p>`,
        { act: "import", button: say("Preview import"), files: true }
      )
    }</section>`
  }

  const recent = Effect.fnUntraced(function*({ reader: { way, words }, viewer }: MemberVisit) {
    const { say } = words
    const all = (yield* transfers.list(viewer)).filter(isOfList).slice(0, recentMax)
    if (all.length === 0) return html``
    const [names, states] = [kindNames(words), stateNames(words)]
    return html`<section><h2>${say("Recent imports")}</h2><ul class="apps">${
      all.map(({ createdAt, failed, id, kind, processed, source, state, total }) =>
        html`<li><a href="${way(`${transfersPath}/${id}`)}">${names[kind]}</a> <bdi>${source}</bdi>
<p class="soft">${states[state]} · ${words.moment(createdAt)} · ${
          say("{processed} of {total} lines, {failed} failed", {
            processed: words.figure(processed),
            total: words.figure(total),
            failed: words.figure(failed)
          })
        }</p></li>`
      )
    }</ul></section>`
  })

  const show = Effect.fnUntraced(function*(visit: MemberVisit, filled: Filled) {
    return html`${yield* exported(visit)}<p class="below"><a href="${visit.reader.way(archivesPath)}">${
      visit.reader.words.say("Archives of posts")
    }</a></p>${importForm(visit, filled)}${yield* recent(visit)}`
  })

  /** Reads an uploaded file, whose size is bounded. */
  const bytesOf = (name: string, bytes: number) =>
    storage.read(name, { offset: 0, length: bytes }).pipe(
      Stream.runFold(() => new Array<Uint8Array>(), (chunks, chunk) => {
        chunks.push(chunk)
        return chunks
      }),
      Effect.map((chunks) => new Uint8Array(Buffer.concat(chunks))),
      Effect.mapError(() => new BackendFailed({}))
    )

  const begin = Effect.fnUntraced(function*({ reader: { words }, viewer }: MemberVisit, sent: URLSearchParams) {
    const given = yield* uploadOf("file")
    const upload = given === undefined ? undefined : uploads.find(given.ticket)
    if (given === undefined || upload === undefined || upload.bytes === 0) {
      return yield* validationFailed("File can't be blank")
    }
    const transfer = yield* imports.begin(viewer, {
      bytes: yield* bytesOf(upload.name, Math.min(upload.bytes, fileBytesMax)),
      fileName: given.fileName,
      kind: Option.getOrUndefined(decodeKind(sent.get("kind"))),
      overwrite: sent.get("mode") === "overwrite",
      follow: sent.has("follow")
    })
    return { to: `${transfersPath}/${transfer.id}`, notice: words.say("Check the preview, then start the import.") }
  })

  const download = pages.member(Effect.fnUntraced(function*({ params, viewer }) {
    const kind = byDownloadName.get(params["name"] ?? "")
    if (kind === undefined) return yield* new RecordNotFound()
    return HttpServerResponse.stream(
      Stream.encodeText(Stream.orDie(exports.file(viewer, kind))),
      downloadHeaders(exportFileNames[kind])
    )
  }))

  return Layer.mergeAll(
    settingPage({
      path: transfersPath,
      title: ({ say }) => say("Import and export"),
      show,
      acts: { import: begin }
    }),
    HttpRouter.add("GET", "/settings/exports/:name", download),
    // Mastodon's addresses.
    HttpRouter.add("GET", "/settings/export", redirect(transfersPath)),
    HttpRouter.add("GET", "/settings/imports/new", redirect(transfersPath))
  )
})

/** Export of a member's lists, and the form that imports them. */
export const layer = Layer.unwrap(make)
