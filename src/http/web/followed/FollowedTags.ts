import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import { AccountActors } from "../../../actors/account/core/AccountActors.ts"
import { Unprocessable } from "../../../services/runtime/Errors.ts"
import { TagFollows } from "../../../services/statuses/TagFollows.ts"
import { Tags } from "../../../services/statuses/Tags.ts"
import { hidden } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { followedTagRows } from "../../render/PageSizes.ts"
import { TagViews } from "../../render/TagViews.ts"
import { read, type Values } from "../../wire/Keys.ts"
import type { Tag } from "../../wire/Tag.ts"
import { actForm } from "../shell/ActForm.ts"
import { pageOf, pagingLinks } from "../shell/CursorPaging.ts"
import type { Visit } from "../shell/Visit.ts"
import { WebPages } from "../shell/WebPages.ts"

/** Path of the acts on hashtags: `tag` is the name. */
const actPath = "/web/tags"

/** Renders the button that follows or unfollows a hashtag; empty for visitors. */
export const tagFollowForm = (visit: Visit, { following, name }: Values<Tag>): Html => {
  const { say } = visit.reader.words
  return visit.viewer === undefined ? html`` : actForm(
    visit,
    actPath,
    html`${hidden("tag", name)}<button type="submit" name="act" value="${
      following === true ? "unfollow" : "follow"
    }" class="plain small">${
      following === true ? say("Unfollow") : say("Follow")
    }<span class="unseen"> #${name}</span></button>`
  )
}

/** Renders a hashtag in a list, with the number of people who used it in the last two days. */
export const tagEntry = (visit: Visit, tag: Values<Tag>): Html => {
  const { way, words: { say } } = visit.reader
  const count = tag.history.slice(0, 2).reduce((sum, { accounts }) => sum + Number(accounts), 0)
  return html`<li class="entry"><a href="${
    way(`/tags/${encodeURIComponent(tag.name)}`)
  }"><strong><bdi>#${tag.name}</bdi></strong>${
    count === 0 ?
      "" :
      html` <span class="soft">${
        say("{count, plural, one {# person} other {# people}} in the past two days", { count })
      }</span>`
  }</a>${tagFollowForm(visit, tag)}</li>`
}

const make = Effect.gen(function*() {
  const actors = yield* AccountActors
  const follows = yield* TagFollows
  const pages = yield* WebPages
  const tags = yield* Tags
  const views = yield* TagViews

  const list = pages.member(Effect.fnUntraced(function*(visit) {
    const { words: { say } } = visit.reader
    const page = pageOf(visit, followedTagRows)
    const rows = yield* follows.page(visit.viewer, page)
    const items = yield* views.render(visit.viewer, rows.map(({ tagId }) => tagId))
    return {
      title: say("Followed hashtags"),
      body: html`${
        actForm(
          visit,
          actPath,
          html`<label>${
            say("Hashtag")
          }<input name="tag" required maxlength="200" autocapitalize="none"></label><button type="submit" name="act" value="follow">${
            say("Follow")
          }</button>`,
          "bar-form"
        )
      }${
        items.length === 0
          ? html`<p class="soft empty">${say("You do not follow any hashtags yet.")}</p>`
          : html`<ul class="entries">${items.map((item) => tagEntry(visit, read(item)))}</ul>`
      }${pagingLinks(visit, page, rows.map(({ cursor }) => cursor))}`
    }
  }))

  const act = pages.act(Effect.fnUntraced(function*(visit, form) {
    const name = (form.get("tag") ?? "").trim().replace(/^[#＃]/, "")
    const asked = form.get("act")
    if (asked !== "follow" && asked !== "unfollow") {
      return yield* new Unprocessable({ text: "Validation failed: Action is not included in the list" })
    }
    // An invalid hashtag is refused as not found before anything is written.
    yield* tags.find(name)
    yield* actors.tell(visit.viewer, { _tag: asked === "follow" ? "FollowTag" : "UnfollowTag", name })
    return {}
  }))

  return Layer.merge(HttpRouter.add("GET", "/followed_tags", list), HttpRouter.add("POST", actPath, act))
})

/** Hashtags that the member follows, and the act of following one. */
export const layer = Layer.unwrap(make).pipe(Layer.provide(TagViews.layer))
