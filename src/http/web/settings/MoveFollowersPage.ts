import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { type AccountId, parseId } from "../../../services/database/Ids.ts"
import type { Messages } from "../../../services/languages/Messages.ts"
import {
  type FollowerSelection,
  MoveFollowers,
  type MoveOverview,
  recordedFollowersMax
} from "../../../services/social/MoveFollowers.ts"
import { type Html, html } from "../../html/Html.ts"
import { movePath } from "../../html/PagePaths.ts"
import type { PageReader } from "../../html/Visitors.ts"
import { accountRows } from "../../render/PageSizes.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import { profilePath } from "../status/StatusText.ts"
import { downloadHeaders } from "../transfers/Downloads.ts"
import * as SettingsFrame from "./SettingsFrame.ts"

const listPath = `${movePath}/followers` as const
const downloadPath = `${movePath}/download` as const

const titleOf = ({ say }: Messages, came: boolean): string =>
  came ? say("Followers who came") : say("Followers who did not come")

const selectionOf = (given: URLSearchParams, viewer: AccountId): FollowerSelection => ({
  from: parseId(given.get("from")) ?? viewer,
  came: given.get("came") !== "false"
})
const queryOf = ({ came, from }: FollowerSelection) => new URLSearchParams({ from: String(from), came: String(came) })
const fileOf = ({ came }: FollowerSelection) => came ? "followers_who_came.csv" : "followers_who_did_not_come.csv"

const downloadLink = ({ way, words: { say } }: PageReader, selection: FollowerSelection): Html => {
  const file = fileOf(selection)
  return html`<a href="${way(`${downloadPath}?${queryOf(selection)}`)}" download>${
    say("Download {file}", { file })
  }</a>`
}

/** Renders a move with its numbers: the reader's own, or one to the reader's account. */
export const sectionOf = (reader: PageReader, move: MoveOverview): Html => {
  const { accountId: from, came, cut, movedAt, other, own, stayed, targetUri } = move
  const { way, words } = reader
  const { say } = words
  const account = other === null ? targetUri : `@${other}`
  const line = (selection: FollowerSelection, count: number) =>
    html`<li><a href="${way(`${listPath}?${queryOf(selection)}`)}">${titleOf(words, selection.came)}</a>: ${
      words.figure(count)
    }</li>`
  return html`<section class="below"><h2>${
    own ? say("Move to {account}", { account }) : say("Move from {account}", { account })
  }</h2><p class="soft">${words.moment(movedAt)}</p>${
    came === null || stayed === null
      ? html`<p>${say("The followers of this move are not listed yet, or it is older than these lists.")}</p>`
      : html`<ul>${line({ from, came: true }, came)}${
        own ? line({ from, came: false }, stayed) : html`<li>${titleOf(words, false)}: ${words.figure(stayed)}</li>`
      }</ul>`
  }${
    cut
      ? html`<p class="soft">${
        say("Only the first {count} followers are listed.", { count: words.figure(recordedFollowersMax) })
      }</p>`
      : ""
  }${
    own && (other === null || other.includes("@"))
      ? html`<p class="soft">${
        say("Followers on other servers count as having come once they no longer follow this account.")
      }</p>`
      : ""
  }</section>`
}

const make = Effect.gen(function*() {
  const moveFollowers = yield* MoveFollowers
  const frame = yield* SettingsFrame.make(movePath)

  const show = frame.show(Effect.fnUntraced(function*(member, query) {
    const { session, way, words } = member
    const selection = selectionOf(query, session.accountId)
    const page = pageOf({ query }, accountRows)
    const rows = yield* moveFollowers.page(session.accountId, selection, page)
    return yield* frame.page(member, {
      title: titleOf(words, selection.came),
      body: html`${
        rows.length === 0
          ? html`<p class="soft empty">${words.say("Nobody here yet.")}</p>`
          : html`<ul class="apps">${
            rows.map(({ acct, displayName }) =>
              html`<li><a href="${way(profilePath(acct))}">${
                displayName === "" ? "" : html`<strong dir="auto">${displayName}</strong> `
              }<bdi>@${acct}</bdi></a></li>`
            )
          }</ul>`
      }${pagingLinks({ reader: member, path: listPath, query }, page, rows.map(({ cursor }) => cursor))}<p>${
        downloadLink(member, selection)
      }</p><p><a href="${way(movePath)}">${words.say("Move account")}</a></p>`
    })
  }))

  const download = frame.show((member, query) => {
    const viewer = member.session.accountId
    const selection = selectionOf(query, viewer)
    return Effect.succeed(HttpServerResponse.stream(
      Stream.encodeText(moveFollowers.csv(viewer, selection)),
      downloadHeaders(fileOf(selection))
    ))
  })

  return Layer.mergeAll(HttpRouter.add("GET", listPath, show), HttpRouter.add("GET", downloadPath, download))
})

/** Followers of a member's move, as lists and as CSV files. A member who moved may read them. */
export const layer = Layer.unwrap(make)
