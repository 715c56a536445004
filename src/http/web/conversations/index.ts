import { Clock, Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { parseId } from "../../../services/database/Ids.ts"
import { RecordNotFound, Unprocessable } from "../../../services/runtime/Errors.ts"
import { Conversations } from "../../../services/statuses/Conversations.ts"
import { type Html, html } from "../../html/Html.ts"
import { ConversationViews } from "../../render/ConversationViews.ts"
import { statusRows } from "../../render/PageSizes.ts"
import type { Conversation } from "../../wire/Conversation.ts"
import { read, type Values } from "../../wire/Keys.ts"
import { actForm } from "../shell/ActForm.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import type { MemberVisit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"
import { excerptOf } from "../status/Excerpt.ts"
import { nameOf, plainName, statusPath } from "../status/StatusText.ts"
import { timeOf } from "../status/Times.ts"

const actPath = (id: string) => `/web/conversations/${id}`

type ShownConversation = Values<Conversation>

/** Renders a conversation: people, last post, and acts. Opening it is a form, because that marks it as read. */
const conversationOf = (visit: MemberVisit, conversation: ShownConversation, now: number): Html => {
  const { way, words, words: { say } } = visit.reader
  const { accounts, id, lastStatus, unread } = conversation
  const names = words.list(accounts.map(plainName))
  const about = html`<span class="unseen"> ${names}</span>`
  return html`<article id="conversation-${id}" class="entry${unread ? " unread" : ""}" aria-label="${
    unread ? say("New: {text}", { text: names }) : names
  }"><div><p class="faces">${
    accounts.slice(0, 4).map(({ avatarStatic }) =>
      html`<img src="${avatarStatic}" alt="" width="40" height="40" loading="lazy">`
    )
  }<strong>${accounts.map((account, at) => html`${at === 0 ? "" : ", "}<bdi>${nameOf(account)}</bdi>`)}</strong>${
    unread ? html` <span class="mark">${say("New")}</span>` : ""
  }</p>${
    lastStatus === null
      ? html`<p class="soft">${say("The last post is not available.")}</p>`
      : html`<p class="quiet">${
        excerptOf(visit, lastStatus)
      }</p><p class="soft when"><bdi>@${lastStatus.account.acct}</bdi> · ${
        timeOf(words, lastStatus.createdAt, now)
      }</p>`
  }</div><div class="tools">${
    lastStatus === null
      ? ""
      : html`<a href="${way(`/publish?reply_to=${lastStatus.id}`)}">${say("Reply")}${about}</a>`
  }${
    actForm(
      visit,
      actPath(id),
      html`${
        lastStatus === null
          ? ""
          : html`<button type="submit" name="act" value="open" class="small">${
            say("Show conversation")
          }${about}</button> `
      }<button type="submit" name="act" value="${unread ? "read" : "unread"}" class="plain small">${
        unread ? say("Mark as read") : say("Mark as unread")
      }${about}</button> <button type="submit" name="act" value="remove" class="danger small">${
        say("Remove")
      }${about}</button>`
    )
  }</div></article>`
}

const make = Effect.gen(function*() {
  const conversations = yield* Conversations
  const pages = yield* WebPages
  const views = yield* ConversationViews

  const list = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const page = pageOf(visit, statusRows)
    const rows = yield* conversations.page(visit.viewer, page)
    const items = yield* views.render(visit.viewer, rows)
    const now = yield* Clock.currentTimeMillis
    return {
      title: say("Private mentions"),
      body: html`${
        items.length === 0
          ? html`<p class="soft empty">${say("No conversations yet. Private mentions appear here.")}</p>`
          : html`<ul class="entries">${
            items.map((item) => html`<li>${conversationOf(visit, read(item), now)}</li>`)
          }</ul>`
      }${pagingLinks(visit, page, rows.map(({ lastStatusId }) => lastStatusId))}`
    }
  }))

  /** Marks a conversation as read, and returns the page of its last post. */
  const open = Effect.fnUntraced(function*({ viewer }: MemberVisit, id: bigint) {
    yield* conversations.mark(viewer, id, false)
    const { lastStatus } = read(yield* views.renderOne(viewer, id))
    return lastStatus === null ? yield* new RecordNotFound() : statusPath(lastStatus)
  })

  const act = pages.act(Effect.fnUntraced(function*(visit, form) {
    const id = parseId(visit.params["id"])
    if (id === undefined) return yield* new RecordNotFound()
    switch (form.get("act")) {
      case "open":
        return { to: yield* open(visit, id) }
      case "read":
      case "unread": {
        yield* conversations.mark(visit.viewer, id, form.get("act") === "unread")
        return { at: `conversation-${id}` }
      }
      case "remove": {
        yield* conversations.remove(visit.viewer, id)
        return { notice: visit.reader.words.say("The conversation is removed from this list. Its posts are kept.") }
      }
      default:
        return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
  }))

  return Layer.merge(
    HttpRouter.add("GET", "/conversations", list),
    HttpRouter.add("POST", "/web/conversations/:id", act)
  )
})

/** Conversations: posts to mentioned people only, by the people in them. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(ConversationViews.layer))
