import { Effect, Layer, Option, Schema } from "effect"
import { parseId } from "../../../services/database/Ids.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { ArchiveImport } from "../../../services/transfers/archives/ArchiveImport.ts"
import { type ArchiveProblem, isArchiveProblem } from "../../../services/transfers/archives/ArchiveRefusals.ts"
import { ArchiveRequests } from "../../../services/transfers/archives/ArchiveRequests.ts"
import { isLiveProblem, type LiveProblem } from "../../../services/transfers/live/LiveImport.ts"
import { LiveImports } from "../../../services/transfers/live/LiveImports.ts"
import { bringsPosts, isRunning, type Transfer } from "../../../services/transfers/Transfer.ts"
import { Transfers } from "../../../services/transfers/Transfers.ts"
import { type Html, html } from "../../html/Html.ts"
import { archivesPath } from "../../html/PagePaths.ts"
import { checkBox, form } from "../settings/FormFields.ts"
import * as SettingPages from "../settings/SettingPages.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { stateNames } from "./TransferTexts.ts"

const decodeOptions = Schema.decodeUnknownOption(ArchiveImport)

/** Reasons why an archive is refused. */
const problemTexts = ({ say }: Messages): Readonly<Record<ArchiveProblem, string>> => ({
  unreadable: say("The file is not an archive that this server can read, or it is damaged."),
  ["oversized_post"]: say("The archive has a post that is too large."),
  bomb: say("The archive unpacks to more data than an archive of its size has."),
  ["too_many_files"]: say("The archive has too many files."),
  ["too_many_posts"]: say("The archive has too many posts."),
  ["unsafe_path"]: say("The archive has a file with an unsafe path."),
  ["duplicate_path"]: say("The archive has two files of the same name."),
  empty: say("The archive has no posts."),
  ["foreign_actor"]: say(
    "The archive is of another account. Add that account to your account aliases first, then import the archive again."
  )
})

/** Reasons why an import from another server failed. */
const liveProblemTexts = ({ say }: Messages): Readonly<Record<LiveProblem, string>> => ({
  ["no_account"]: say("The account was not found. Check the address."),
  ["not_supported"]: say("The other server does not let accounts be copied. Import an archive instead."),
  ["no_consent"]: say("The other server refused: the consent was not given, or was withdrawn."),
  silent: say("The other server did not respond for a long time."),
  ["unreadable_source"]: say("The other server sent data that this server cannot read."),
  ["too_many_posts"]: say("The account has too many posts.")
})

