import { type Html, html } from "../../html/Html.ts"
import { icon, type IconName } from "../shell/Icons.ts"
import type { Visit } from "../shell/Visit.ts"
import { statusActPath } from "./StatusPoll.ts"
import type { ShownStatus } from "./StatusText.ts"

/** Emoji that the menu offers at once; others are typed on a page. */
const quickEmojis = ["👍", "❤️", "😂", "🎉", "😮", "😢"] as const

type Reaction = NonNullable<ShownStatus["emojiReactions"]>[number]

const pictureOf = ({ name, staticUrl }: Reaction): Html =>
  staticUrl === null ? html`${name}` : html`<img class="emoji" src="${staticUrl}" alt=":${name}:" loading="lazy">`

/** Renders a status's emoji reactions: buttons that add or remove one's own for members, figures for visitors. */
export const reactionsOf = ({ reader: { words: { figure, say } }, viewer }: Visit, status: ShownStatus): Html => {
  const reactions = status.emojiReactions ?? []
  if (reactions.length === 0) return html``
  return html`<span class="reactions">${
    reactions.map((reaction) => {
      const { count, me, name } = reaction
      const shown = html`${pictureOf(reaction)} <span class="count">${figure(count)}</span>`
      if (viewer === undefined) return html`<span class="reaction">${shown}</span>`
      const label = me
        ? say("Remove your reaction {emoji}", { emoji: name })
        : say("React with {emoji}", { emoji: name })
      return html`<button type="submit" name="act" value="${me ? "unreact" : "react"}:${name}" class="reaction${
        me ? " on" : ""
      }" aria-pressed="${me ? "true" : "false"}" title="${label}">${shown}</button>`
    })
  }</span>`
}

/**
 * Renders the further acts on a status as a menu inside of its form: buttons for acts that need no input, links to
 * pages for the others. A script opens such a page as a dialog (`data-dialog`).
 */
export const moreMenu = (visit: Visit, status: ShownStatus): Html => {
  const { reader: { way, words: { say, tag } }, viewer } = visit
  const { account, id, language, visibility } = status
  const isOwn = account.id === String(viewer)
  const name = { account: `@${account.acct}` }
  const act = (act: string, of: IconName, label: string) =>
    html`<li><button type="submit" name="act" value="${act}" class="item">${icon(of)}${label}</button></li>`
  const page = (path: string, of: IconName, label: string, key?: string) =>
    html`<li><a class="item" href="${way(path)}" data-dialog${key === undefined ? "" : html` data-key="${key}"`}>${
      icon(of)
    }${label}</a></li>`
  const onStatus = (last: string) => `${statusActPath(id)}/${last}`
  const onAccount = (last: string) => `/web/accounts/${account.id}/${last}?status=${id}`
  const isForeign = language !== null && language.split("-")[0] !== tag.split("-")[0]
  const given = new Set((status.emojiReactions ?? []).map(({ name }) => name))
  return html`<details class="more"><summary class="act" title="${say("More")}">${icon("more")}<span class="unseen">${
    say("More")
  }</span></summary><ul><li class="quick">${
    quickEmojis.filter((emoji) => !given.has(emoji)).map((emoji) =>
      html`<button type="submit" name="act" value="react:${emoji}" title="${
        say("React with {emoji}", { emoji })
      }">${emoji}</button>`
    )
  }</li>${page(onStatus("react"), "smile", say("Other reaction"))}${
    visit.translates && isForeign && (visibility === "public" || visibility === "unlisted")
      ? page(onStatus("translation"), "globe", say("Translate"), "t")
      : ""
  }${
    status.muted === true
      ? act("unmute", "bell", say("Unmute conversation"))
      : act("mute", "mute", say("Mute conversation"))
  }${
    isOwn && status.pinned !== undefined
      ? status.pinned
        ? act("unpin", "pin", say("Unpin from profile"))
        : act("pin", "pin", say("Pin to profile"))
      : ""
  }${
    isOwn
      ? html`<li><a class="item" href="${way(`/publish?edit=${id}`)}">${icon("pen")}${say("Edit")}</a></li>${
        page(onStatus("delete"), "bin", say("Delete"))
      }`
      : html`<li><a class="item" href="${
        way(`/publish?text=${encodeURIComponent(`@${account.acct} `)}`)
      }" data-key="m">${icon("at")}${say("Mention {account}", name)}</a></li>${
        page(onAccount("mute"), "mute", say("Mute {account}", name))
      }${page(onAccount("block"), "block", say("Block {account}", name))}${
        page(onAccount("report"), "flag", say("Report {account}", name))
      }`
  }${
    status.url === null || isOwn || !account.acct.includes("@")
      ? ""
      : html`<li><a class="item" href="${status.url}" rel="noopener noreferrer">${icon("open")}${
        say("Open the original page")
      }</a></li>`
  }</ul></details>`
}
