import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { Uploads } from "../../../services/media/Uploads.ts"
import { RecordNotFound, validationFailed } from "../../../services/runtime/Errors.ts"
import { ArchiveParts } from "../../../services/transfers/archives/ArchiveParts.ts"
import { ArchiveRequests } from "../../../services/transfers/archives/ArchiveRequests.ts"
import { nameCharactersMax } from "../../../services/transfers/ImportLine.ts"
import { liveCallbackPath, LiveImports } from "../../../services/transfers/live/LiveImports.ts"
import type { Transfer } from "../../../services/transfers/Transfer.ts"
import { Transfers } from "../../../services/transfers/Transfers.ts"
import { respond } from "../../files/FileResponse.ts"
import { html } from "../../html/Html.ts"
import { redirect } from "../../html/HtmlPage.ts"
import { archivesPath, transfersPath } from "../../html/PagePaths.ts"
import { uploadOf } from "../../html/UploadedFile.ts"
import { form, textField } from "../settings/FormFields.ts"
import * as SettingPages from "../settings/SettingPages.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { downloadHeaders } from "./Downloads.ts"
import { stateNames } from "./TransferTexts.ts"

const make = Effect.gen(function*() {
  const archives = yield* ArchiveRequests
  const live = yield* LiveImports
  const pages = yield* WebPages
  const parts = yield* ArchiveParts
  const settingPage = yield* SettingPages.make
  const transfers = yield* Transfers
  const uploads = yield* Uploads

  const written = (visit: MemberVisit, all: ReadonlyArray<Transfer>, weekly: boolean) => {
    const { way, words } = visit.reader
    const { say } = words
    const states = stateNames(words)
    return html`<section><h2>${say("Your archive")}</h2>
<p class="soft">${
      say("A zip with all your posts, pictures and videos, your favourites and bookmarks. Other servers can import it.")
    }</p>${
      all.length === 0
        ? ""
        : html`<ul class="apps">${
          all.map(({ createdAt, id, processed, state }) =>
            html`<li>${
              state === "finished"
                ? html`<a href="${way(`${archivesPath}/${id}/download`)}" download>${say("Download archive")}</a>`
                : states[state]
            }<p class="soft">${words.moment(createdAt)} · ${
              say("{count, plural, one {# entry} other {# entries}}", { count: processed })
            }</p></li>`
          )
        }</ul>`
    }${form(visit, html``, { act: "request", button: say("Request archive") })}${
      form(visit, html``, {
        act: weekly ? "stop" : "weekly",
        button: weekly ? say("Stop weekly archives") : say("Write an archive every week"),
        plain: true
      })
    }<p class="soft">${say("An archive can be downloaded for seven days.")}</p></section>`
  }

  const importedList = (visit: MemberVisit, all: ReadonlyArray<Transfer>) => {
    const { way, words } = visit.reader
    const { say } = words
    const states = stateNames(words)
    return html`<section><h2>${say("Import old posts")}</h2><p>${
      say(
        "Posts from an archive of another account of yours appear on your profile with their original dates. Nobody is notified, and they are not sent to other servers."
      )
    }</p>${
      form(
        visit,
        html`<label>${say("Archive")}<span class="hint">${
          say(
            "A zip or tar.gz of Mastodon or of this server, an outbox file in JSON, or the statuses file of Pixelfed. First add the other account to your account aliases."
          )
        }</span><input type="file" name="file" accept=".zip,.gz,.tgz,.json" required></label>`,
        { act: "import", button: say("Preview import"), files: true }
      )
    }${
      all.length === 0
        ? ""
        : html`<ul class="apps">${
          all.map(({ createdAt, id, kind, source, state }) =>
            html`<li><a href="${way(`${archivesPath}/${id}`)}">${
              kind === "archive_undo" ? say("Deletion of imported posts") : say("Import")
            }</a> <bdi>${source}</bdi><p class="soft">${states[state]} · ${words.moment(createdAt)}</p></li>`
          )
        }</ul>`
    }</section>`
  }

  const fromServer = (visit: MemberVisit) => {
    const { say } = visit.reader.words
    return html`<section><h2>${say("Bring posts from another server")}</h2><p>${
      say(
        "Copies your posts, and whom you follow and block, directly from your old account. Its server asks you for consent. Your followers come when you move the account."
      )
    }</p>${
      form(
        visit,
        textField("address", say("Address of the old account"), "", {
          hint: say("A handle such as name@example.com, or the URL of the actor"),
          max: nameCharactersMax,
          required: true
        }),
        { act: "live", button: say("Continue") }
      )
    }</section>`
  }

  /** Takes the response of the other server, to which the member gave consent or not. */
  const consented = pages.member(Effect.fnUntraced(function*(visit) {
    const { id } = yield* live.authorized(visit.viewer, visit.query)
    return HttpServerResponse.setHeader(
      redirect(visit.reader.way(`${archivesPath}/${id}`)),
      "referrer-policy",
      "no-referrer"
    )
  }))

  const show = Effect.fnUntraced(function*(visit: MemberVisit) {
    const all = yield* transfers.list(visit.viewer)
    const of = (...kinds: ReadonlyArray<string>) => all.filter(({ kind }) => kinds.includes(kind))
    return html`${written(visit, of("archive_out"), yield* archives.weekly(visit.viewer))}${
      importedList(visit, of("archive_in", "live_in", "archive_undo"))
    }${fromServer(visit)}<p class="below"><a href="${visit.reader.way(transfersPath)}">${
      visit.reader.words.say("Import and export")
    }</a></p>`
  })

  const begin = Effect.fnUntraced(function*({ reader: { words }, viewer }: MemberVisit) {
    const given = yield* uploadOf("file")
    const upload = given === undefined ? undefined : uploads.find(given.ticket)
    if (given === undefined || upload === undefined || upload.bytes === 0) {
      return yield* validationFailed("File can't be blank")
    }
    const { id } = yield* archives.read(viewer, upload, given.fileName)
    return { to: `${archivesPath}/${id}`, notice: words.say("The archive is being read.") }
  })

  const download = pages.member(Effect.fnUntraced(function*({ params, viewer }) {
    const id = parseId(params["id"])
    if (id === undefined) return yield* new RecordNotFound()
    const { createdAt, username } = yield* archives.download(viewer, id)
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const name = `archive-${username}-${createdAt.toISOString().slice(0, 10)}.zip`
    return respond(headers, {
      ...downloadHeaders(name),
      size: yield* Effect.orDie(parts.size(id)),
      tag: String(id),
      read: (range) => parts.read(id, range)
    })
  }))

  return Layer.mergeAll(
    settingPage({
      path: archivesPath,
      title: ({ say }) => say("Archives of posts"),
      show,
      acts: {
        import: begin,
        live: Effect.fnUntraced(function*({ reader: { words }, viewer }, sent) {
          const { id } = yield* live.begin(viewer, sent.get("address") ?? "")
          return { to: `${archivesPath}/${id}`, notice: words.say("The other server is being asked.") }
        }),
        request: Effect.fnUntraced(function*({ reader: { words }, viewer }) {
          yield* archives.request(viewer)
          return { notice: words.say("The archive is being written.") }
        }),
        weekly: ({ viewer }) => Effect.asVoid(archives.setWeekly(viewer, true)),
        stop: ({ viewer }) => Effect.asVoid(archives.setWeekly(viewer, false))
      }
    }),
    HttpRouter.add("GET", `${archivesPath}/:id/download`, download),
    HttpRouter.add("GET", liveCallbackPath, consented)
  )
})

/** A member's archives: writing, downloading, and importing those of other accounts. */
export const layer = Layer.unwrap(make)
