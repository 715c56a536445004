import { hidden, tokenInput } from "../../html/Forms.ts"
import { type Html, html } from "../../html/Html.ts"
import { icon, type IconName } from "../shell/Icons.ts"
import type { Visit } from "../shell/Visit.ts"
import { moreMenu, reactionsOf } from "./MoreMenu.ts"
import { statusActPath } from "./StatusPoll.ts"
import { type ShownStatus, statusPath } from "./StatusText.ts"

interface Button {
  readonly act: string
  readonly icon: IconName
  readonly label: string
  readonly count?: number
  readonly isOn?: boolean
}

const figureOf = ({ reader: { words: { figure } } }: Visit, count: number | undefined): Html | "" =>
  count === undefined || count === 0 ? "" : html`<span class="count" aria-hidden="true">${figure(count)}</span>`

const button = (visit: Visit, { act, count, icon: name, isOn, label }: Button): Html =>
  html`<button type="submit" name="act" value="${act}" class="act${isOn === true ? " on" : ""}"${
    isOn === undefined ? "" : html` aria-pressed="${isOn ? "true" : "false"}"`
  } title="${label}">${icon(name)}<span class="unseen">${label}</span>${figureOf(visit, count)}</button>`

/** Renders a link of the row, which leads to the composer. */
const link = (visit: Visit, path: string, name: IconName, label: string, count?: number): Html =>
  html`<a class="act" href="${visit.reader.way(path)}" title="${label}">${
    icon(name)
  }<span class="unseen">${label}</span>${figureOf(visit, count)}</a>`

/**
 * Renders what a member can do with a status, as one form; visitors see counts. `shown` is the id of the article, which
 * is a boost's or the status's.
 */
export const actsRow = (visit: Visit, status: ShownStatus, shown: string): Html => {
  const { formToken, pathAndQuery, reader: { way, words: { say } }, viewer } = visit
  const { favouritesCount, id, reblogsCount, repliesCount, visibility } = status
  const replies = say("{count, plural, one {# reply} other {# replies}}", { count: repliesCount })
  const boosts = say("{count, plural, one {# boost} other {# boosts}}", { count: reblogsCount })
  const favourites = say("{count, plural, one {# favourite} other {# favourites}}", { count: favouritesCount })
  if (viewer === undefined) {
    return html`<p class="acts"><a href="${way(statusPath(status))}">${icon("reply")}${replies}</a>
<span>${icon("boost")}${boosts}</span>
<span>${icon("star")}${favourites}</span>${reactionsOf(visit, status)}</p>`
  }
  const mayBoost = visibility === "public" || visibility === "unlisted" ||
    visibility === "private" && status.account.id === String(viewer)
  const [isFavourite, isBoosted, isBookmarked] = [
    status.favourited === true,
    status.reblogged === true,
    status.bookmarked === true
  ]
  return html`<form method="post" action="${statusActPath(id)}" class="acts">${tokenInput(formToken)}${
    hidden("return", pathAndQuery)
  }${shown === id ? "" : hidden("shown", shown)}${reactionsOf(visit, status)}${
    link(
      visit,
      `/publish?reply_to=${id}`,
      "reply",
      say("Reply, {count, number}", { count: repliesCount }),
      repliesCount
    )
  }${
    mayBoost
      ? button(visit, {
        act: isBoosted ? "unreblog" : "reblog",
        icon: "boost",
        label: isBoosted
          ? say("Undo boost, {count, number}", { count: reblogsCount })
          : say("Boost, {count, number}", { count: reblogsCount }),
        count: reblogsCount,
        isOn: isBoosted
      })
      : ""
  }${mayBoost ? link(visit, `/publish?quote=${id}`, "quote", say("Quote")) : ""}${
    button(visit, {
      act: isFavourite ? "unfavourite" : "favourite",
      icon: "star",
      label: isFavourite
        ? say("Remove from favourites, {count, number}", { count: favouritesCount })
        : say("Favourite, {count, number}", { count: favouritesCount }),
      count: favouritesCount,
      isOn: isFavourite
    })
  }${
    button(visit, {
      act: isBookmarked ? "unbookmark" : "bookmark",
      icon: "bookmark",
      label: isBookmarked ? say("Remove bookmark") : say("Bookmark"),
      isOn: isBookmarked
    })
  }${moreMenu(visit, status)}</form>`
}