const make = Effect.gen(function*() {
  const archives = yield* ArchiveRequests
  const live = yield* LiveImports
  const settingPage = yield* SettingPages.make
  const transfers = yield* Transfers

  const found = Effect.fnUntraced(function*({ params, viewer }: MemberVisit) {
    const id = parseId(params["id"])
    const transfer = id === undefined ? undefined : yield* transfers.find(viewer, id)
    return transfer?.kind === "archive_in" || transfer?.kind === "live_in" || transfer?.kind === "archive_undo"
      ? transfer
      : yield* new RecordNotFound()
  })

  /** Renders what an import would add and leave out, with the buttons that start and cancel it. */
  const planned = (visit: MemberVisit, plan: ArchiveImport["plan"], choices: Html = html``) => {
    const { words } = visit.reader
    const { say } = words
    const left = [
      [plan.known, say("Posts that you have already")],
      [plan.missingFiles, say("Files that the archive lacks")],
      [plan.empty ?? 0, say("Posts of files only, which the archive lacks")],
      [plan.foreign, say("Posts of other accounts")],
      [plan.unreadable, say("Entries that are damaged or have no date")],
      [plan.unsupported, say("Entries that are not posts")]
    ] as const
    const [first, last] = [plan.firstMillis, plan.lastMillis]
    return html`<p>${say("Nothing has changed yet. This is what the import will do:")}</p><ul>
<li>${say("{count, plural, one {# post is added.} other {# posts are added.}}", { count: plan.posts })}</li>
${
      plan.boosts === 0 ? "" : html`<li>${
        say(
          "{count, plural, one {# boost is added, if the boosted post is known here.} other {# boosts are added, if the boosted posts are known here.}}",
          { count: plan.boosts }
        )
      }</li>`
    }${
      plan.files === 0
        ? ""
        : html`<li>${
          say("{count, plural, one {# file is added.} other {# files are added.}}", { count: plan.files })
        }</li>`
    }</ul>${
      first === null || last === null
        ? ""
        : html`<p>${
          say("From {first} to {last}", {
            first: words.moment(new Date(first)),
            last: words.moment(new Date(last))
          })
        }</p>`
    }${
      left.every(([count]) => count === 0) ?
        "" :
        html`<h2>${say("Left out")}</h2><ul>${
          left.flatMap(([count, label]) => count === 0 ? [] : [html`<li>${label}: ${words.figure(count)}</li>`])
        }</ul>`
    }<div class="row">${form(visit, choices, { act: "confirm", button: say("Start import") })}${
      form(visit, html``, { act: "cancel", button: say("Cancel"), plain: true })
    }</div>`
  }

  const progress = (visit: MemberVisit, transfer: Transfer) => {
    const { way, words } = visit.reader
    const { figure, say } = words
    const { added, failed, kind, problem, processed, removed, state, total } = transfer
    const all = Math.max(total, processed, 1)
    return html`<p><progress max="${all}" value="${state === "finished" ? all : processed}" aria-label="${
      say("Progress")
    }"></progress></p><p role="status">${stateNames(words)[state]}. ${
      say("{added} added, {removed} removed", { added: figure(added), removed: figure(removed) })
    }</p>${isArchiveProblem(problem) ? html`<p class="problem" role="alert">${problemTexts(words)[problem]}</p>` : ""}${
      isLiveProblem(problem) ? html`<p class="problem" role="alert">${liveProblemTexts(words)[problem]}</p>` : ""
    }${
      failed === 0 ?
        "" :
        html`<p>${
          say(
            "{count, plural, one {# post was left out: it boosts a post that is not known here, or cannot be stored.} other {# posts were left out: they boost posts that are not known here, or cannot be stored.}}",
            { count: failed }
          )
        }</p>`
    }${
      isRunning(state)
        ? html`<p>${say("You can close this page: the import continues.")} <a href="${way(visit.pathAndQuery)}">${
          say("Show the current state")
        }</a></p>${form(visit, html``, { act: "cancel", button: say("Cancel import"), danger: true })}`
        : bringsPosts(kind) && added > 0
        ? form(visit, html``, { act: "undo", button: say("Delete all imported posts"), danger: true })
        : ""
    }`
  }

  /** Renders a plan, or the way to the other server for its consent. */
  const waiting = Effect.fnUntraced(function*(visit: MemberVisit, transfer: Transfer) {
    if (transfer.kind !== "live_in") {
      const options = Option.getOrUndefined(decodeOptions(transfer.options))
      return options === undefined ? progress(visit, transfer) : planned(visit, options.plan)
    }
    const { say } = visit.reader.words
    const url = yield* live.authorization(transfer)
    if (url !== undefined) {
      return html`<p>${
        say("Sign in at the other server, and allow this server to copy your account. You then return here.")
      }</p>
<p><a class="button" href="${url}" rel="noreferrer">${
        say("Continue at {server}", { server: new URL(url).host })
      }</a></p>${form(visit, html``, { act: "cancel", button: say("Cancel"), plain: true })}`
    }
    const { options } = yield* live.open(transfer)
    const lists = html`${
      options.following === 0 ? "" : checkBox(
        "follows",
        say(
          "{count, plural, one {Follow # account that you follow there} other {Follow # accounts that you follow there}}",
          {
            count: options.following
          }
        ),
        true
      )
    }${
      options.blocked === 0 ? "" : checkBox(
        "blocks",
        say(
          "{count, plural, one {Block # account that you block there} other {Block # accounts that you block there}}",
          {
            count: options.blocked
          }
        ),
        true
      )
    }${
      options.liked === undefined || options.liked === 0 ? "" : checkBox(
        "likes",
        say(
          "{count, plural, one {Favourite # post that you favourited there} other {Favourite # posts that you favourited there}}",
          {
            count: options.liked
          }
        ),
        true
      )
    }`
    return planned(visit, options.plan, lists)
  })

  const show = Effect.fnUntraced(function*(visit: MemberVisit) {
    const { way, words } = visit.reader
    const transfer = yield* found(visit)
    return html`<p><bdi>${transfer.source}</bdi></p>${
      transfer.state === "unconfirmed" ? yield* waiting(visit, transfer) : progress(visit, transfer)
    }<p class="below"><a href="${way(archivesPath)}">${words.say("Archives of posts")}</a></p>`
  })

  return settingPage({
    path: `${archivesPath}/:id`,
    title: ({ say }) => say("Import"),
    show,
    acts: {
      confirm: Effect.fnUntraced(function*(visit, sent) {
        const { id, kind } = yield* found(visit)
        yield* kind === "live_in"
          ? live.confirm(visit.viewer, id, {
            withFollows: sent.has("follows"),
            withBlocks: sent.has("blocks"),
            withLikes: sent.has("likes")
          })
          : archives.confirm(visit.viewer, id)
        return { notice: visit.reader.words.say("The import has started.") }
      }),
      cancel: Effect.fnUntraced(function*(visit) {
        const { id, kind } = yield* found(visit)
        yield* (kind === "live_in" ? live : transfers).cancel(visit.viewer, id)
        return { to: archivesPath, notice: visit.reader.words.say("The import was cancelled.") }
      }),
      undo: Effect.fnUntraced(function*(visit) {
        const { id } = yield* found(visit)
        const undo = yield* archives.undo(visit.viewer, id)
        return {
          to: `${archivesPath}/${undo.id}`,
          notice: visit.reader.words.say("The imported posts are being deleted.")
        }
      })
    }
  })
})

/** An import of an archive: its plan, its progress, and its undoing. */
export const layer = Layer.unwrap(make)
